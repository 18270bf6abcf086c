initiatedAt(f1(2, 2, 2)=true, T) :- happensAt(e2(_), T).
holdsFor(s2(X1, X1)=true, I) :- holdsFor(f1(_, X1, X1)=true, I0), intDurGreater(I0, 3, J1), I = J1.
