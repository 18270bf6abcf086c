initiatedAt(rain(X)=true, T) :- happensAt(rain_start(X), T).
initiatedAt(flood(X)=true, T) :- happensAt(flood_start(X), T).

holdsFor(aftermath(X)=true, I) :-
    holdsFor(rain(X)=true, I1),
    holdsFor(flood(X)=true, I2),
    allen(after, I2, I1, source, I).
