initiatedAt(count(X)=N+1, T) :-
    happensAt(counted(X), T),
    holdsAt(count(X)=N, T).
initiatedAt(count(X)=0, T) :- happensAt(reset(X), T).
