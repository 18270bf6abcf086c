initiatedAt(drifting(X)=true, T) :-
    happensAt(velocity(X, Heading, Course), T),
    Angle is abs(Heading - Course),
    Angle > 30.
