initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
initiatedAt(loved(X)=true, T) :- happensAt(kiss(X), T).

holdsFor(happy(X)=true, I) :-
    holdsFor(rich(X)=true, I1),
    holdsFor(loved(X)=true, I2),
    union_all(I, [I1, I2]).
