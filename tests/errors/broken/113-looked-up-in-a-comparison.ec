threshold(speed, 5).

initiatedAt(speeding(V)=true, T) :-
    happensAt(velocity(V, Speed), T),
    Speed > threshold(speed).
