initiatedAt(f2(X0, X1)=on, T) :- happensAt(dial(X1, X0), T).
initiatedAt(g5(Y)=true, T) :- happensAt(dial(X, Y), T).
terminatedAt(g5(Y)=true, T) :- happensAt(end(f4(X, Y)=on), T).
holdsFor(s6(X1, X1)=true, I) :- holdsFor(g5(X1)=true, I0), intDurLess(I0, 6, J1), intDurGreater(J1, 2, J2), I = J2.
initiatedAt(f7(0, X1)=0.5, T) :- initiatedAt(f2(X1, X2)=on, T).
