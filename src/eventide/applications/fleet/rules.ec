% Fleet management: speeding, dangerous and uneconomic driving, and when to refuel. Time is in seconds.
%
% Background relations:
%   vehicleType(Vehicle, Type)
%   speedLimit(Type, Limit)
%   tankSize(Type, Litres)

% ---- Input ----

% Vehicles are those whose movement is reported.
dynamicDomain(vehicle(_)).

grounding(moving(V, _Speed)) :- vehicle(V).
grounding(notMoving(V))      :- vehicle(V).
grounding(stopped(V))        :- vehicle(V).

limitOf(V, Limit) :- vehicleType(V, Type), speedLimit(Type, Limit).

halfTank(V, Half) :- vehicleType(V, Type), tankSize(Type, Tank), Half is Tank / 2.0.

% ---- Over speeding: faster than the limit of the vehicle's type ----

grounding(overSpeeding(V)=true) :- vehicle(V).

initiatedAt(overSpeeding(V)=true, T) :-
    happensAt(moving(V, Speed), T),
    limitOf(V, Limit),
    Speed > Limit.

terminatedAt(overSpeeding(V)=true, T) :-
    happensAt(moving(V, Speed), T),
    limitOf(V, Limit),
    Speed =< Limit.

terminatedAt(overSpeeding(V)=true, T) :- happensAt(notMoving(V), T).
terminatedAt(overSpeeding(V)=true, T) :- happensAt(stopped(V), T).

% ---- Dangerous driving: an abrupt manoeuvre or ice while speeding, until the vehicle stands ----

grounding(dangerousDriving(V)=true) :- vehicle(V).

initiatedAt(dangerousDriving(V)=true, T) :-
    happensAt(acceleration(V), T),
    holdsAt(overSpeeding(V)=true, T).

initiatedAt(dangerousDriving(V)=true, T) :-
    happensAt(braking(V), T),
    holdsAt(overSpeeding(V)=true, T).

initiatedAt(dangerousDriving(V)=true, T) :-
    happensAt(cornering(V), T),
    holdsAt(overSpeeding(V)=true, T).

initiatedAt(dangerousDriving(V)=true, T) :-
    happensAt(ice(V), T),
    holdsAt(overSpeeding(V)=true, T).

terminatedAt(dangerousDriving(V)=true, T) :- happensAt(notMoving(V), T).
terminatedAt(dangerousDriving(V)=true, T) :- happensAt(stopped(V), T).

% ---- Uneconomic driving: speeding with less than half a tank ----

grounding(notEconomicDriving(V)=true) :- vehicle(V).

initiatedAt(notEconomicDriving(V)=true, T) :-
    happensAt(fuelLevel(V, Level), T),
    halfTank(V, Half),
    Level < Half,
    holdsAt(overSpeeding(V)=true, T).

terminatedAt(notEconomicDriving(V)=true, T) :-
    happensAt(fuelLevel(V, Level), T),
    halfTank(V, Half),
    Level >= Half,
    \+ holdsAt(overSpeeding(V)=true, T).

terminatedAt(notEconomicDriving(V)=true, T) :- happensAt(notMoving(V), T).
terminatedAt(notEconomicDriving(V)=true, T) :- happensAt(stopped(V), T).

% ---- Refuelling is advisable: near a petrol station after uneconomic driving, until the tank is half full ----

grounding(reFuel(V)=true) :- vehicle(V).

initiatedAt(reFuel(V)=true, T) :-
    happensAt(closeToGas(V), T),
    holdsAt(notEconomicDriving(V)=true, T).

terminatedAt(reFuel(V)=true, T) :-
    happensAt(fuelLevel(V, Level), T),
    halfTank(V, Half),
    Level >= Half.
