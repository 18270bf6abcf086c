initiatedAt(f1(X1)=on, T1, T, T2) :- happensAt(e1(X1), T).
holdsFor(s3(X1, X3)=true, I) :- holdsFor(f1(X1)=on, I0), next(X2, X3), intDurGreater(I0, 3, J1), I = J1.
next(c, d).
