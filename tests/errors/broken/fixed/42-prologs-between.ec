initiatedAt(slow(X)=true, T) :-
    happensAt(velocity(X, Speed), T),
    1 =< Speed, Speed =< 5.
