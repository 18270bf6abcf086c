initiatedAt(moving(Vessel)=true, T) :-
    happensAt(velocity(Vessel, Speed), T),
    Speed > 2.
