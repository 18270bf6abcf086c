initiatedAt(rich(_)=true, T) :- happensAt(win(X), T).
