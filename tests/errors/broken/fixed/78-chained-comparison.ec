initiatedAt(medium(X)=true, T) :-
    happensAt(velocity(X, Speed), T),
    5 < Speed, Speed =< 20.
