initiatedAt(working(X)=true, T) :-
    happensAt(shift_start(X), T).
