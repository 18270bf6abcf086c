"""Equal sub-plans become one object, two filters in a row become one; meanings stay."""

from __future__ import annotations

from tests.engine.world import World, fields

from eventide.algebra import nodes as n
from eventide.algebra.expressions import Column, Comparison, Constant, Logic
from eventide.algebra.sharing import Sharing, both
from eventide.syntax.terms import Atom, Number


def above(limit: int) -> Comparison:
    return Comparison(">", Column("N"), Constant(Number(limit)))


def below(limit: int) -> Comparison:
    return Comparison("<", Column("N"), Constant(Number(limit)))


def fresh() -> n.Node:
    return n.Join(n.Events("go", fields("X")), n.Equal(n.Fluent("on", fields("X V")), "V", Atom("true")))


def test_equal_sub_plans_are_one_object() -> None:
    plan = n.Plan((n.Stratum(1, (n.Definition("a", n.Project(fresh(), ("X",))), n.Definition("b", fresh()))),))
    shared = Sharing().plan(plan)
    first, second = (definition.body for definition in shared.strata[0].definitions)
    assert isinstance(first, n.Project)
    assert first.child is second
    assert shared == plan, "as values nothing has changed"


def test_nodes_that_differ_stay_apart() -> None:
    sharing = Sharing()
    assert sharing.node(n.Runs(n.Events("go", fields("X")))) is not sharing.node(n.Runs(n.Events("go", fields("Y"))))
    one, real = (sharing.node(n.Equal(n.Unit(), "X", Number(value))) for value in (1, 1.0))
    assert one is not real


def test_two_selects_are_one() -> None:
    world = World()
    rows = world.rows("N:number", [(1,), (4,), (9,)])
    node = n.Select(n.Select(n.Select(rows, above(2)), below(8)), above(3))
    found = Sharing().node(node)
    assert isinstance(found, n.Select) and not isinstance(found.child, n.Select)
    assert found.test == Logic("and", (above(2), below(8), above(3)))
    assert world.run(found) == world.run(node) == [(4,)]


def test_tests_are_joined_flat() -> None:
    assert both(above(1), below(2)) == Logic("and", (above(1), below(2)))
    pair = Logic("and", (above(1), below(2)))
    assert both(pair, pair) == Logic("and", (above(1), below(2), above(1), below(2)))
