happensAt(win(ann), 5).

initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), T).
