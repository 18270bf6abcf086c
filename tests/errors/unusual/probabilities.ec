0.8::initially(a(x)=true).
weight(-0.5)::initiatedAt(b(X)=true, T) :- happensAt(e(X), T).
weight(2)::initiatedAt(b(X)=true, T) :- happensAt(f(X), T).
terminatedAt(a(X)=true, T) :- happensAt(e(X), T).
