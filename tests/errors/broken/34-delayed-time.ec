initiatedAt(late(X)=true, T) :-
    happensAt(order(X), T0),
    T is T0 + 3600.
