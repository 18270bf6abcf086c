initiatedAt(inside(P, Area)=true, T) :- happensAt(enters(P, Area), T).
initiatedAt(crowded(Area)=true, T) :-
    happensAt(enters(_, Area), T),
    findall(P, holdsAt(inside(P, Area)=true, T), Inside),
    length(Inside, N),
    N > 5.
