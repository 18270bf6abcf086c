dynamicDomain(dom(_)).
grounding(n(A0, _)) :- dom(A0).
grounding(dial(A0, A1)) :- dom(A0), dom(A1).
initiatedAt(f1(X0)=lo, T) :- happensAt(n(X0, _), T).
terminatedAt(f2(X1, X2, X2)=lo, T) :- happensAt(dial(X1, X2), T).
grounding(f2(A0, A1, A2)=lo) :- dom(A0), dom(A1), dom(A2).
initially(f2(_, _, _)=lo).
holdsFor(s3(X, Y, Z)=true, I) :- holdsFor(f2(Y, X, Z)=lo, I0), holdsFor(f2(X, Y, Z)=lo, I1), relative_complement_all(I0, [I1], I).
