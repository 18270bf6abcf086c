buildFromPoints(pt(_)=true).
initiatedAt(d2(X2, X1)=1, T) :- happensAt(dial(X1, X2), T).
terminatedAt(d2(X1, X1)=_, T) :- happensAt(n(X1, N2), T), findall(X23, holdsAt(f1(X23)='In use', T), L1), length(L1, C1), C1 > 0 -> \+ holdsAt(pt(X1)=true, T).
fi(d2(A0, A1)=1, d2(A0, A1)=2, 40).
