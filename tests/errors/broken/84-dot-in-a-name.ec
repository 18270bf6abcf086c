initiatedAt(vessel.fast(X)=true, T) :-
    happensAt(speeding(X), T).
