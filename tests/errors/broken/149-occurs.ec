initiatedAt(rich(X)=true, T) :- occurs(win(X), T).
