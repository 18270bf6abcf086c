dynamicDomain(dom(_)).
grounding(e1(A0)) :- dom(A0).
initiatedAt(f1(X0, X1, X2)=-1, T) :- happensAt(deal(X2, X0, X1), T).
grounding(f1(A0, A1, A2)=-1) :- dom(A0).
holdsFor(s3(X, Y, Z)=true, I) :- holdsFor(f1(X, Y, Z)=-1, I1), intersect_all([I1], J), intDurGreater(J, 3, I).
initiatedAt(f4(X0, X1)=true, T) :- happensAt(meet(X1, X0), T).
terminatedAt(f4(X1, X1)=_, T) :- happensAt(e1(X1), T).
initiatedAt(f7(X2, X3)=true, T) :- happensAt(e1(X1), T).
grounding(f7(A0, A1)=false) :- dom(A0), dom(A1).
