person(b).
person(c).
person(d).
grounding(call(P,Q)=true) :- person(P), person(Q).
grounding(mutual(P,Q)=true) :- person(P), person(Q).
initiatedAt(call(P,Q)=true, T) :- happensAt(dial(P,Q), T).
holdsFor(mutual(P,Q)=true, I) :- holdsFor(call(P,Q)=true,I1), holdsFor(call(Q,P)=true,I2), intersect_all([I1,I2],I).
