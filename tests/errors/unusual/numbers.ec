initiatedAt(hot(X)=true, T) :- happensAt(temp(X, D), T), D > -1.5e-3, D =< 0x1F, D \= 0'a, D < 1e9.
