"""Groundings: which arguments and which values of a fluent or an event are shown, in every kind of rule."""

from __future__ import annotations

import pytest
from tests.engine.agreeing import agreed

import eventide as ev

FACTS = "d(a). d(b). e(b). e(c). v(below). w(a, below). w(b, above). iv(a, below). iv(b, above). iv(c, below).\n"
EVENTS = (("set", "a", "below", 1), ("set", "b", "above", 3), ("set", "c", "below", 4), ("set", "a", "above", 5),
          ("set", "b", "below", 7), ("set", "z", "below", 8), ("set", "c", "above", 9), ("off", "a", 12),
          ("off", "b", 13), ("off", "c", 14), ("set", "a", "below", 20))
READ = "initiatedAt(sp(X)=V, T) :- happensAt(set(X, V), T). "
LOW, HIGH = "grounding(f(X)=below) :- d(X). ", "grounding(f(X)=above) :- e(X). "
SET_LOW = "initiatedAt(f(X)=below, T) :- happensAt(set(X, below), T). "
SET_HIGH = "initiatedAt(f(X)=above, T) :- happensAt(set(X, above), T). "
SET = "initiatedAt(f(X)=V, T) :- happensAt(set(X, V), T). "
COPY = "holdsFor(f(X)=V, I) :- holdsFor(sp(X)=V, I). "

