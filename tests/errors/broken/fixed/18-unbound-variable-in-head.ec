initiatedAt(meeting(Person1, P2)=true, T) :-
    happensAt(active(Person1), T),
    happensAt(active(P2), T).
