% Maritime situational awareness: activities of vessels and of pairs of vessels. Time is in seconds.
%
% Background relations:
%   vessel(Vessel, Type, Draught)            what is known of a vessel
%   typeSpeed(Type, Min, Max, Average)       usual speeds of a type of vessel, in knots
%   areaType(Area, Kind)                     the kind of an area

% ---- Input ----

dynamicDomain(sailing(_)).
dynamicDomain(neighbours(_, _)).

grounding(gap_start(V))             :- sailing(V).
grounding(gap_end(V))               :- sailing(V).
grounding(stop_start(V))            :- sailing(V).
grounding(stop_end(V))              :- sailing(V).
grounding(slow_motion_start(V))     :- sailing(V).
grounding(slow_motion_end(V))       :- sailing(V).
grounding(change_in_speed_start(V)) :- sailing(V).
grounding(change_in_speed_end(V))   :- sailing(V).
grounding(change_in_heading(V))     :- sailing(V).
grounding(entersArea(V, _))         :- sailing(V).
grounding(leavesArea(V, _))         :- sailing(V).
grounding(velocity(V, _, _, _))     :- sailing(V).
grounding(coord(V, _, _))           :- sailing(V).

% The two vessels are near each other.
grounding(proximity(V1, V2)=true) :- neighbours(V1, V2).
collectIntervals(proximity(_, _)=true).

% ---- Thresholds: speeds in knots, angles in degrees, times in seconds ----

threshold(hcNearCoastMax, 5.0).
threshold(movingMin, 0.5).
threshold(adriftAngThr, 40.0).
threshold(aOrMTime, 1800).
threshold(tuggingMin, 1.2).
threshold(tuggingMax, 15.0).
threshold(tuggingTime, 300).
threshold(rendezvousTime, 240).
threshold(trawlspeedMin, 1.0).
threshold(trawlspeedMax, 9.0).
threshold(trawlingCrs, 1800).
threshold(trawlingTime, 3600).
threshold(sarMinSpeed, 2.7).
threshold(sarMovementTime, 1800).
threshold(inSARTime, 3600).
threshold(loiteringTime, 1800).

% ---- Helpers ----

areaKind(anchorage).
areaKind(fishing).
areaKind(natura).
areaKind(nearCoast).
areaKind(nearCoast5k).
areaKind(nearPorts).

% Both bounds are strict.
inRange(X, Low, High) :- X > Low, X < High.

% The angle between two directions, from 0 to 180 degrees.
angleDifference(A, B, Difference) :-
    Turn is A - B + 180,
    Difference is abs(Turn - 360 * floor(Turn / 360) - 180).

% 511.0 stands for a heading that is not available.
headingUnknown(Heading) :- Heading =:= 511.0.

ofType(V, Type) :- vessel(V, Type, _).

speedsOf(V, Min, Max) :- vessel(V, Type, _), typeSpeed(Type, Min, Max, _).

oneIsTug(V1, V2) :- ofType(V1, tug), \+ ofType(V2, tug).
oneIsTug(V1, V2) :- ofType(V2, tug), \+ ofType(V1, tug).

oneIsPilot(V1, _) :- ofType(V1, pilotvessel).
oneIsPilot(_, V2) :- ofType(V2, pilotvessel).

noneIsTug(V1, V2) :- \+ ofType(V1, tug), \+ ofType(V2, tug).

noneIsPilot(V1, V2) :- \+ ofType(V1, pilotvessel), \+ ofType(V2, pilotvessel).

% ---- Areas: the vessel is in some area of the kind; a communication gap ends it ----

grounding(withinArea(V, Kind)=true) :- sailing(V), areaKind(Kind).

initiatedAt(withinArea(V, Kind)=true, T) :-
    happensAt(entersArea(V, Area), T),
    areaType(Area, Kind).

terminatedAt(withinArea(V, Kind)=true, T) :-
    happensAt(leavesArea(V, Area), T),
    areaType(Area, Kind).

terminatedAt(withinArea(V, Kind)=true, T) :-
    happensAt(gap_start(V), T),
    areaKind(Kind).

