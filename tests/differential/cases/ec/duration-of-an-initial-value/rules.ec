grounding(d2(A0, A1)=false) :- dom(A0), dom(A1).
initially(d2(A0, A1)=false).
holdsFor(s3(X1, X1, X1)=true, I) :- holdsFor(d2(X1, X1)=false, I0), intDurGreater(I0, 5, J1), I = J1.
dom(a).
