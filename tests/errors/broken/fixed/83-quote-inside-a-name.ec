initiatedAt(visits(X)=true, T) :-
    happensAt(enter(X, 'St. John''s'), T).
