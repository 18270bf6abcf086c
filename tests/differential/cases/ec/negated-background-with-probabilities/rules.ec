initiatedAt(f2(X1)=on, T) :- happensAt(e1(X1), T), \+ odd('A').
kind(b_c, large).
odd(X) :- \+ kind(Y, small).
