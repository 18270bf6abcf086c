initiatedAt(busy(X)=true, T) :-
    happensAt(enter(X), T),
    #count{Y : happensAt(call(X, Y), T)} > 3.
