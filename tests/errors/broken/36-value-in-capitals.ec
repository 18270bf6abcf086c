initiatedAt(rich(X)=True, T) :-
    happensAt(win(X), T).
terminatedAt(rich(X)=True, T) :-
    happensAt(lose(X), T).
