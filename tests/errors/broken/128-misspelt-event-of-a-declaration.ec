inputEntity(gap_start(_)).
inputEntity(gap_end(_)).

initiatedAt(gap(V)=true, T) :- happensAt(gap_strat(V), T).
terminatedAt(gap(V)=true, T) :- happensAt(gap_end(V), T).
