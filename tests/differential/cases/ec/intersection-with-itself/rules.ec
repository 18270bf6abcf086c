initiatedAt(f1(X0, X1, X2)=true, T) :- happensAt(deal(X2, X0, X1), T).
holdsFor(s2(X, Y, Z)=true, I) :- holdsFor(f1(X, Y, Z)=true, I0), holdsFor(f1(Y, X, Z)=true, I2), intersect_all([I0, I2], I).
