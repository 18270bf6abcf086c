initiatedAt(inside(P, Area)=true, T) :- happensAt(enters(P, Area), T).
initiatedAt(crowded(Area)=true, T) :-
    happensAt(enters(_, Area), T),
    count(holdsAt(inside(P, Area)=true, T), N),
    N > 5.
