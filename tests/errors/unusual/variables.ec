% Each of these stands once in its rule, and is no slip of the hand.
initiatedAt(a(X)=true, T) :- happensAt(pos(X, Lon1, Lat1, Lon2, Lat2, StartX, StartY), T).
initiatedAt(b(X)=true, T) :- happensAt(e(X, Area, Areas, _Aera), T).
terminatedAt(c(X)=_, T) :- happensAt(e(X, _, _, _), T).
terminatedAt(c(X)=Any, T) :- happensAt(pos(X, _, _, _, _, _, _), T).
initiatedAt(c(X)=on, T) :- happensAt(e(X, _, _, _), T).
