points(pp(_)=_).
initiatedAt(f6(-2)=lo, T) :- holdsAt(pp(-2)=N1, T).
