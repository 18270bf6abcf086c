terminates(n(X1, 0), f2(g(X1))=1, T).
