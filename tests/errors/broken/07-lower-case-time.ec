initiatedAt(rich(X)=true, t) :-
    happensAt(win(X), t).
