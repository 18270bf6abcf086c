initiatedAt(open(X)=true, T) :- happensAt(opens(X), T).
initiatedAt(open(X)=false, T) :- happensAt(closes(X), T).

initiatedAt(alarm(X)=true, T) :-
    happensAt(enter(X), T),
    holdsAt(open(X)=false, T).
