initiatedAt(rich(X)=true, T) :-
    happensAt(win(X, Amount), T),
    Amount > 1.000.000.
