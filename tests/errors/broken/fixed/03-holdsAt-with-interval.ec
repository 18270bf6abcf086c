initiatedAt(stopped(V)=true, T) :-
    happensAt(stop_start(V), T).

holdsFor(anchored(V)=true, I) :-
    holdsFor(stopped(V)=true, I1),
    intDurGreater(I1, 600, I).
