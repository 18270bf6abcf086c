initiatedAt(close(Vessel, Other)=true, T) :- happensAt(proximity(Vesel, Other), T).
