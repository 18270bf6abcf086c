% City transport: punctuality, driving style and quality, comfort and satisfaction of public vehicles.

% ---- Input ----

dynamicDomain(vehicle(_, _)).

% Status is early, scheduled or late.
grounding(stop_enter(Id, Type, _Stop, _Status)) :- vehicle(Id, Type).
grounding(stop_leave(Id, Type, _Stop, _Status)) :- vehicle(Id, Type).

grounding(passenger_density_change(Id, Type, _Level))       :- vehicle(Id, Type).
grounding(noise_level_change(Id, Type, _Level))             :- vehicle(Id, Type).
grounding(internal_temperature_change(Id, Type, _Level))    :- vehicle(Id, Type).

grounding(sharp_turn(Id, Type)=Degree)          :- vehicle(Id, Type), turn(Degree).
grounding(abrupt_acceleration(Id, Type)=Degree) :- vehicle(Id, Type), manoeuvre(Degree).
grounding(abrupt_deceleration(Id, Type)=Degree) :- vehicle(Id, Type), manoeuvre(Degree).

turn(sharp).
turn(very_sharp).
manoeuvre(abrupt).
manoeuvre(very_abrupt).

collectIntervals(sharp_turn(_, _)=sharp).
collectIntervals(sharp_turn(_, _)=very_sharp).
collectIntervals(abrupt_acceleration(_, _)=abrupt).
collectIntervals(abrupt_acceleration(_, _)=very_abrupt).
collectIntervals(abrupt_deceleration(_, _)=abrupt).
collectIntervals(abrupt_deceleration(_, _)=very_abrupt).

% ---- Punctuality: from reaching a stop in time until reaching one late or leaving one early ----

grounding(punctuality(Id, Type)=punctual)     :- vehicle(Id, Type).
grounding(punctuality(Id, Type)=non_punctual) :- vehicle(Id, Type).

initially(punctuality(_, _)=punctual).

initiatedAt(punctuality(Id, Type)=punctual, T) :-
    happensAt(stop_enter(Id, Type, _, scheduled), T).

initiatedAt(punctuality(Id, Type)=punctual, T) :-
    happensAt(stop_enter(Id, Type, _, early), T).

terminatedAt(punctuality(Id, Type)=punctual, T) :-
    happensAt(stop_enter(Id, Type, _, late), T).

terminatedAt(punctuality(Id, Type)=punctual, T) :-
    happensAt(stop_leave(Id, Type, _, early), T).

holdsFor(punctuality(Id, Type)=non_punctual, I) :-
    holdsFor(punctuality(Id, Type)=punctual, Punctual),
    complement_all([Punctual], I).

% ---- Punctuality change: the value that begins when the other one ends ----

grounding(punctuality_change(Id, Type, Value)) :- vehicle(Id, Type), punctualityValue(Value).

punctualityValue(punctual).
punctualityValue(non_punctual).

happensAt(punctuality_change(Id, Type, non_punctual), T) :-
    happensAt(end(punctuality(Id, Type)=punctual), T).

happensAt(punctuality_change(Id, Type, punctual), T) :-
    happensAt(end(punctuality(Id, Type)=non_punctual), T).

% ---- Driving style: very abrupt manoeuvres are unsafe, abrupt ones uncomfortable ----

grounding(driving_style(Id, Type)=unsafe)        :- vehicle(Id, Type).
grounding(driving_style(Id, Type)=uncomfortable) :- vehicle(Id, Type).

holdsFor(driving_style(Id, Type)=unsafe, I) :-
    holdsFor(sharp_turn(Id, Type)=very_sharp, Turn),
    holdsFor(abrupt_acceleration(Id, Type)=very_abrupt, Acceleration),
    holdsFor(abrupt_deceleration(Id, Type)=very_abrupt, Deceleration),
    union_all([Turn, Acceleration, Deceleration], I).

holdsFor(driving_style(Id, Type)=uncomfortable, I) :-
    holdsFor(sharp_turn(Id, Type)=sharp, Turn),
    holdsFor(abrupt_acceleration(Id, Type)=very_abrupt, VeryAcceleration),
    holdsFor(abrupt_deceleration(Id, Type)=very_abrupt, VeryDeceleration),
    relative_complement_all(Turn, [VeryAcceleration, VeryDeceleration], TurnOnly),
    holdsFor(abrupt_acceleration(Id, Type)=abrupt, Acceleration),
    holdsFor(abrupt_deceleration(Id, Type)=abrupt, Deceleration),
    union_all([TurnOnly, Acceleration, Deceleration], I).

% ---- Driving quality: how punctuality and driving style go together ----

