initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
holdsFor(long(X)=true, I) :- holdsFor(on(X)=true, J), intDurGreater(J, 3, I).
initiatedAt(alarm(X)=true, T) :- happensAt(start(long(X)=true), T).
terminatedAt(alarm(X)=true, T) :- happensAt(reset(X), T).
