initiatedAt(docked(V)=true, T) :- happensAt(docks(V), T).
initiatedAt(storm(V)=true, T) :- happensAt(storm_begins(V), T).

holdsFor(sheltered(V)=true, I) :-
    holdsFor(storm(V)=true, I1),
    holdsFor(docked(V)=true, I2),
    allen(during, I1, I2, source, I).
