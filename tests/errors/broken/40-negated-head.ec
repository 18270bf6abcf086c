initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), T).

not initiatedAt(rich(X)=true, T) :-
    happensAt(lose(X), T).
