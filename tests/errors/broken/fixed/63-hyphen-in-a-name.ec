initiatedAt(high_speed(Vessel)=true, T) :-
    happensAt(speeding(Vessel), T).
