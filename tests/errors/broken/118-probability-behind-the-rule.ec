initiatedAt(rich(X)=true, T) :- happensAt(win(X), T). 0.8
