"""Simple fluents: one value, several, very many; initial values, deadlines, own state, ties."""

from __future__ import annotations

import pytest
from tests.engine.running import answer
from tests.engine.world import World, fields, term

from eventide.algebra import nodes as n
from eventide.algebra.nodes import Change, Delay, Inertia, State
from eventide.errors import ProgramError
from eventide.syntax.terms import Atom

ON_OFF = """
initiatedAt(on(X)=true, T) :- happensAt(go(X), T).
terminatedAt(on(X)=true, T) :- happensAt(stop(X), T).
"""
LIGHT = """
initiatedAt(light(X)=red, T) :- happensAt(stop(X), T).
initiatedAt(light(X)=green, T) :- happensAt(go(X), T).
terminatedAt(light(X)=_, T) :- happensAt(fail(X), T).
"""
SHOWN = """
initiatedAt(shown(X)=V, T) :- happensAt(show(X, V), T).
terminatedAt(shown(X)=V, T) :- happensAt(hide(X, V), T).
"""


# ------------------------------------------------------------------------------------------------ values


def test_one_value() -> None:
    assert answer(ON_OFF, ("go", "a", 5), ("go", "a", 7), ("stop", "a", 10), ("go", "b", 8)) == {
        "on(a)=true": [(6, 11)], "on(b)=true": [(9, None)]}


def test_a_termination_wins_at_a_tie() -> None:
    tie = [("go", "a", 5), ("stop", "a", 5)]
    assert answer(ON_OFF, *tie) == {}
    assert answer(ON_OFF, ("go", "a", 2), *tie) == {"on(a)=true": [(3, 6)]}


def test_an_initiation_wins_at_a_tie_if_so_set() -> None:
    tie = [("go", "a", 5), ("stop", "a", 5)]
    assert answer(ON_OFF, *tie, ties="initiation") == {"on(a)=true": [(6, None)]}


def test_a_value_ends_the_others() -> None:
    assert answer(LIGHT, ("stop", "a", 2), ("go", "a", 5), ("fail", "a", 9)) == {
        "light(a)=red": [(3, 6)], "light(a)=green": [(6, 10)]}


def test_two_values_at_once() -> None:
    both = [("stop", "a", 5), ("go", "a", 5)]
    assert answer(LIGHT, *both) == {}
    assert answer(LIGHT, *both, ties="initiation") == {"light(a)=red": [(6, None)], "light(a)=green": [(6, None)]}


@pytest.mark.parametrize("values", [3, 14, 16, 40])
def test_values_that_the_data_name(values: int) -> None:
    """Few values are bits of a table, many are numbers of their own: the answer is the same."""
    shows = [("show", "a", f"v{i}", 10 * i) for i in range(values)]
    last = f"shown(a)=v{values - 1}"
    expected = {f"shown(a)=v{i}": [(10 * i + 1, 10 * i + 11)] for i in range(values)}
    assert answer(SHOWN, *shows, ("hide", "a", f"v{values - 1}", 10 * values)) == expected
    assert answer(SHOWN, *shows, ("hide", "a", "v0", 10 * values)) == expected | {last: [(10 * values - 9, None)]}


def test_very_many_values_with_every_kind_of_rule() -> None:
    rules = SHOWN + """
initially(shown(a)=start).
initiatedAt(shown(X)=fixed, T) :- happensAt(reset(X), T).
terminatedAt(shown(X)=_, T) :- happensAt(off(X), T).
grounding(shown(a)=_).
"""
    shows = [("show", "a", f"v{i}", 10 * i) for i in range(1, 30)]
    found = answer(rules, *shows, ("reset", "a", 305), ("off", "a", 311), start=0)
    assert found["shown(a)=start"] == [(0, 11)]
    assert found["shown(a)=v29"] == [(291, 306)]
    assert found["shown(a)=fixed"] == [(306, 312)]


def test_points_between_two_of_the_grid_count_at_the_one_below() -> None:
    assert answer(ON_OFF, ("go", "a", 13), ("stop", "a", 38), tick=10, start=0) == {"on(a)=true": [(20, 40)]}


# ------------------------------------------------------------------------------------------------ initial values


def test_an_initial_value_is_like_an_initiation_before() -> None:
    rules = LIGHT + "initially(light(a)=red).\ngrounding(light(a)=red). grounding(light(a)=green)."
    assert answer(rules, ("go", "a", 4), start=-1) == {"light(a)=red": [(0, 5)], "light(a)=green": [(5, None)]}
    assert answer(rules, ("go", "a", 14), start=9) == {"light(a)=red": [(10, 15)], "light(a)=green": [(15, None)]}


