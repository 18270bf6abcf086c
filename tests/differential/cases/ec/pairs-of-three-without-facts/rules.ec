terminatedAt(f1('A', 'A', 'A')=free, T) :- happensAt(bell, T).
terminatedAt(f2('New York', X1)=0.5, T) :- holdsAt(f1(X3, X4, X5)=free, T), happensAt(e2(X1), T), holdsAt(f1(X2, X1, X3)='In use', T).
