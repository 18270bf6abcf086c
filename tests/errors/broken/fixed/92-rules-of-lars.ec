initiatedAt(jam(Road)=true, T) :- happensAt(slow(Road), T).
