Here are the rules for the activity rich:

initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), T).
