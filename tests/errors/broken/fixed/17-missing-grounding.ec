initially(light(Lamp)=off).

initiatedAt(light(Lamp)=on, T) :-
    happensAt(switch_on(Lamp), T).
initiatedAt(light(Lamp)=off, T) :-
    happensAt(switch_off(Lamp), T).

grounding(light(Lamp)=off) :- lamp(Lamp).
grounding(light(Lamp)=on) :- lamp(Lamp).
lamp(kitchen).
lamp(hall).
