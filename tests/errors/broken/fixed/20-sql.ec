initiatedAt(fast(Vessel)=true, T) :-
    happensAt(position(Vessel, Speed), T),
    Speed > 5.
