initiatedAt(light(X)=on, T) :- happensAt(press(X), T).
terminatedAt(light(X)=off, T) :- happensAt(release(X), T).
