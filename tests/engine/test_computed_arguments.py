"""Numbers that rules compute and then look up, and the time of a rule as an argument, a value or a term."""

from __future__ import annotations

import pytest
from tests.engine.agreeing import agreed

from eventide.syntax.event_calculus import parse

INTO = "initiatedAt(f(X)=true, T) :- happensAt(e1(X), T), "
EVENTS = (("e1", 2, 8), ("e1", 8, 8), ("e1", 1, 9), ("e0", 2, 9), ("e2", 1, 5, 9), ("e2", 2, 4, 8), ("e2", 9, 1, 9),
          ("e0", 1, 8), ("e1", 9, 11))

CASES = {
    "a computed number is an event's": INTO + "N is X + 1, happensAt(e0(N), T).",
    "and is not": INTO + "N is X + 1, \\+ happensAt(e0(N), T).",
    "inside of a negation": INTO + "\\+ (N is X + 1, happensAt(e0(N), T)).",
    "a number of answers is an event's":
    INTO + "findall(Y, happensAt(e2(X, Y), T), L), length(L, N), happensAt(e0(N), T).",
    "in a table": "q(2). q(5). " + INTO + "N is X + 1, q(N).",
    "computed twice": INTO + "N is X + 1, N is 2 * X.",
    "two computed numbers are one term": INTO + "N is X + 1, M is 2 * X, N == M.",
    "a fluent's value": "initiatedAt(g(X)=N, T) :- happensAt(e1(X), T), N is X * 2. " + INTO +
    "M is X * 2, holdsAt(g(X)=M, T).",
    "of statically determined fluents": INTO + "X > 0. holdsFor(h(X)=true, I) :- holdsFor(f(X)=true, I1), N is X + 1, "
    "holdsFor(f(N)=true, I2), intersect_all([I1, I2], I).",
    "the time is an event's": INTO + "happensAt(e2(X, _), T), happensAt(e2(T, _), T).",
    "the time is its own event's": "initiatedAt(f(X)=true, X) :- happensAt(e1(X), X).",
    "the time is not an event's": INTO + "\\+ happensAt(e2(T, _), T).",
    "the time in a negation": INTO + "\\+ (happensAt(e2(T, Y), T), happensAt(e1(Y), T)).",
    "the time in a table": "hour(9, a). hour(8, b). initiatedAt(f(X)=V, T) :- happensAt(e1(X), T), hour(T, V).",
    "the time in no table": "hour(9). " + INTO + "\\+ hour(T).",
    "the time in a head": "initiatedAt(f(X, T)=T, T) :- happensAt(e1(X), T).",
    "the time in an event's head": "happensAt(d(X, T), T) :- happensAt(e1(X), T).",
    "the time is a term": INTO + "X == T.",
    "the time is unified": INTO + "X = T.",
    "the time is another term": INTO + "X \\= T.",
    "the time in an order of terms": INTO + "X @< T.",
}


@pytest.mark.parametrize("events", [EVENTS, EVENTS[:3], EVENTS[3:4], ()], ids=["all", "e1", "e0", "none"])
@pytest.mark.parametrize("rules", CASES.values(), ids=CASES)
def test_numbers_that_are_looked_up(rules: str, events: tuple[tuple[str | int, ...], ...]) -> None:
    """Whichever inputs have facts."""
    assert parse(rules).rules
    agreed(rules, events, 20)
