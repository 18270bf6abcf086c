initiatedAt(v2(X)=V, T) :- happensAt(n(X, V), T).
holdsFor(s3(A0)=V, I) :- holdsFor(v2(A0)=V, I).
grounding(s3(A0)=1) :- dom(A0).
dom(2.0).
