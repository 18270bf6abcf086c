initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).

initiatedAt(sad(X)=true, T) :-
    happensAt(frown(X), T),
    \+ holdsAt(rich(X)=true, T).
