initiatedAt(inPort(Vessel)=true, T) :-
    happensAt(enters(Vessel, Area), T),
    areaType(Area, port).

areaType(a1, port).
