initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), T),
    \+ holdsAt(poor(X)=true, T).

initiatedAt(poor(X)=true, T) :-
    happensAt(lose(X), T).
