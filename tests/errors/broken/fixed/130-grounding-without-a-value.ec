person(ann).
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
grounding(rich(X)=true) :- person(X).
