holdsFor(far(X, Y)=true, I) :-
    holdsFor(near(X, Y)=true, I0), \+ X = Y, I0 \= [],
    complement_all([I0], I1), intDurGreater(I1, 10, I2),
    allen(before, I0, I2, rhs, I3), union_all([I2, I3], I).
collectIntervals(near(_, _)=true).
grounding(near(X, Y)=true) :- pair(X, Y).
grounding(far(X, Y)=true) :- pair(X, Y).
pair(a, b).
