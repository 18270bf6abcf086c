initiatedAt(raining=true, T) :- happensAt(rain_start, T).
