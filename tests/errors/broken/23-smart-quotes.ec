initiatedAt(visits(X)=true, T) :-
    happensAt(enter(X, ‘Main Street’), T).
