initiatedAt(high-speed(Vessel)=true, T) :-
    happensAt(speeding(Vessel), T).
