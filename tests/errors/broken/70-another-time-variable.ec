initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), Time).
