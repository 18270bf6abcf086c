initiatedAt(fast(X)=true, T) :-
    happensAt(velocity(X, Speed), T),
    if Speed > 20 then true else fail.
