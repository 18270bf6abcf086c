initiatedAt(f1(X1, X2)=hi, T) :- holdsAt(in1(X2)=true, T), happensAt(meet(X1, x1), T).
holdsFor(s2(X1, X1)=true, I) :- holdsFor(f1(X1, _)=hi, I0), intDurGreater(I0, 5, J1), intersect_all([J1], J2), intDurLess(J2, 5, J3), I = J3.
