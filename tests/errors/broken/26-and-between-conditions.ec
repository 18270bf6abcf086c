initiatedAt(fishing(Vessel)=true, T) :-
    happensAt(change_in_heading(Vessel), T) and
    vesselType(Vessel, fishing).

vesselType(v1, fishing).
