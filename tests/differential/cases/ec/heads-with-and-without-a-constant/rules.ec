initiatedAt(f1(X0)=-1, T) :- happensAt(e2(X0), T).
initiatedAt(f1(X0)=0.5, T) :- happensAt(n(X0, _), T).
holdsFor(s4(1)=true, I) :- holdsFor(f1(_)=-1, I1), union_all([I1], J1), I = J1.
holdsFor(s4(X1)=true, I) :- holdsFor(f1(X1)=0.5, I0), union_all([I0], J1), I = J1.
