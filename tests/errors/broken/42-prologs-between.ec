initiatedAt(slow(X)=true, T) :-
    happensAt(velocity(X, Speed), T),
    between(1, 5, Speed).
