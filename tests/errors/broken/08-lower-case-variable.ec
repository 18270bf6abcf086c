initiatedAt(moving(vessel)=true, T) :-
    happensAt(velocity(vessel, speed), T),
    speed > 2.
