initiatedAt(still(V)=true, T) :- happensAt(stops(V), T).

holdsFor(waiting(V)=true, I) :-
    holdsFor(still(V)=true, I1),
    intDurGreater(I1, 10 min, I).
