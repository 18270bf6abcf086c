% Safety in a city during large events: parking, congested and free roads, air, access, and when to add security.
%
% Background relation:
%   area(Area)                               the known areas
%
% All conditions of a rule meet at one time-point; what they mean is remembered for the time of the window. The events
% named ...Now are what is derived at a time-point, the fluents are what is remembered.

% ---- Input ----

grounding(culturalEvent(L))       :- area(L).
grounding(parkingCapacity(L, _))  :- area(L).
grounding(averageSpeed(L, _))     :- area(L).
grounding(closedRoad(L))          :- area(L).
grounding(crowdedEvent(L))        :- area(L).

dynamicDomain(level(_)).
grounding(pollution(P))           :- level(P).

% ---- Limits: free places, speed, level of pollution; for how many time-points a fact is remembered ----

limit(parkingCapacity, 20).
limit(averageSpeed, 20).
limit(pollution, 50).
limit(window, 60).

% ---- Limited parking: an event, and few free places ----

happensAt(limitedParkingNow(L), T) :-
    happensAt(culturalEvent(L), T),
    happensAt(parkingCapacity(L, Capacity), T),
    limit(parkingCapacity, Most),
    Capacity =< Most,
    area(L).

grounding(limitedParking(L)=true)  :- area(L).
grounding(limitedParking(L)=false) :- area(L).
initiatedAt(limitedParking(L)=true, T) :- happensAt(limitedParkingNow(L), T).
fi(limitedParking(L)=true, limitedParking(L)=false, Time) :- limit(window, Time).
p(limitedParking(_)=true).

% ---- Congested road: slow traffic ----

happensAt(congestedRoadNow(L), T) :-
    happensAt(averageSpeed(L, Speed), T),
    limit(averageSpeed, Most),
    Speed =< Most,
    area(L).

grounding(congestedRoad(L)=true)  :- area(L).
grounding(congestedRoad(L)=false) :- area(L).
initiatedAt(congestedRoad(L)=true, T) :- happensAt(congestedRoadNow(L), T).
fi(congestedRoad(L)=true, congestedRoad(L)=false, Time) :- limit(window, Time).
p(congestedRoad(_)=true).

% ---- Congested by the event: both at once ----

happensAt(congestedRoadActivityNow(L), T) :-
    happensAt(limitedParkingNow(L), T),
    happensAt(congestedRoadNow(L), T).

grounding(congestedRoadActivity(L)=true)  :- area(L).
grounding(congestedRoadActivity(L)=false) :- area(L).
initiatedAt(congestedRoadActivity(L)=true, T) :- happensAt(congestedRoadActivityNow(L), T).
fi(congestedRoadActivity(L)=true, congestedRoadActivity(L)=false, Time) :- limit(window, Time).
p(congestedRoadActivity(_)=true).

% ---- Free road: closed to traffic ----

happensAt(freeRoadActivityNow(L), T) :-
    happensAt(closedRoad(L), T),
    area(L).

grounding(freeRoadActivity(L)=true)  :- area(L).
grounding(freeRoadActivity(L)=false) :- area(L).
initiatedAt(freeRoadActivity(L)=true, T) :- happensAt(freeRoadActivityNow(L), T).
fi(freeRoadActivity(L)=true, freeRoadActivity(L)=false, Time) :- limit(window, Time).
p(freeRoadActivity(_)=true).

% ---- Contradiction: a road cannot be free and congested; other answers given meanwhile are not to be trusted ----

happensAt(contradictionNow(L), T) :-
    happensAt(freeRoadActivityNow(L), T),
    happensAt(congestedRoadActivityNow(L), T).

grounding(contradiction(L)=true)  :- area(L).
grounding(contradiction(L)=false) :- area(L).
initiatedAt(contradiction(L)=true, T) :- happensAt(contradictionNow(L), T).
fi(contradiction(L)=true, contradiction(L)=false, Time) :- limit(window, Time).
p(contradiction(_)=true).

% ---- High emission: much pollution, measured for the whole city ----

happensAt(highEmissionZoneNow(P), T) :-
    happensAt(pollution(P), T),
    limit(pollution, Least),
    P >= Least.

grounding(highEmissionZone(P)=true)  :- level(P).
grounding(highEmissionZone(P)=false) :- level(P).
initiatedAt(highEmissionZone(P)=true, T) :- happensAt(highEmissionZoneNow(P), T).
fi(highEmissionZone(P)=true, highEmissionZone(P)=false, Time) :- limit(window, Time).
p(highEmissionZone(_)=true).

% ---- Poor air: congested by the event, and much pollution ----

happensAt(poorAirQualityNow(L), T) :-
    happensAt(congestedRoadActivityNow(L), T),
    happensAt(highEmissionZoneNow(_), T).

grounding(poorAirQuality(L)=true)  :- area(L).
grounding(poorAirQuality(L)=false) :- area(L).
initiatedAt(poorAirQuality(L)=true, T) :- happensAt(poorAirQualityNow(L), T).
fi(poorAirQuality(L)=true, poorAirQuality(L)=false, Time) :- limit(window, Time).
p(poorAirQuality(_)=true).

% ---- Limited access: congested by the event ----

happensAt(limitedAccessAreaNow(L), T) :-
    happensAt(congestedRoadActivityNow(L), T).

grounding(limitedAccessArea(L)=true)  :- area(L).
grounding(limitedAccessArea(L)=false) :- area(L).
initiatedAt(limitedAccessArea(L)=true, T) :- happensAt(limitedAccessAreaNow(L), T).
fi(limitedAccessArea(L)=true, limitedAccessArea(L)=false, Time) :- limit(window, Time).
p(limitedAccessArea(_)=true).

% ---- More security: limited access, a crowd, and much pollution ----

happensAt(increaseSecurityNow(L), T) :-
    happensAt(congestedRoadActivityNow(L), T),
    happensAt(limitedAccessAreaNow(L), T),
    happensAt(crowdedEvent(L), T),
    happensAt(highEmissionZoneNow(_), T).

grounding(increaseSecurity(L)=true)  :- area(L).
grounding(increaseSecurity(L)=false) :- area(L).
initiatedAt(increaseSecurity(L)=true, T) :- happensAt(increaseSecurityNow(L), T).
fi(increaseSecurity(L)=true, increaseSecurity(L)=false, Time) :- limit(window, Time).
p(increaseSecurity(_)=true).
