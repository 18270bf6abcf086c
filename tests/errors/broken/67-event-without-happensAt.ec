initiatedAt(rich(X)=true, T) :-
    win(X, T).
