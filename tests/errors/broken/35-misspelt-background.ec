initiatedAt(trawling(Vessel)=true, T) :-
    happensAt(change_in_heading(Vessel), T),
    vesselTyp(Vessel, fishing).

vesselType(v1, fishing).
