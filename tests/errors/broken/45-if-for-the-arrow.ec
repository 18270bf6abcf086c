initiatedAt(rich(X)=true, T) if happensAt(win(X), T).
