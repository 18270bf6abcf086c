initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
initiatedAt(ill(X)=true, T) :- happensAt(cough(X), T).

holdsFor(fine(X)=true, I) :-
    holdsFor(rich(X)=true, I1),
    holdsFor(ill(X)=true, I2),
    relative_complement_all(I1, [I2], I).
