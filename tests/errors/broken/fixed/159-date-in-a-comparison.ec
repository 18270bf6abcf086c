initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), T),
    T >= 1580428800.
