initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), T),
    holdsAt(awake(X)=true, T).
collectIntervals(awake(_)=true).
