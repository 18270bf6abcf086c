terminatedAt(f1(X1)=mid, T) :- happensAt(go(X1, w), T), \+ odd(_).
odd(X) :- X == a.
