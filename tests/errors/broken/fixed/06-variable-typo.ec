initiatedAt(highSpeedNearCoast(Vessel)=true, T) :-
    happensAt(velocity(Vessel, Speed, _Heading), T),
    threshold(coast, Max),
    Speed > Max,
    holdsAt(nearCoast(Vessel)=true, T).

collectIntervals(nearCoast(_)=true).
threshold(coast, 5).
