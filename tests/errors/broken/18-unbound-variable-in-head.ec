initiatedAt(meeting(Person1, Person2)=true, T) :-
    happensAt(active(Person1), T),
    happensAt(active(P2), T).
