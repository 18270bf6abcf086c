holdsFor(s3(X2)=true, I) :- holdsFor(near(X1, -9000000000000000)=true, I1), holdsFor(v2(X2)=-1.5, I2), intersect_all([I2], J1), I = J1.
