initiatedAt(busy(X)=true, T) :-
    happensAt(tick(X), T),
    count(happensAt(call(X, _), T)) > 3.
