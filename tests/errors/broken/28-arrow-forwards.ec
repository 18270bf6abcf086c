happensAt(win(X), T) ==> initiatedAt(rich(X)=true, T).

terminatedAt(rich(X)=true, T) :-
    happensAt(lose(X), T).
