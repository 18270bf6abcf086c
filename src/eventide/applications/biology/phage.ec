% The phage infection as a feedback loop of four variables: cI, cro, cII and n.
% Each variable has a level and a target; the level moves towards the target, one step at a time, after a delay.
%
% Input event: init(Variable, Level) at time-point 0, one for each variable. Run from before 0.

% ---- Variables: levels, delays of an increase and of a decrease ----

level(cI, 0).
level(cI, 1).
level(cI, 2).
level(cro, 0).
level(cro, 1).
level(cro, 2).
level(cro, 3).
level(cII, 0).
level(cII, 1).
level(n, 0).
level(n, 1).

delay(cI, 3, 4).
delay(cro, 1, 1).
delay(cII, 1, 2).
delay(n, 1, 2).

% ---- Targets: follow the levels at once, so they look at the levels that hold after T ----

grounding(f(X)=W) :- level(X, W).

% cI grows only without cro.
initiatedAt(f(cI)=2, T) :-
    happensAt(becomes(cro, 0), T).

initiatedAt(f(cI)=0, T) :-
    happensAt(becomes(cro, Cro), T),
    Cro > 0.

% Much cI stops cro, which otherwise stays at its highest two levels.
initiatedAt(f(cro)=0, T) :-
    happensAt(becomes(cI, 2), T).

initiatedAt(f(cro)=2, T) :-
    happensAt(becomes(cro, 3), T),
    happensAt(becomes(cI, CI), T),
    CI < 2.

initiatedAt(f(cro)=3, T) :-
    happensAt(becomes(cro, Cro), T),
    Cro < 3,
    happensAt(becomes(cI, CI), T),
    CI < 2.

% cII needs n, and neither much cI nor much cro.
initiatedAt(f(cII)=1, T) :-
    happensAt(becomes(n, 1), T),
    happensAt(becomes(cI, CI), T),
    CI < 2,
    happensAt(becomes(cro, Cro), T),
    Cro < 3.

initiatedAt(f(cII)=0, T) :-
    happensAt(becomes(n, 0), T).

initiatedAt(f(cII)=0, T) :-
    happensAt(becomes(cI, 2), T).

initiatedAt(f(cII)=0, T) :-
    happensAt(becomes(cro, 3), T).

% n needs little cro and no cI.
initiatedAt(f(n)=1, T) :-
    happensAt(becomes(cI, 0), T),
    happensAt(becomes(cro, Cro), T),
    Cro < 2.

initiatedAt(f(n)=0, T) :-
    happensAt(becomes(cI, CI), T),
    CI > 0.

initiatedAt(f(n)=0, T) :-
    happensAt(becomes(cro, Cro), T),
    Cro > 1.

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
