% The variables of time have any name; a holdsFor rule may ask at a fixed time-point.
initiatedAt(a(X)=true, Time) :- happensAt(b(X), Time).
initiatedAt(a(X)=true, _T) :- happensAt(c(X), _T).
initiatedAt(f=on, T1, T, T2) :- happensAt(e, T), T1 =< T, T < T2.
initiates(win(X), rich(X)=true, T) :- happensAt(day, T).
initially(a(t1)=true).
