initiatedAt(c4(X1)=mid, T) :- happensAt(deal(-2, X1, _), T).
