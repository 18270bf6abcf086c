initiatedAt(visits(X)=true, T) :-
    happensAt(enter(X), T).
