collectIntervals(near(_,_)=true).

holdsFor(together(X, Y)=true, I) :-
    holdsFor(near(X, Y)=true, I1),
    holdsFor(group(X, Y)=true, I2),
    union_all([I1, I2], I).

holdsFor(group(X, Y)=true, I) :-
    holdsFor(together(X, Y)=true, I1),
    intDurGreater(I1, 60, I).
