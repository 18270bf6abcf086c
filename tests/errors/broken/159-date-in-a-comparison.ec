initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), T),
    T >= 2020-01-31.
