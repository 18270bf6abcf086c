initiatedAt(rich(?who)=true, T) :-
    happensAt(win(?who), T).
