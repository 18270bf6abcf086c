initiatedAt(rich(X), T) :-
    happensAt(win(X), T).

holdsFor(happy(X)=true, I) :-
    holdsFor(rich(X), I).