grounding(driving_quality(Id, Type)=high)   :- vehicle(Id, Type).
grounding(driving_quality(Id, Type)=medium) :- vehicle(Id, Type).
grounding(driving_quality(Id, Type)=low)    :- vehicle(Id, Type).

holdsFor(driving_quality(Id, Type)=high, I) :-
    holdsFor(punctuality(Id, Type)=punctual, Punctual),
    holdsFor(driving_style(Id, Type)=unsafe, Unsafe),
    holdsFor(driving_style(Id, Type)=uncomfortable, Uncomfortable),
    relative_complement_all(Punctual, [Unsafe, Uncomfortable], I).

holdsFor(driving_quality(Id, Type)=medium, I) :-
    holdsFor(punctuality(Id, Type)=punctual, Punctual),
    holdsFor(driving_style(Id, Type)=uncomfortable, Uncomfortable),
    intersect_all([Punctual, Uncomfortable], I).

holdsFor(driving_quality(Id, Type)=low, I) :-
    holdsFor(punctuality(Id, Type)=non_punctual, NonPunctual),
    holdsFor(driving_style(Id, Type)=unsafe, Unsafe),
    union_all([NonPunctual, Unsafe], I).

% ---- Sensors: only the values that reduce comfort are kept; vehicles begin at low, low and normal ----

grounding(passenger_density(Id, Type)=high) :- vehicle(Id, Type).

initiatedAt(passenger_density(Id, Type)=high, T) :-
    happensAt(passenger_density_change(Id, Type, high), T).

terminatedAt(passenger_density(Id, Type)=high, T) :-
    happensAt(passenger_density_change(Id, Type, low), T).

grounding(noise_level(Id, Type)=high) :- vehicle(Id, Type).

initiatedAt(noise_level(Id, Type)=high, T) :-
    happensAt(noise_level_change(Id, Type, high), T).

terminatedAt(noise_level(Id, Type)=high, T) :-
    happensAt(noise_level_change(Id, Type, low), T).

% A change to warm or cold is no return to normal: it ends nothing.
grounding(internal_temperature(Id, Type)=very_warm) :- vehicle(Id, Type).
grounding(internal_temperature(Id, Type)=very_cold) :- vehicle(Id, Type).

initiatedAt(internal_temperature(Id, Type)=very_warm, T) :-
    happensAt(internal_temperature_change(Id, Type, very_warm), T).

initiatedAt(internal_temperature(Id, Type)=very_cold, T) :-
    happensAt(internal_temperature_change(Id, Type, very_cold), T).

terminatedAt(internal_temperature(Id, Type)=_, T) :-
    happensAt(internal_temperature_change(Id, Type, normal), T).

% ---- Comfort: what reduces the comfort of passengers and of the driver ----

grounding(passenger_comfort(Id, Type)=reducing) :- vehicle(Id, Type).
grounding(driver_comfort(Id, Type)=reducing)    :- vehicle(Id, Type).

holdsFor(passenger_comfort(Id, Type)=reducing, I) :-
    holdsFor(driving_style(Id, Type)=uncomfortable, Uncomfortable),
    holdsFor(driving_style(Id, Type)=unsafe, Unsafe),
    holdsFor(passenger_density(Id, Type)=high, Crowded),
    holdsFor(noise_level(Id, Type)=high, Loud),
    holdsFor(internal_temperature(Id, Type)=very_warm, Warm),
    holdsFor(internal_temperature(Id, Type)=very_cold, Cold),
    union_all([Uncomfortable, Unsafe, Crowded, Loud, Warm, Cold], I).

holdsFor(driver_comfort(Id, Type)=reducing, I) :-
    holdsFor(driving_style(Id, Type)=uncomfortable, Uncomfortable),
    holdsFor(driving_style(Id, Type)=unsafe, Unsafe),
    holdsFor(noise_level(Id, Type)=high, Loud),
    holdsFor(internal_temperature(Id, Type)=very_warm, Warm),
    holdsFor(internal_temperature(Id, Type)=very_cold, Cold),
    union_all([Uncomfortable, Unsafe, Loud, Warm, Cold], I).

% ---- Satisfaction: reduced by delay and by discomfort ----

grounding(passenger_satisfaction(Id, Type)=reducing) :- vehicle(Id, Type).

holdsFor(passenger_satisfaction(Id, Type)=reducing, I) :-
    holdsFor(punctuality(Id, Type)=non_punctual, NonPunctual),
    holdsFor(passenger_comfort(Id, Type)=reducing, Discomfort),
    union_all([NonPunctual, Discomfort], I).
