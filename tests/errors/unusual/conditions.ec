initiatedAt(a(X)=V, T) :-
    happensAt(e(X, V), T),
    (holdsAt(b(X)=true, T) ; \+ holdsAt(b(X)=_, T), V @< z),
    (V == on -> true ; V \== off),
    \+ (holdsAt(a(X)=W, T), W = V),
    findall(Y, holdsAt(near(X, Y)=true, T), L), length(L, N), N >= 0,
    member(V, [on, off]).
initiatedAt(b(X)=true, T) :- happensAt(start(a(X)=on), T).
collectIntervals(near(_, _)=true).
