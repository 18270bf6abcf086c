initiatedAt(gap(V)=true, T) :-
    happensAt(gap_start(V), T).
terminatedAt(gap(V)=true, T) :-
    happensAt(gap_end(V), T).

initiatedAt(suspicious(V)=true, T) :-
    happensAt(change_in_heading(V), T),
    holdsAt(gap(V)=true, T).
