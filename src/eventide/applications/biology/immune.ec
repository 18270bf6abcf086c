% The immune response as a feedback loop of two variables: helper cells h and suppressor cells s.
% Each variable has a level and a target; the level moves towards the target, one step at a time, after a delay.
%
% Input event: init(Variable, Level) at time-point 0, one for each variable. Run from before 0.

% ---- Variables: levels, delays of an increase and of a decrease ----

level(h, 0).
level(h, 1).
level(h, 2).
level(s, 0).
level(s, 1).
level(s, 2).

delay(h, 1, 1).
delay(s, 1, 2).

% target(Variable, LevelOfH, LevelOfS, Target)
target(h, 0, 0, 1).
target(h, 0, 1, 0).
target(h, 0, 2, 0).
target(h, 1, 0, 1).
target(h, 1, 1, 1).
target(h, 1, 2, 0).
target(h, 2, 0, 2).
target(h, 2, 1, 2).
target(h, 2, 2, 2).
target(s, 0, 0, 0).
target(s, 0, 1, 0).
target(s, 0, 2, 1).
target(s, 1, 0, 1).
target(s, 1, 1, 2).
target(s, 1, 2, 2).
target(s, 2, 0, 1).
target(s, 2, 1, 2).
target(s, 2, 2, 2).

% ---- Target: follows the levels at once, so it looks at the levels that hold after T ----

grounding(f(X)=W) :- level(X, W).

initiatedAt(f(X)=W, T) :-
    happensAt(becomes(h, H), T),
    happensAt(becomes(s, S), T),
    target(X, H, S, W).

% ---- Level: begins as given, then moves one step when an order is due, and on while it stays due ----

grounding(val(X)=V) :- level(X, V).

initiatedAt(val(X)=V, T) :-
    happensAt(init(X, V), T).

initiatedAt(val(X)=Next, T) :-
    initiatedAt(order(X, W)=due, T),
    holdsAt(val(X)=V, T),
    step(V, W, Next).

initiatedAt(val(X)=Next, T) :-
    happensAt(startI(val(X)=V), T),
    holdsAt(order(X, W)=due, T),
    step(V, W, Next).

step(V, W, Next) :- V < W, Next is V + 1.
step(V, W, Next) :- V > W, Next is V - 1.

% The levels after T, whenever some level changes at T.
happensAt(becomes(X, V), T) :-
    happensAt(start(val(X)=V), T).

happensAt(becomes(X, V), T) :-
    happensAt(start(val(_)=_), T),
    holdsAt(val(X)=V, T),
    \+ happensAt(end(val(X)=V), T).

% ---- Order: a new target off the level asks for a rise or a fall, due after the delay if the target stays ----

grounding(order(X, W)=rise) :- level(X, W).
grounding(order(X, W)=fall) :- level(X, W).
grounding(order(X, W)=due)  :- level(X, W).

initiatedAt(order(X, W)=rise, T) :-
    happensAt(start(f(X)=W), T),
    happensAt(becomes(X, V), T),
    V < W.

initiatedAt(order(X, W)=fall, T) :-
    happensAt(start(f(X)=W), T),
    happensAt(becomes(X, V), T),
    V > W.

terminatedAt(order(X, W)=_, T) :-
    happensAt(end(f(X)=W), T).

fi(order(X, W)=rise, order(X, W)=due, Delay) :- delay(X, Delay, _).
fi(order(X, W)=fall, order(X, W)=due, Delay) :- delay(X, _, Delay).
