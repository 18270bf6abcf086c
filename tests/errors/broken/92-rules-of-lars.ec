jam(Road) :- slow(Road) always [10 min].
