initiatedAt(inPort(Vessel)=true, T) :-
    happensAt(enters(Vessel, Area), T),
    areaType(Aera, port).

areaType(a1, port).
