initiatedAt(moving(V)=true, T) :- happensAt(go(V), T).
initiatedAt(inPort(V)=true, T) :- happensAt(enters(V), T).

holdsFor(underWay(V)=true, I) :-
    holdsFor(moving(V)=true, I1),
    holdsFor(inPort(V)=true, I2),
    relative_complement_all(I1, [I2], I).
