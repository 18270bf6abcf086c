holdsFor(s3(g(X1), X1)=true, I) :- holdsFor(st(X1)=lo, I0), intDurGreater(I0, 5, J1), I = J1.
