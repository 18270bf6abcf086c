initiatedAt(moving(V)=true, T) :- happensAt(go(V), T).
initiatedAt(departed(V)=true, T) :- happensAt(start(moving(V)=true), T).
