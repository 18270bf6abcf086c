initiatedAt(light(X)=on, T) :- happensAt(press(X), T).
terminatedAt(light(X)=on, T) :- happensAt(release(X), T).
