initiatedAt(rich(Who)=true, T) :-
    happensAt(win(Who), T).
