initiatedAt(rich(X)=true, T) :-
    happensAt(T, win(X)).
