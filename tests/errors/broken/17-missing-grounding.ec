initially(light(Lamp)=off).

initiatedAt(light(Lamp)=on, T) :-
    happensAt(switch_on(Lamp), T).
initiatedAt(light(Lamp)=off, T) :-
    happensAt(switch_off(Lamp), T).

lamp(kitchen).
lamp(hall).
