initiatedAt(rich(X)=true, glad(X)=true, T) :- happensAt(win(X), T).
