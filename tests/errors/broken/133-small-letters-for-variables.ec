initiatedAt(rich(x)=true, T) :- happensAt(win(x), T).