def test_an_initial_value_starts_no_deadline() -> None:
    rules = LIGHT + """
fi(light(X)=red, light(X)=green, 5).
initially(light(a)=red).
grounding(light(a)=red). grounding(light(a)=green).
"""
    assert answer(rules, ("noise", 1), start=-1, end=40) == {"light(a)=red": [(0, None)]}
    assert answer(rules, ("stop", "a", 10), start=-1, end=40) == {
        "light(a)=red": [(0, 16)], "light(a)=green": [(16, None)]}, "initiated again, it does"
    assert answer(rules, ("stop", "a", -1), start=-2, end=40) == {
        "light(a)=red": [(0, 5)], "light(a)=green": [(5, None)]}, "so it does at the same time"
    assert answer(rules, ("fail", "a", 7), start=-1, end=40) == {"light(a)=red": [(0, 8)]}


def test_an_initial_value_ties_with_another_that_is_initiated_then() -> None:
    """Neither holds, but the deadline of the one that was initiated runs."""
    rules = LIGHT + """
fi(light(X)=red, light(X)=green, 5).
fi(light(X)=green, light(X)=red, 9).
initially(light(a)=green).
grounding(light(a)=red). grounding(light(a)=green).
"""
    assert answer(rules, ("stop", "a", -1), start=-2, end=10) == {"light(a)=green": [(5, None)]}
    assert answer(rules, ("noise", 3), start=-2, end=30) == {"light(a)=green": [(0, None)]}


# ------------------------------------------------------------------------------------------------ deadlines


def test_deadlines_with_cancellation_and_postponement() -> None:
    rules = ON_OFF + "fi(on(X)=true, on(X)=late, 10).\ninitiatedAt(on(X)=late, T) :- happensAt(force(X), T)."
    assert answer(rules, ("go", "a", 0), ("go", "a", 5), start=-1, end=30) == {
        "on(a)=true": [(1, 11)], "on(a)=late": [(11, None)]}
    assert answer(rules, ("go", "a", 0), ("stop", "a", 5), start=-1, end=30) == {"on(a)=true": [(1, 6)]}
    assert answer(rules + "\np(on(X)=true).", ("go", "a", 0), ("go", "a", 5), start=-1, end=30) == {
        "on(a)=true": [(1, 16)], "on(a)=late": [(16, None)]}


def test_delays_per_key() -> None:
    rules = ON_OFF + """
fi(on(X)=true, on(X)=late, D) :- patience(X, D).
fi(on(X)=late, on(X)=gone, 7).
patience(a, 3). patience(b, 6).
"""
    assert answer(rules, ("go", "a", 0), ("go", "b", 0), ("go", "c", 0), start=-1, end=30) == {
        "on(a)=true": [(1, 4)], "on(a)=late": [(4, 11)], "on(a)=gone": [(11, None)],
        "on(b)=true": [(1, 7)], "on(b)=late": [(7, 14)], "on(b)=gone": [(14, None)],
        "on(c)=true": [(1, None)]}, "c has no patience of its own: nothing fires"


def test_deadlines_without_anything_that_starts_them() -> None:
    rules = ON_OFF + "fi(on(X)=true, on(X)=late, D) :- patience(X, D).\npatience(a, 3)."
    assert answer(rules, ("stop", "a", 3), start=-1, end=9) == {}


# ------------------------------------------------------------------------------------------------ own state


def test_rules_that_read_the_fluents_own_value() -> None:
    rules = """
initiatedAt(step(X)=one, T) :- happensAt(go(X), T), \\+ holdsAt(step(X)=one, T), \\+ holdsAt(step(X)=two, T).
initiatedAt(step(X)=two, T) :- happensAt(go(X), T), holdsAt(step(X)=one, T).
terminatedAt(step(X)=two, T) :- happensAt(go(X), T), holdsAt(step(X)=two, T).
"""
    assert answer(rules, *(("go", "a", 10 * i) for i in range(4))) == {
        "step(a)=one": [(1, 11), (31, None)], "step(a)=two": [(11, 21)]}


