% Activities in a public space: who is a person, who leaves an object, who meets, moves together or fights.
% Neighbouring time-points are one video frame (40 ms) apart: run with a tick of 40.

% ---- Input: tracked ids, a label per frame, a pixel position per frame ----

% The ids are those that appeared or disappeared.
dynamicDomain(id(_)).

grounding(appear(Id))    :- id(Id).
grounding(disappear(Id)) :- id(Id).

points(walking(_)=true).
points(running(_)=true).
points(active(_)=true).
points(inactive(_)=true).
points(abrupt(_)=true).
points(coord(_, _, _)=true).
points(orientation(_)=_).
points(appearance(_)=_).

buildFromPoints(walking(_)=true).
buildFromPoints(running(_)=true).
buildFromPoints(active(_)=true).
buildFromPoints(inactive(_)=true).
buildFromPoints(abrupt(_)=true).

% Pairs are taken in alphabetical order only.
pair(A, B) :- id(A), id(B), A @< B.

% ---- Close: two positions in the same frame are at most so many pixels apart ----

limit(24).
limit(25).
limit(30).
limit(34).

happensAt(near(A, B, Limit), T) :-
    holdsAt(coord(A, X1, Y1)=true, T),
    holdsAt(coord(B, X2, Y2)=true, T),
    A @< B,
    Squared is (X1 - X2) * (X1 - X2) + (Y1 - Y2) * (Y1 - Y2),
    Squared =< 34 * 34,
    limit(Limit),
    Squared =< Limit * Limit.

buildFromPoints(close_24(A, B)=true, near(A, B, 24)).
buildFromPoints(close_25(A, B)=true, near(A, B, 25)).
buildFromPoints(close_30(A, B)=true, near(A, B, 30)).
buildFromPoints(close_34(A, B)=true, near(A, B, 34)).

grounding(close_24(A, B)=true)  :- pair(A, B).
grounding(close_25(A, B)=true)  :- pair(A, B).
grounding(close_30(A, B)=true)  :- pair(A, B).
grounding(close_34(A, B)=true)  :- pair(A, B).
grounding(close_34(A, B)=false) :- pair(A, B).

holdsFor(close_34(A, B)=false, I) :-
    holdsFor(close_34(A, B)=true, Close),
    complement_all([Close], I).

grounding(closeSymmetric_30(A, B)=true) :- pair(A, B).

holdsFor(closeSymmetric_30(A, B)=true, I) :-
    holdsFor(close_30(A, B)=true, OneWay),
    holdsFor(close_30(B, A)=true, OtherWay),
    union_all([OneWay, OtherWay], I).

% ---- Person: an id that has moved by itself, until it disappears ----

grounding(person(P)=true) :- id(P).

initiatedAt(person(P)=true, T) :-
    happensAt(start(walking(P)=true), T),
    \+ happensAt(disappear(P), T).

initiatedAt(person(P)=true, T) :-
    happensAt(start(running(P)=true), T),
    \+ happensAt(disappear(P), T).

initiatedAt(person(P)=true, T) :-
    happensAt(start(active(P)=true), T),
    \+ happensAt(disappear(P), T).

initiatedAt(person(P)=true, T) :-
    happensAt(start(abrupt(P)=true), T),
    \+ happensAt(disappear(P), T).

terminatedAt(person(P)=true, T) :-
    happensAt(disappear(P), T).

% ---- Leaving an object: something inactive appears close to a person ----

grounding(leaving_object(P, Object)=true) :- pair(P, Object).

initiatedAt(leaving_object(P, Object)=true, T) :-
    happensAt(appear(Object), T),
    holdsAt(inactive(Object)=true, T),
    holdsAt(person(P)=true, T),
    holdsAt(closeSymmetric_30(P, Object)=true, T).

terminatedAt(leaving_object(_, Object)=true, T) :-
    happensAt(disappear(Object), T).

% ---- Greeting: one stands close to the other, who is a person ----

grounding(activeOrInactivePerson(P)=true) :- id(P).

holdsFor(activeOrInactivePerson(P)=true, I) :-
    holdsFor(active(P)=true, Active),
    holdsFor(inactive(P)=true, Inactive),
    holdsFor(person(P)=true, Person),
    intersect_all([Inactive, Person], InactivePerson),
    union_all([Active, InactivePerson], I).

grounding(greeting1(A, B)=true) :- pair(A, B).

holdsFor(greeting1(A, B)=true, I) :-
    holdsFor(activeOrInactivePerson(A)=true, Standing),
    holdsFor(close_25(A, B)=true, Close),
    holdsFor(person(B)=true, Person),
    intersect_all([Standing, Close, Person], Greeting),
    holdsFor(running(B)=true, Running),
    holdsFor(abrupt(B)=true, Abrupt),
    relative_complement_all(Greeting, [Running, Abrupt], I).

% Never recognised: close_25 exists for one order of each pair only.
grounding(greeting2(A, B)=true) :- pair(A, B).

holdsFor(greeting2(A, B)=true, I) :-
    holdsFor(walking(A)=true, Walking),
    holdsFor(activeOrInactivePerson(B)=true, Standing),
    holdsFor(close_25(B, A)=true, Close),
    intersect_all([Walking, Standing, Close], I).

% ---- Meeting: from a greeting until one runs, moves abruptly, goes away or disappears ----

grounding(meeting(A, B)=true) :- pair(A, B).

initiatedAt(meeting(A, B)=true, T) :-
    happensAt(start(greeting1(A, B)=true), T),
    \+ happensAt(disappear(A), T),
    \+ happensAt(disappear(B), T).

initiatedAt(meeting(A, B)=true, T) :-
    happensAt(start(greeting2(A, B)=true), T),
    \+ happensAt(disappear(A), T),
    \+ happensAt(disappear(B), T).

terminatedAt(meeting(A, _)=true, T) :- happensAt(start(running(A)=true), T).
terminatedAt(meeting(_, B)=true, T) :- happensAt(start(running(B)=true), T).
terminatedAt(meeting(A, _)=true, T) :- happensAt(start(abrupt(A)=true), T).
terminatedAt(meeting(_, B)=true, T) :- happensAt(start(abrupt(B)=true), T).
terminatedAt(meeting(A, B)=true, T) :- happensAt(start(close_34(A, B)=false), T).
terminatedAt(meeting(A, _)=true, T) :- happensAt(disappear(A), T).
terminatedAt(meeting(_, B)=true, T) :- happensAt(disappear(B), T).

% ---- Moving together: both walk, close to each other ----

grounding(moving(A, B)=true) :- pair(A, B).

holdsFor(moving(A, B)=true, I) :-
    holdsFor(walking(A)=true, WalkingA),
    holdsFor(walking(B)=true, WalkingB),
    holdsFor(close_34(A, B)=true, Close),
    intersect_all([WalkingA, WalkingB, Close], I).

% ---- Fighting: one moves abruptly close to the other, and neither is inactive ----

grounding(fighting(A, B)=true) :- pair(A, B).

holdsFor(fighting(A, B)=true, I) :-
    holdsFor(abrupt(A)=true, AbruptA),
    holdsFor(abrupt(B)=true, AbruptB),
    union_all([AbruptA, AbruptB], Abrupt),
    holdsFor(close_34(A, B)=true, Close),
    intersect_all([Abrupt, Close], AbruptClose),
    holdsFor(inactive(A)=true, InactiveA),
    holdsFor(inactive(B)=true, InactiveB),
    relative_complement_all(AbruptClose, [InactiveA, InactiveB], I).
