initiatedAt(fast(X)=true, T) :-
    happensAt(velocity(X, Speed), T),
    Limit = 20,
    Speed > Limit.
