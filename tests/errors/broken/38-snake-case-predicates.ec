initiated_at(rich(X)=true, T) :-
    happens_at(win(X), T).
