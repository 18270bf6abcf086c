def rich(x):
    if win(x) and not poor(x):
        return True

initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), T).
