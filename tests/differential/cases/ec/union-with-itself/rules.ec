initiatedAt(f1(X0, X1, X2)=true, T) :- happensAt(deal(X2, X1, X0), T).
holdsFor(s2(X, Y, Z)=true, I) :- holdsFor(f1(X, Z, Y)=true, I0), holdsFor(f1(Z, Y, X)=true, I1), union_all([I0, I1], I).
