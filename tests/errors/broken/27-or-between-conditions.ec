terminatedAt(fishing(Vessel)=true, T) :-
    happensAt(leavesArea(Vessel, _), T) or happensAt(gap_start(Vessel), T).

initiatedAt(fishing(Vessel)=true, T) :-
    happensAt(entersArea(Vessel, _), T).
