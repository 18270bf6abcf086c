initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
fi(rich(X)=true, rich(X)=false, 10).
p(rich(X)=true).
