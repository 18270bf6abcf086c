// Somebody who has won is rich.
initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), T).