CASES = {
    "a value of holdsFor is a variable": READ + LOW + COPY,
    "each value for other arguments": READ + LOW + HIGH + COPY,
    "the values are rows": READ + "grounding(f(X)=V) :- d(X), v(V). " + COPY,
    "arguments and values are rows": READ + "grounding(f(X)=V) :- w(X, V). " + COPY,
    "a constant that is not listed": READ + LOW + "holdsFor(f(X)=above, I) :- holdsFor(sp(X)=above, I). "
    "holdsFor(h(X)=true, I) :- holdsFor(f(X)=above, I).",
    "constants, each for other arguments": READ + LOW + HIGH +
    "holdsFor(f(X)=above, I) :- holdsFor(sp(X)=above, I). holdsFor(f(X)=below, I) :- holdsFor(sp(X)=below, I).",
    "one argument is open": "grounding(f(X, _)=on) :- d(X). initiatedAt(f(X, V)=on, T) :- happensAt(set(X, V), T).",
    "groundings bind different arguments": "grounding(f(X, _)=on) :- d(X). grounding(f(c, below)=on). "
    "initiatedAt(f(X, V)=on, T) :- happensAt(set(X, V), T). terminatedAt(f(X, _)=on, T) :- happensAt(off(X), T).",
    "one grounding is for all": "grounding(f(_)=on). grounding(f(X)=off) :- d(X). "
    "initiatedAt(f(X)=on, T) :- happensAt(set(X, _), T). initiatedAt(f(X)=off, T) :- happensAt(off(X), T).",
    "changes to a variable": LOW + SET,
    "changes to a variable among rows": "grounding(f(X)=V) :- w(X, V). " + SET,
    "a named value beside rows": "grounding(f(X)=V) :- w(X, V). " + SET +
    "initiatedAt(f(X)=gone, T) :- happensAt(off(X), T).",
    "named values, each for other arguments": LOW + HIGH + SET_LOW + SET_HIGH +
    "initiatedAt(g(X)=true, T) :- happensAt(start(f(X)=above), T). "
    "initiatedAt(h(X)=V, T) :- happensAt(off(X), T), holdsAt(f(X)=V, T).",
    "a fluent that asks for itself": LOW + HIGH + SET_LOW +
    "initiatedAt(f(X)=above, T) :- happensAt(set(X, above), T), \\+ holdsAt(f(X)=below, T). "
    "terminatedAt(f(X)=above, T) :- happensAt(off(X), T), holdsAt(f(X)=above, T).",
    "a state that is not listed": LOW + SET_HIGH +
    "initiatedAt(f(X)=below, T) :- happensAt(set(X, below), T), holdsAt(f(X)=above, T).",
    "not in a state that is not listed": LOW + SET_HIGH +
    "initiatedAt(f(X)=below, T) :- happensAt(set(X, below), T), \\+ holdsAt(f(X)=above, T).",
    "initial values": LOW + "initially(f(X)=V) :- iv(X, V). initiatedAt(f(X)=below, T) :- happensAt(off(X), T).",
    "an initial value that is not listed": LOW + "initially(f(X)=above) :- d(X). initially(f(X)=below) :- d(X). "
    "initiatedAt(f(X)=below, T) :- happensAt(off(X), T).",
    "initial values, each for other arguments": LOW + HIGH + "initially(f(X)=below). initially(f(X)=above) :- e(X). "
    "initiatedAt(f(X)=above, T) :- happensAt(off(X), T).",
    "a deadline to a value that is not listed": LOW + SET_LOW + "fi(f(X)=below, f(X)=above, 3). "
    "initiatedAt(g(X)=true, T) :- happensAt(end(f(X)=below), T). holdsFor(h(X)=true, I) :- holdsFor(f(X)=above, I).",
    "and back": LOW + SET_LOW + "fi(f(X)=below, f(X)=above, 3). fi(f(X)=above, f(X)=below, 2). "
    "terminatedAt(f(X)=above, T) :- happensAt(off(X), T).",
    "a deadline that moves": LOW + SET + "fi(f(X)=below, f(X)=above, 3). p(f(X)=below).",
    "a deadline for each entity": LOW + SET_LOW + "fi(f(X)=below, f(X)=above, N) :- n(X, N). n(a, 3). n(b, 4).",
    "a deadline, each value for other arguments": LOW + HIGH + SET_LOW + "fi(f(X)=below, f(X)=above, 3). "
    "fi(f(X)=above, f(X)=below, 2). initiatedAt(k(X)=true, T) :- initiatedAt(f(X)=above, T). "
    "terminatedAt(k(X)=true, T) :- initiatedAt(f(X)=below, T).",
    "derived events": "grounding(k(X, below)) :- d(X). happensAt(k(X, V), T) :- happensAt(set(X, V), T).",
    "derived events, different arguments": "grounding(k(X, _)) :- d(X). grounding(k(X, below)) :- e(X). "
    "happensAt(k(X, V), T) :- happensAt(set(X, V), T).",
    "derived events with an argument that only a grounding binds": "grounding(k(X, V)) :- d(X), v(V). "
    "happensAt(k(X, V), T) :- happensAt(off(X), T).",
    "a domain that the input fills": "dynamicDomain(dd(_)). grounding(off(X)) :- dd(X). "
    "grounding(f(X)=below) :- dd(X). " + HIGH + SET_LOW + SET_HIGH,
}


@pytest.mark.parametrize("rules", CASES.values(), ids=CASES)
def test_what_is_listed_is_shown(rules: str) -> None:
    agreed(FACTS + rules, EVENTS)


def test_a_deadline_ends_what_it_leads_away_from() -> None:
    """RTEC's own cases have it: the value behind a deadline has no grounding."""
    rules = "d(a). grounding(on(X)=true) :- d(X). initiatedAt(on(X)=true, T) :- happensAt(up(X), T).\n"
    assert agreed(rules + "fi(on(X)=true, on(X)=false, 4).", (("up", "a", 1),)) == {"on(a)=true": [(2, 6)]}
    assert not ev.parse(rules + "fi(on(X)=true, on(X)=false, 4).").check()


def test_facts_that_list_every_named_value_need_no_second_definition() -> None:
    listed = "level(a, 1). level(a, 2). level(b, 1). grounding(f(X)=V) :- level(X, V). "
    rules = "initiatedAt(f(a)=2, T) :- happensAt(up, T). initiatedAt(f(X)=1, T) :- happensAt(down(X), T)."
    assert "every f(_)" not in ev.parse(listed + rules).explain_plan()
    assert "every f(_)" in ev.parse(listed + rules.replace("f(a)=2", "f(b)=2")).explain_plan()
