initiatedAt(near(X, Y)=true, T) :-
    happensAt(meet(X, Y), T),
    X \= Y.
