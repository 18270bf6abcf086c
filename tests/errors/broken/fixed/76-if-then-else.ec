initiatedAt(fast(X)=true, T) :-
    happensAt(velocity(X, Speed), T),
    Speed > 20.
