initiatedAt(moving(V)=true, T) :- happensAt(go(V), T).
initiatedAt(departed(V)=true, T) :- start(moving(V)=true, T).
