initiatedAt(steep(X)=true, T) :-
    happensAt(slope(X, Grade), T),
    Grade > 20.
