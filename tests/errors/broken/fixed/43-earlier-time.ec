initiatedAt(alarm(X)=true, T) :-
    happensAt(smoke(X), T),
    holdsAt(empty(X)=true, T).

initiatedAt(empty(X)=true, T) :-
    happensAt(leave(X), T).
