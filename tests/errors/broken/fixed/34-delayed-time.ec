initiatedAt(ordered(X)=true, T) :-
    happensAt(order(X), T).
fi(ordered(X)=true, ordered(X)=late, 3600).
grounding(ordered(_)=true).
grounding(ordered(_)=late).
