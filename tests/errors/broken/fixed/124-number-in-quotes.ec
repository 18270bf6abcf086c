initiatedAt(fast(V)=true, T) :-
    happensAt(velocity(V, Speed), T),
    Speed > 5.
