initiatedAt(slow(X)=true, T) :-
    happensAt(velocity(X, Speed), T),
    Speed >= 0.5,
    Speed <= 5.
