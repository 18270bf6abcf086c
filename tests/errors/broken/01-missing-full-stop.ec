% A vessel is stopped from its stop to its start.
initiatedAt(stopped(Vessel)=true, T) :-
    happensAt(stop_start(Vessel), T)

terminatedAt(stopped(Vessel)=true, T) :-
    happensAt(stop_end(Vessel), T).
