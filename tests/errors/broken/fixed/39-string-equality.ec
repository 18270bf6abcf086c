initiatedAt(alarm(X)=true, T) :-
    happensAt(report(X, Kind), T),
    Kind = fire.
