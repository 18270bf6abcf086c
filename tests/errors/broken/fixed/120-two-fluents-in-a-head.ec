initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
initiatedAt(glad(X)=true, T) :- happensAt(win(X), T).
