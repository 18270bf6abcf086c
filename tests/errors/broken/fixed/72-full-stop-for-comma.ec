initiatedAt(visits(X)=true, T) :-
    happensAt(enter(X), T),
    holdsAt(open(X)=true, T).

initiatedAt(open(X)=true, T) :-
    happensAt(opens(X), T).
