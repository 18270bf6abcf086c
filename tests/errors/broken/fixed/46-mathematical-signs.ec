initiatedAt(slow(X)=true, T) :-
    happensAt(velocity(X, Speed), T), Speed =< 5.
