initiatedAt(close(Vessel, Other)=true, T) :- happensAt(proximity(Vessel, Other), T).
