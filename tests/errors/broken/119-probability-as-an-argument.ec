initiatedAt(rich(X)=true, T, 0.8) :- happensAt(win(X), T).
