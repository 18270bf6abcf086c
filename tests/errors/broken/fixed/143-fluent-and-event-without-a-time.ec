initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).

initiatedAt(happy(X)=true, T) :-
    happensAt(smile(X), T),
    holdsAt(rich(X)=true, T),
    \+ happensAt(win(X), T).
