initiatedAt(working(X)=true, [Start, End]) :-
    happensAt(shift(X, Start, End), T).
