initiatedAt(moving(X)=true, T) :-
    happensAt(go(X), T).

initiatedAt(alert(X)=true, T) :-
    happensAt(start(moving(X)=true), T).
