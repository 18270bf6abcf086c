:-dynamic holdsAt/2, happensAt/2.
:- discontiguous(initiatedAt/2).

initiatedAt( rich( X ) = true , T )
:-
/* why
   not */ happensAt( win( X ) , T ) % here
, X \= bob
.
   initiatedAt(poor(X)=true,T):-happensAt(lose(X),T),\+holdsAt(rich(X)=true,T). terminatedAt(poor(X)=true,T):-happensAt(win(X),T).
initiatedAt(a=true,T):-happensAt(b,T).%c
initiatedAt(c=true, T) :- happensAt(d, T), true.   % the end; no more...
