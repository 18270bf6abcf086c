initiatedAt(alone(X)=true, T) :-
    happensAt(enter(X), T),
    !holdsAt(accompanied(X)=true, T).

initiatedAt(accompanied(X)=true, T) :-
    happensAt(meet(X), T).
