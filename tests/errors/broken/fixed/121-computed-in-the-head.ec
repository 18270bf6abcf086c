initiatedAt(count(X)=M, T) :-
    happensAt(counted(X), T),
    holdsAt(count(X)=N, T),
    M is N + 1.
initiatedAt(count(X)=0, T) :- happensAt(reset(X), T).
