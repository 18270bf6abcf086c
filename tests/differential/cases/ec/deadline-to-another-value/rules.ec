grounding(on(X)=true) :- thing(X).
thing(a).
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
fi(on(X)=true, on(X)=false, 4).
