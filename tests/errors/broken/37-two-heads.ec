initiatedAt(rich(X)=true, T), initiatedAt(happy(X)=true, T) :-
    happensAt(win(X), T).
