initiatedAt(stopped(Vessel)=true, T) :-
    happensAt(stop_start(Vessel), T).
terminatedAt(stopped(Vessel)=true, T) :-
    happensAt(stop_end(Vessel), T).

holdsFor(resting(Vessel)=true, I) :-
    holdsFor(stopped(Vessel)=true, I1),
    intDurGreater(I1, 3600, I).