def test_too_many_values_for_an_automaton() -> None:
    rules = SHOWN + "fi(shown(X)=v0, shown(X)=v1, 5)."
    with pytest.raises(ProgramError, match="more than 15 values"):
        answer(rules, *(("show", "a", f"v{i}", i) for i in range(20)), start=-1)


def test_too_many_rules_for_an_automaton() -> None:
    world = World()
    points = world.points("X", [("a", 1)])
    values = [f"v{i}" for i in range(31)]
    world.domains["value"].codes(values)
    changes = tuple(Change("initiated", points, Atom(value), states=(State(Atom("v0"), False),)) for value in values)
    node = Inertia("step", (*fields("X"), n.Field("V", "value")), changes)
    with pytest.raises(Exception, match=r"too many rules and values to combine \(31 of at most 30\)"):
        world.run(node)


# ------------------------------------------------------------------------------------------------ operators


def fluent(world: World, *changes: Change, **more: object) -> Inertia:
    world.domains["value"].codes(["lo", "hi"])
    return Inertia("level", (*fields("X"), n.Field("V", "value")), changes, **more)  # type: ignore[arg-type]


def test_nothing_happens() -> None:
    world = World()
    assert world.run(fluent(world)) == []
    assert world.run(fluent(world, Change("initiated", n.Events("none", fields("X")), Atom("lo")))) == []


def test_only_reported_values_hold_but_others_end_them() -> None:
    world = World()
    up, down = world.points("X", [("a", 5)]), world.points("X", [("a", 2)])
    node = fluent(world, Change("initiated", down, Atom("lo")), Change("initiated", up, Atom("hi")),
                  reported=(Atom("lo"),))
    assert world.run(node) == [("a", "lo", 3, 6)]


def test_initial_values_of_a_domain() -> None:
    world = World(start=-5)
    everyone = n.Attach(world.rows("X", [("a",), ("b",)]), n.Field("V", "value"), term("lo"))
    node = fluent(world, initial=(everyone,), domain=world.rows("X", [("b",)]))
    assert world.run(node) == [("b", "lo", 0, None)]


def test_fired_deadlines_can_be_read() -> None:
    world = World()
    node = fluent(world, Change("initiated", world.points("X", [("a", 3), ("b", 48)]), Atom("lo")),
                  delays=(Delay(Atom("lo"), Atom("hi"), None, 5, False),))
    executor = world.executor()
    executor.evaluate(node)
    assert world.shown(executor.evaluate(n.Fired("level", node.fields))) == [("a", "hi", 8)]


def test_rules_about_one_table_are_marked_there() -> None:
    """Several rules over the same events, some of them filtered, give the points of all of them."""
    rules = """
initiatedAt(fast(X)=true, T) :- happensAt(speed(X, S), T), S > 5.
terminatedAt(fast(X)=true, T) :- happensAt(speed(X, S), T), S < 3.
terminatedAt(fast(X)=true, T) :- happensAt(speed(X, S), T), S > 50.
"""
    speeds = [("speed", "a", s, 10 * i) for i, s in enumerate([1, 6, 4, 2, 9, 60, 7])]
    assert answer(rules, *speeds) == {"fast(a)=true": [(11, 31), (41, 51), (61, None)]}


@pytest.mark.parametrize("options", [{}, {"window": 3, "step": 1}, {"window": 40, "step": 7}])
def test_with_ties_for_the_initiation_rules_ask_all_values_that_hold(options: dict[str, int]) -> None:
    rules = """
    initiatedAt(f(X)=on, T)  :- happensAt(a(X), T).
    initiatedAt(f(X)=off, T) :- happensAt(b(X), T).
    initiatedAt(f(X)=off, T) :- happensAt(c(X), T), \\+ holdsAt(f(X)=on, T).
    initiatedAt(f(X)=mid, T) :- happensAt(d(X), T), holdsAt(f(X)=on, T), holdsAt(f(X)=off, T).
    """
    given = [("a", "x", 11), ("b", "x", 11), ("c", "x", 12), ("a", "y", 11), ("d", "y", 13), ("b", "z", 11),
             ("d", "z", 12), ("a", "z", 13), ("b", "z", 13), ("d", "z", 15)]
    found = answer(rules, *given, start=0, end=30, ties="initiation", **options)
    assert found == {"f(x)=on": [(12, None)], "f(x)=off": [(12, None)], "f(y)=on": [(12, None)],
                     "f(z)=on": [(14, 16)], "f(z)=off": [(12, 16)], "f(z)=mid": [(16, None)]}
