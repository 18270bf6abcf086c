initiatedAt(busy(X)=true, T) :-
    happensAt(enter(X), T),
    findall(Y, happensAt(call(X, Y), T), Calls), length(Calls, N), N > 3.