% ---- Communication gap: no messages, near a port or far from all ports ----

grounding(gap(V)=nearPorts)    :- sailing(V).
grounding(gap(V)=farFromPorts) :- sailing(V).

initiatedAt(gap(V)=nearPorts, T) :-
    happensAt(gap_start(V), T),
    holdsAt(withinArea(V, nearPorts)=true, T).

initiatedAt(gap(V)=farFromPorts, T) :-
    happensAt(gap_start(V), T),
    \+ holdsAt(withinArea(V, nearPorts)=true, T).

terminatedAt(gap(V)=_, T) :-
    happensAt(gap_end(V), T).

% ---- Stopped: the vessel stands still, near a port or far from all ports ----

grounding(stopped(V)=nearPorts)    :- sailing(V).
grounding(stopped(V)=farFromPorts) :- sailing(V).

initiatedAt(stopped(V)=nearPorts, T) :-
    happensAt(stop_start(V), T),
    holdsAt(withinArea(V, nearPorts)=true, T).

initiatedAt(stopped(V)=farFromPorts, T) :-
    happensAt(stop_start(V), T),
    \+ holdsAt(withinArea(V, nearPorts)=true, T).

terminatedAt(stopped(V)=_, T) :-
    happensAt(stop_end(V), T).

terminatedAt(stopped(V)=_, T) :-
    happensAt(start(gap(V)=_), T).

% ---- Low speed: the vessel moves slowly ----

grounding(lowSpeed(V)=true) :- sailing(V).

initiatedAt(lowSpeed(V)=true, T) :-
    happensAt(slow_motion_start(V), T).

terminatedAt(lowSpeed(V)=true, T) :-
    happensAt(slow_motion_end(V), T).

terminatedAt(lowSpeed(V)=true, T) :-
    happensAt(start(gap(V)=_), T).

% ---- Changing speed: the vessel accelerates or decelerates ----

grounding(changingSpeed(V)=true) :- sailing(V).

initiatedAt(changingSpeed(V)=true, T) :-
    happensAt(change_in_speed_start(V), T).

terminatedAt(changingSpeed(V)=true, T) :-
    happensAt(change_in_speed_end(V), T).

terminatedAt(changingSpeed(V)=true, T) :-
    happensAt(start(gap(V)=_), T).

% ---- High speed near the coast: outside the speeds that are allowed there ----

grounding(highSpeedNearCoast(V)=true) :- sailing(V).

