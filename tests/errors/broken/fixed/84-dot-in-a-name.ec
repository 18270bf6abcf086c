initiatedAt(vessel_fast(X)=true, T) :-
    happensAt(speeding(X), T).
