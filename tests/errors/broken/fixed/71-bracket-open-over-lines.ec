initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), T),
    holdsAt(employed(X)=true, T).

initiatedAt(employed(X)=true, T) :-
    happensAt(hired(X), T).
