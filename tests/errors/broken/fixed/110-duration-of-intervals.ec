initiatedAt(stopped(V)=true, T) :- happensAt(stop_start(V), T).
terminatedAt(stopped(V)=true, T) :- happensAt(stop_end(V), T).

holdsFor(longStop(V)=true, I) :-
    holdsFor(stopped(V)=true, I1),
    intDurGreater(I1, 600, I).
