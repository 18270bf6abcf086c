initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), T).

holdsFor(happy(X)=true, I) :-
    holdsFor(rich(X)=true, I).
