initiatedAt(drifting(X)=true, T) :-
    happensAt(velocity(X, Heading, Course), T),
    abs(Heading - Course) is Angle,
    Angle > 30.
