"""Stamped rows: points that are known for a while, windows of time and of facts over them, their text in plans."""

from __future__ import annotations

import pytest
from tests.engine.world import World, fields

from eventide.algebra import nodes as n
from eventide.algebra.expressions import Apply, Column, Constant
from eventide.algebra.text import label
from eventide.syntax.terms import Number

WALKS = [("ann", 3), ("ann", 4), ("bob", 5), ("ann", 9)]


@pytest.fixture
def world() -> World:
    return World()


def stamped(world: World, node: n.Node) -> list[tuple]:
    """The rows of a node whose last column is a stamp, as a time."""
    return [(*row[:-3], row[-3] + world.timeline.origin, *row[-2:]) for row in world.run(node)]


def test_points_count_for_a_while(world: World) -> None:
    walks = world.points("X", WALKS)
    assert world.run(n.Spread(walks, 2)) == [("ann", 3, 7), ("ann", 9, 12), ("bob", 5, 8)]
    assert world.run(n.Spread(walks, None)) == [("ann", 3, None), ("bob", 5, None)]
    assert stamped(world, n.Spread(walks, 2, "@T")) == [
        ("ann", 3, 3, 6), ("ann", 4, 4, 7), ("ann", 9, 9, 12), ("bob", 5, 5, 8)]


def test_steady_is_every_time_point(world: World) -> None:
    walks = world.points("X", [("ann", t) for t in (3, 4, 5, 7)])
    assert world.run(n.Steady(walks, 1)) == [("ann", 4, 6)]
    early = world.points("X", [("ann", world.timeline.origin), ("ann", world.timeline.origin + 1)])
    assert world.run(n.Steady(early, 5)) == [("ann", world.timeline.origin, world.timeline.origin + 2)]


def test_instants_end_with_the_run(world: World) -> None:
    assert world.run(n.Instants(world.intervals("X", [("ann", 3, 5), ("bob", 49, None)]))) == [
        ("ann", 3), ("ann", 4), ("bob", 49), ("bob", 50)]


def test_windows_of_time_move_on(world: World) -> None:
    known = n.Spread(world.points("X", WALKS), 5, "@T")
    assert stamped(world, n.Aged(known, "@T", 1)) == [
        ("ann", 3, 3, 5), ("ann", 4, 4, 6), ("ann", 9, 9, 11), ("bob", 5, 5, 7)]
    assert world.run(n.Covered(n.Aged(known, "@T", 1), "@T", 1)) == [("ann", 4, 5)]


def test_a_stamp_may_be_computed_and_what_it_names_must_have_come(world: World) -> None:
    known = n.Spread(world.points("X", WALKS), 5, "@T")
    later = n.Stamped(known, "@U", Apply("+", (Column("@T"), Constant(Number(2)))))
    assert [row[-2:] for row in world.run(later)] == [(5, 9), (6, 10), (11, 15), (7, 11)]
    never = n.Stamped(known, "@U", Constant(Number(70)))
    assert world.run(never) == []


def test_facts_leave_when_others_come(world: World) -> None:
    arrivals = world.points("", [(3,), (4,), (5,), (9,)])
    facts = world.points("X #:number", [("ann", 0, 3), ("ann", 1, 4), ("bob", 2, 5), ("ann", 3, 9)])
    leaving = n.Departures(facts, arrivals, "#", None, 2, n.Field("until", n.NUMBER))
    kept = n.Spread(n.Project(leaving, ("X", "until")), None, "@T", "until")
    assert stamped(world, kept) == [("ann", 3, 3, 5), ("ann", 4, 4, 9), ("ann", 9, 9, None), ("bob", 5, 5, None)]
    own = n.Departures(facts, arrivals, "#", ("X",), 2, n.Field("until", n.NUMBER))
    assert stamped(world, n.Spread(n.Project(own, ("X", "until")), None, "@T", "until")) == [
        ("ann", 3, 3, 9), ("ann", 4, 4, None), ("ann", 9, 9, None), ("bob", 5, 5, None)]
    old = n.Spread(world.points("X", WALKS), None, "@T")
    assert stamped(world, n.Recent(old, arrivals, "@T", 2)) == [
        ("ann", 3, 3, 5), ("ann", 4, 4, 9), ("ann", 9, 9, None), ("bob", 5, 5, None)]
    assert world.run(n.Covered(n.Recent(old, arrivals, "@T", 2), "@T", 2, arrivals)) == [("ann", 4, 5)]


@pytest.mark.parametrize(("node", "told"), [
    (n.Spread(n.Unit(), 5), "for [0, 5]"),
    (n.Spread(n.Unit(), None, "@T"), "from then on, as @T"),
    (n.Spread(n.Unit(), None, "@T", "until"), "until until, as @T"),
    (n.Steady(n.Unit(), None), "at all time-points"),
    (n.Aged(n.Unit(), "@T", 3), "while @T is in the last 3"),
    (n.Recent(n.Unit(), n.Events("e", fields("X")), "@T", 3), "while @T is in the last 3 facts by X"),
    (n.Covered(n.Unit(), "@T", 3), "@T takes all time-points of the last 3"),
    (n.Covered(n.Unit(), "@T", 3, n.Unit()), "@T takes all time-points of the last 3 facts"),
    (n.Stamped(n.Unit(), "@T", Column("X")), "let @T = X, from then on"),
    (n.Departures(n.Unit(), n.Unit(), "#", ("X",), 2, n.Field("L", n.NUMBER)),
     "let L = when 2 later facts have come by X"),
])
def test_how_plans_tell_of_them(node: n.Node, told: str) -> None:
    assert label(node) == told