initiatedAt(highSpeedNearCoast(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(hcNearCoastMax, Max),
    \+ inRange(Speed, 0, Max),
    holdsAt(withinArea(V, nearCoast)=true, T).

terminatedAt(highSpeedNearCoast(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(hcNearCoastMax, Max),
    inRange(Speed, 0, Max).

terminatedAt(highSpeedNearCoast(V)=true, T) :-
    happensAt(end(withinArea(V, nearCoast)=true), T).

% ---- Moving speed: below, within or above the usual speeds of the vessel's type ----

grounding(movingSpeed(V)=below)  :- sailing(V).
grounding(movingSpeed(V)=normal) :- sailing(V).
grounding(movingSpeed(V)=above)  :- sailing(V).

initiatedAt(movingSpeed(V)=below, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(movingMin, Moving),
    speedsOf(V, Min, _),
    inRange(Speed, Moving, Min).

initiatedAt(movingSpeed(V)=normal, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    speedsOf(V, Min, Max),
    inRange(Speed, Min, Max).

initiatedAt(movingSpeed(V)=above, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    speedsOf(V, _, Max),
    Speed > Max.

terminatedAt(movingSpeed(V)=_, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(movingMin, Moving),
    Speed =< Moving.

terminatedAt(movingSpeed(V)=_, T) :-
    happensAt(start(gap(V)=_), T).

% ---- Under way: the vessel moves, at whatever speed ----

grounding(underWay(V)=true) :- sailing(V).

holdsFor(underWay(V)=true, I) :-
    holdsFor(movingSpeed(V)=below, Below),
    holdsFor(movingSpeed(V)=normal, Normal),
    holdsFor(movingSpeed(V)=above, Above),
    union_all([Below, Normal, Above], I).

% ---- Drifting: under way, with the course far from the heading ----

grounding(drifting(V)=true) :- sailing(V).

initiatedAt(drifting(V)=true, T) :-
    happensAt(velocity(V, _, Course, Heading), T),
    \+ headingUnknown(Heading),
    angleDifference(Course, Heading, Angle),
    threshold(adriftAngThr, Limit),
    Angle > Limit,
    holdsAt(underWay(V)=true, T).

terminatedAt(drifting(V)=true, T) :-
    happensAt(velocity(V, _, Course, Heading), T),
    angleDifference(Course, Heading, Angle),
    threshold(adriftAngThr, Limit),
    Angle =< Limit.

terminatedAt(drifting(V)=true, T) :-
    happensAt(velocity(V, _, _, Heading), T),
    headingUnknown(Heading).

terminatedAt(drifting(V)=true, T) :-
    happensAt(end(underWay(V)=true), T).

% ---- Anchored or moored: stopped for long, in an anchorage or near a port ----

grounding(anchoredOrMoored(V)=true) :- sailing(V).

holdsFor(anchoredOrMoored(V)=true, I) :-
    holdsFor(stopped(V)=farFromPorts, StoppedFar),
    holdsFor(withinArea(V, anchorage)=true, InAnchorage),
    intersect_all([StoppedFar, InAnchorage], Anchored),
    holdsFor(stopped(V)=nearPorts, Moored),
    union_all([Anchored, Moored], Either),
    threshold(aOrMTime, Time),
    intDurGreater(Either, Time, I).

% ---- Tugging: a tug and another vessel stay close at towing speed ----

grounding(tuggingSpeed(V)=true) :- sailing(V).

initiatedAt(tuggingSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(tuggingMin, Min),
    threshold(tuggingMax, Max),
    inRange(Speed, Min, Max).

terminatedAt(tuggingSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(tuggingMin, Min),
    threshold(tuggingMax, Max),
    \+ inRange(Speed, Min, Max).

terminatedAt(tuggingSpeed(V)=true, T) :-
    happensAt(start(gap(V)=_), T).

grounding(tugging(V1, V2)=true) :- neighbours(V1, V2).

holdsFor(tugging(V1, V2)=true, I) :-
    holdsFor(proximity(V1, V2)=true, Near),
    oneIsTug(V1, V2),
    noneIsPilot(V1, V2),
    holdsFor(tuggingSpeed(V1)=true, Speed1),
    holdsFor(tuggingSpeed(V2)=true, Speed2),
    intersect_all([Near, Speed1, Speed2], Together),
    threshold(tuggingTime, Time),
    intDurGreater(Together, Time, I).

% ---- Rendez-vous: two vessels stay close, slow or stopped, away from ports and coast ----

grounding(rendezVous(V1, V2)=true) :- neighbours(V1, V2).

holdsFor(rendezVous(V1, V2)=true, I) :-
    holdsFor(proximity(V1, V2)=true, Near),
    noneIsTug(V1, V2),
    noneIsPilot(V1, V2),
    holdsFor(lowSpeed(V1)=true, Low1),
    holdsFor(stopped(V1)=farFromPorts, Stopped1),
    union_all([Low1, Stopped1], Slow1),
    holdsFor(lowSpeed(V2)=true, Low2),
    holdsFor(stopped(V2)=farFromPorts, Stopped2),
    union_all([Low2, Stopped2], Slow2),
    intersect_all([Slow1, Slow2, Near], Together),
    holdsFor(withinArea(V1, nearPorts)=true, Port1),
    holdsFor(withinArea(V2, nearPorts)=true, Port2),
    holdsFor(withinArea(V1, nearCoast)=true, Coast1),
    holdsFor(withinArea(V2, nearCoast)=true, Coast2),
    relative_complement_all(Together, [Port1, Port2, Coast1, Coast2], AtSea),
    threshold(rendezvousTime, Time),
    intDurGreater(AtSea, Time, I).

% ---- Trawling: a fishing vessel in a fishing area keeps trawling speed and keeps turning ----

grounding(trawlSpeed(V)=true) :- sailing(V), ofType(V, fishing).

initiatedAt(trawlSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(trawlspeedMin, Min),
    threshold(trawlspeedMax, Max),
    inRange(Speed, Min, Max),
    holdsAt(withinArea(V, fishing)=true, T).

terminatedAt(trawlSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(trawlspeedMin, Min),
    threshold(trawlspeedMax, Max),
    \+ inRange(Speed, Min, Max).

terminatedAt(trawlSpeed(V)=true, T) :-
    happensAt(start(gap(V)=_), T).

terminatedAt(trawlSpeed(V)=true, T) :-
    happensAt(end(withinArea(V, fishing)=true), T).

% The movement lasts until no turn has followed the last one for a while.
grounding(trawlingMovement(V)=true)  :- sailing(V), ofType(V, fishing).
grounding(trawlingMovement(V)=false) :- sailing(V), ofType(V, fishing).

initiatedAt(trawlingMovement(V)=true, T) :-
    happensAt(change_in_heading(V), T),
    holdsAt(withinArea(V, fishing)=true, T).

terminatedAt(trawlingMovement(V)=true, T) :-
    happensAt(end(withinArea(V, fishing)=true), T).

fi(trawlingMovement(V)=true, trawlingMovement(V)=false, Time) :-
    threshold(trawlingCrs, Time).
p(trawlingMovement(_)=true).

grounding(trawling(V)=true) :- sailing(V), ofType(V, fishing).

holdsFor(trawling(V)=true, I) :-
    holdsFor(trawlSpeed(V)=true, Speed),
    holdsFor(trawlingMovement(V)=true, Movement),
    intersect_all([Speed, Movement], Both),
    threshold(trawlingTime, Time),
    intDurGreater(Both, Time, I).

% ---- Search and rescue: a rescue vessel keeps up speed and keeps turning or changing speed ----

grounding(sarSpeed(V)=true) :- sailing(V), ofType(V, sar).

initiatedAt(sarSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(sarMinSpeed, Min),
    Speed > Min.

terminatedAt(sarSpeed(V)=true, T) :-
    happensAt(velocity(V, Speed, _, _), T),
    threshold(sarMinSpeed, Min),
    inRange(Speed, 0, Min).

terminatedAt(sarSpeed(V)=true, T) :-
    happensAt(start(gap(V)=_), T).

grounding(sarMovement(V)=true)  :- sailing(V), ofType(V, sar).
grounding(sarMovement(V)=false) :- sailing(V), ofType(V, sar).

initiatedAt(sarMovement(V)=true, T) :-
    happensAt(change_in_heading(V), T).

initiatedAt(sarMovement(V)=true, T) :-
    happensAt(start(changingSpeed(V)=true), T).

terminatedAt(sarMovement(V)=true, T) :-
    happensAt(start(gap(V)=_), T).

fi(sarMovement(V)=true, sarMovement(V)=false, Time) :-
    threshold(sarMovementTime, Time).
p(sarMovement(_)=true).

grounding(inSAR(V)=true) :- sailing(V), ofType(V, sar).

holdsFor(inSAR(V)=true, I) :-
    holdsFor(sarSpeed(V)=true, Speed),
    holdsFor(sarMovement(V)=true, Movement),
    intersect_all([Speed, Movement], Both),
    threshold(inSARTime, Time),
    intDurGreater(Both, Time, I).

% ---- Loitering: slow or stopped for long, away from the coast and not anchored or moored ----

grounding(loitering(V)=true) :- sailing(V).

holdsFor(loitering(V)=true, I) :-
    holdsFor(lowSpeed(V)=true, Low),
    holdsFor(stopped(V)=farFromPorts, Stopped),
    union_all([Low, Stopped], Slow),
    holdsFor(withinArea(V, nearCoast)=true, Coast),
    holdsFor(anchoredOrMoored(V)=true, Anchored),
    relative_complement_all(Slow, [Coast, Anchored], Idle),
    threshold(loiteringTime, Time),
    intDurGreater(Idle, Time, I).

% ---- Pilot operations: a pilot vessel and another vessel are close, slow or stopped, off the coast ----

grounding(pilotOps(V1, V2)=true) :- neighbours(V1, V2).

holdsFor(pilotOps(V1, V2)=true, I) :-
    holdsFor(proximity(V1, V2)=true, Near),
    oneIsPilot(V1, V2),
    holdsFor(lowSpeed(V1)=true, Low1),
    holdsFor(stopped(V1)=farFromPorts, Stopped1),
    union_all([Low1, Stopped1], Slow1),
    holdsFor(lowSpeed(V2)=true, Low2),
    holdsFor(stopped(V2)=farFromPorts, Stopped2),
    union_all([Low2, Stopped2], Slow2),
    intersect_all([Slow1, Slow2, Near], Together),
    holdsFor(withinArea(V1, nearCoast)=true, Coast1),
    holdsFor(withinArea(V2, nearCoast)=true, Coast2),
    relative_complement_all(Together, [Coast1, Coast2], I).

% ==== Patterns of two situations, compared by an Allen relation ====
% Two periods meet if they share exactly one time-point; one is before the other also if they are adjacent.

% ---- Gaps ----

% The vessel falls silent far from ports in the moment in which it leaves an area of the kind.
grounding(disappearedInArea(V, Kind)=true) :- sailing(V), areaKind(Kind).

holdsFor(disappearedInArea(V, Kind)=true, I) :-
    holdsFor(withinArea(V, Kind)=true, Inside),
    holdsFor(gap(V)=farFromPorts, Gap),
    allen(meets, Inside, Gap, union, I).

% A stop far from ports meets a communication gap.
grounding(stoppedMeetsGap(V)=true) :- sailing(V).

holdsFor(stoppedMeetsGap(V)=true, I) :-
    holdsFor(stopped(V)=farFromPorts, Stopped),
    holdsFor(gap(V)=farFromPorts, Gap),
    allen(meets, Stopped, Gap, union, I).

% One of two vessels is silent for a while in the middle of being near the other.
grounding(suspiciousRendezVous(V1, V2)=true) :- neighbours(V1, V2).

holdsFor(suspiciousRendezVous(V1, V2)=true, I) :-
    holdsFor(proximity(V1, V2)=true, Near),
    holdsFor(gap(V1)=nearPorts, PortGap1),
    holdsFor(gap(V1)=farFromPorts, SeaGap1),
    holdsFor(gap(V2)=nearPorts, PortGap2),
    holdsFor(gap(V2)=farFromPorts, SeaGap2),
    union_all([PortGap1, SeaGap1, PortGap2, SeaGap2], Gap),
    allen(during, Gap, Near, source, I).

% ---- Stops ----

% The vessel stops, far from ports, in the middle of its stay in an area of the kind.
grounding(stoppedWithinArea(V, Kind)=true) :- sailing(V), areaKind(Kind).

holdsFor(stoppedWithinArea(V, Kind)=true, I) :-
    holdsFor(stopped(V)=farFromPorts, Stopped),
    holdsFor(withinArea(V, Kind)=true, Inside),
    allen(during, Stopped, Inside, source, I).

% The vessel is anchored or moored for exactly one stop in an anchorage far from ports.
grounding(anchoredFarFromPorts(V)=true) :- sailing(V).

holdsFor(anchoredFarFromPorts(V)=true, I) :-
    holdsFor(anchoredOrMoored(V)=true, Anchored),
    holdsFor(stopped(V)=farFromPorts, Stopped),
    holdsFor(withinArea(V, anchorage)=true, Inside),
    intersect_all([Stopped, Inside], StoppedInside),
    allen(equal, Anchored, StoppedInside, source, I).

% The vessel is anchored or moored for exactly one stop near a port.
grounding(anchoredNearPorts(V)=true) :- sailing(V).

holdsFor(anchoredNearPorts(V)=true, I) :-
    holdsFor(anchoredOrMoored(V)=true, Anchored),
    holdsFor(stopped(V)=nearPorts, Stopped),
    allen(equal, Anchored, Stopped, source, I).

% ---- Speed ----

% The vessel drifts some time after a period of high speed near the coast.
grounding(highSpeedNCBeforeDrifting(V)=true) :- sailing(V).

holdsFor(highSpeedNCBeforeDrifting(V)=true, I) :-
    holdsFor(highSpeedNearCoast(V)=true, Fast),
    holdsFor(drifting(V)=true, Drifting),
    allen(before, Fast, Drifting, union, I).

% The vessel begins to drift while it is too fast near the coast.
grounding(dangerNearCoast(V)=true) :- sailing(V).

holdsFor(dangerNearCoast(V)=true, I) :-
    holdsFor(highSpeedNearCoast(V)=true, Fast),
    holdsFor(drifting(V)=true, Drifting),
    allen(overlaps, Fast, Drifting, union, I).

% The speed passes from below the usual range into it.
grounding(gainingSpeed(V)=true) :- sailing(V).

holdsFor(gainingSpeed(V)=true, I) :-
    holdsFor(movingSpeed(V)=below, Below),
    holdsFor(movingSpeed(V)=normal, Normal),
    allen(meets, Below, Normal, union, I).

% A period of too high speed begins with a change of speed; what follows the change counts.
grounding(speedChangeAbove(V)=true) :- sailing(V).

holdsFor(speedChangeAbove(V)=true, I) :-
    holdsFor(changingSpeed(V)=true, Changing),
    holdsFor(movingSpeed(V)=above, Above),
    allen(starts, Changing, Above, relative_complement_inverse, I).

% One of two vessels is too fast when they come near each other.
grounding(collisionDanger(V1, V2)=true) :- neighbours(V1, V2).

holdsFor(collisionDanger(V1, V2)=true, I) :-
    holdsFor(proximity(V1, V2)=true, Near),
    holdsFor(movingSpeed(V1)=above, Fast1),
    holdsFor(movingSpeed(V2)=above, Fast2),
    union_all([Fast1, Fast2], Fast),
    allen(overlaps, Fast, Near, intersection, I).

% A period of low speed is the beginning, the end or the whole of being under way.
grounding(movingSpeedStartsUnderway(V)=below)   :- sailing(V).
grounding(movingSpeedFinishesUnderway(V)=below) :- sailing(V).
grounding(movingSpeedEqualUnderway(V)=below)    :- sailing(V).

holdsFor(movingSpeedStartsUnderway(V)=Speed, I) :-
    holdsFor(movingSpeed(V)=Speed, Moving),
    holdsFor(underWay(V)=true, UnderWay),
    allen(starts, Moving, UnderWay, source, I).

holdsFor(movingSpeedFinishesUnderway(V)=Speed, I) :-
    holdsFor(movingSpeed(V)=Speed, Moving),
    holdsFor(underWay(V)=true, UnderWay),
    allen(finishes, Moving, UnderWay, source, I).

holdsFor(movingSpeedEqualUnderway(V)=Speed, I) :-
    holdsFor(movingSpeed(V)=Speed, Moving),
    holdsFor(underWay(V)=true, UnderWay),
    allen(equal, Moving, UnderWay, source, I).

% ---- Joint operations and the time the two vessels are near each other ----

% Tugging is the beginning, the end or the whole of a period of proximity.
grounding(tuggingStartsProximity(V1, V2)=true)   :- neighbours(V1, V2).
grounding(tuggingFinishesProximity(V1, V2)=true) :- neighbours(V1, V2).
grounding(tuggingEqualProximity(V1, V2)=true)    :- neighbours(V1, V2).

holdsFor(tuggingStartsProximity(V1, V2)=true, I) :-
    holdsFor(tugging(V1, V2)=true, Tugging),
    holdsFor(proximity(V1, V2)=true, Near),
    allen(starts, Tugging, Near, source, I).

holdsFor(tuggingFinishesProximity(V1, V2)=true, I) :-
    holdsFor(tugging(V1, V2)=true, Tugging),
    holdsFor(proximity(V1, V2)=true, Near),
    allen(finishes, Tugging, Near, source, I).

holdsFor(tuggingEqualProximity(V1, V2)=true, I) :-
    holdsFor(tugging(V1, V2)=true, Tugging),
    holdsFor(proximity(V1, V2)=true, Near),
    allen(equal, Tugging, Near, source, I).

% The same for a rendez-vous.
grounding(rendezVousStartsProximity(V1, V2)=true)   :- neighbours(V1, V2).
grounding(rendezVousFinishesProximity(V1, V2)=true) :- neighbours(V1, V2).
grounding(rendezVousEqualProximity(V1, V2)=true)    :- neighbours(V1, V2).

holdsFor(rendezVousStartsProximity(V1, V2)=true, I) :-
    holdsFor(rendezVous(V1, V2)=true, Meeting),
    holdsFor(proximity(V1, V2)=true, Near),
    allen(starts, Meeting, Near, source, I).

holdsFor(rendezVousFinishesProximity(V1, V2)=true, I) :-
    holdsFor(rendezVous(V1, V2)=true, Meeting),
    holdsFor(proximity(V1, V2)=true, Near),
    allen(finishes, Meeting, Near, source, I).

holdsFor(rendezVousEqualProximity(V1, V2)=true, I) :-
    holdsFor(rendezVous(V1, V2)=true, Meeting),
    holdsFor(proximity(V1, V2)=true, Near),
    allen(equal, Meeting, Near, source, I).

% The same for pilot operations.
grounding(pilotOpsStartsProximity(V1, V2)=true)   :- neighbours(V1, V2).
grounding(pilotOpsFinishesProximity(V1, V2)=true) :- neighbours(V1, V2).
grounding(pilotOpsEqualProximity(V1, V2)=true)    :- neighbours(V1, V2).

holdsFor(pilotOpsStartsProximity(V1, V2)=true, I) :-
    holdsFor(pilotOps(V1, V2)=true, Pilot),
    holdsFor(proximity(V1, V2)=true, Near),
    allen(starts, Pilot, Near, source, I).

holdsFor(pilotOpsFinishesProximity(V1, V2)=true, I) :-
    holdsFor(pilotOps(V1, V2)=true, Pilot),
    holdsFor(proximity(V1, V2)=true, Near),
    allen(finishes, Pilot, Near, source, I).

holdsFor(pilotOpsEqualProximity(V1, V2)=true, I) :-
    holdsFor(pilotOps(V1, V2)=true, Pilot),
    holdsFor(proximity(V1, V2)=true, Near),
    allen(equal, Pilot, Near, source, I).

% One of two vessels drifts before, while and after they are tugging.
grounding(driftingWhileTugging(V1, V2)=true) :- neighbours(V1, V2).

holdsFor(driftingWhileTugging(V1, V2)=true, I) :-
    holdsFor(tugging(V1, V2)=true, Tugging),
    holdsFor(drifting(V1)=true, Drifting1),
    holdsFor(drifting(V2)=true, Drifting2),
    union_all([Drifting1, Drifting2], Drifting),
    allen(during, Tugging, Drifting, union, I).

% ---- Trips: port, then fishing, then port again ----

% The vessel is near a port, later in a fishing area, later near a port.
grounding(fishingTripInArea(V)=true) :- sailing(V).

holdsFor(fishingTripInArea(V)=true, I) :-
    holdsFor(withinArea(V, nearPorts)=true, Port),
    holdsFor(withinArea(V, fishing)=true, Fishing),
    allen(before, Port, Fishing, union, Outward),
    allen(before, Outward, Port, union, I).

% The vessel is near a port, later trawls, later is near a port.
grounding(fishingTripTrawling(V)=true) :- sailing(V).

holdsFor(fishingTripTrawling(V)=true, I) :-
    holdsFor(withinArea(V, nearPorts)=true, Port),
    holdsFor(trawling(V)=true, Trawling),
    allen(before, Port, Trawling, union, Outward),
    allen(before, Outward, Port, union, I).
