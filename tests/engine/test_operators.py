"""Every operator of the algebra on tiny data, against its definition. Joins and inertia have files of their own."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from tests.engine.world import World, fields, term

from eventide.algebra import nodes as n
from eventide.algebra.expressions import Apply, Column, Comparison, Constant
from eventide.engine.executor import Executor
from eventide.engine.operators import OPERATORS
from eventide.errors import RuleError
from eventide.syntax.terms import Atom, Number


@pytest.fixture
def world() -> World:
    return World()


def equals(column: str, value: int | float | str) -> Comparison:
    return Comparison("==", Column(column), Constant(term(value)))


# ------------------------------------------------------------------------------------------------ leaves and filters


def test_inputs_without_facts_are_empty(world: World) -> None:
    for leaf in (n.Table("none", fields("X")), n.Events("none", fields("X")), n.Fluent("none", fields("X")),
                 n.Fired("none", fields("X"))):
        assert world.run(leaf) == []


def test_unit_is_one_row(world: World) -> None:
    assert world.run(n.Unit()) == [()]


def test_equal(world: World) -> None:
    rows = world.rows("X N:number", [("ann", 1), ("bob", 2)])
    assert world.run(n.Equal(rows, "X", Atom("bob"))) == [("bob", 2)]
    assert world.run(n.Equal(rows, "X", Atom("nobody"))) == []
    assert world.run(n.Equal(rows, "N", Number(2))) == [("bob", 2)]
    assert world.run(n.Equal(rows, "N", Number(2.0))) == []
    assert world.run(n.Equal(rows, "N", Atom("two"))) == []


def test_equal_on_intervals(world: World) -> None:
    fluent = world.intervals("X Y", [("ann", "bob", 1, 4), ("ann", "cat", 2, 6)])
    assert world.run(n.Equal(fluent, "Y", Atom("cat"))) == [("ann", "cat", 2, 6)]
    assert world.run(n.Equal(fluent, "Y", Atom("nobody"))) == []
    renamed = n.Rename(fluent, fields("A B"))
    assert world.run(n.Equal(renamed, "B", Atom("bob"))) == [("ann", "bob", 1, 4)]


def test_same(world: World) -> None:
    assert world.run(n.Same(world.rows("X Y", [("a", "a"), ("a", "b")]), "X", "Y")) == [("a", "a")]
    assert world.run(n.Same(world.intervals("X Y", [("a", "a", 1, 2), ("a", "b", 1, 2)]), "X", "Y")) == [
        ("a", "a", 1, 2)]


def test_select(world: World) -> None:
    assert world.run(n.Select(world.points("X", [("ann", 1), ("bob", 2)]), equals("X", "bob"))) == [("bob", 2)]
    assert world.run(n.Select(world.intervals("X", [("ann", 1, 3), ("bob", 2, 4)]), equals("X", "bob"))) == [
        ("bob", 2, 4)]


# ------------------------------------------------------------------------------------------------ columns


def test_compute_a_number(world: World) -> None:
    rows = world.rows("N:number", [(1,), (4,)])
    assert world.run(n.Compute(rows, n.Field("M", n.NUMBER), Apply("*", (Column("N"), Column("N"))))) == [
        (1, 1), (4, 16)]


def test_compute_a_value_of_a_domain(world: World) -> None:
    doubled = Apply("+", (Column("X"), Column("X")))
    assert world.run(n.Compute(world.rows("X", [(1,), (2,)]), n.Field("Y", "thing"), doubled)) == [(1, 2), (2, 4)]
    assert world.run(n.Compute(world.intervals("X", [(1, 3, 5), (2, 3, None)]), n.Field("Y", "thing"), doubled)) == [
        (1, 2, 3, 5), (2, 4, 3, None)]


def test_attach(world: World) -> None:
    world.domains["value"].codes(["lo", "hi"])
    field = n.Field("V", "value")
    assert world.run(n.Attach(world.points("X", [("ann", 3)]), field, Atom("hi"))) == [("ann", "hi", 3)]
    assert world.run(n.Attach(world.intervals("X", [("ann", 3, None)]), field, Atom("hi"))) == [("ann", "hi", 3, None)]


def test_attach_the_only_value() -> None:
    world = World(spare=0)
    world.domains["value"].code("true")
    node = n.Attach(world.intervals("X", [("ann", 3, 4)]), n.Field("V", "value"), Atom("true"))
    assert world.run(node) == [("ann", "true", 3, 4)]


def test_copy(world: World) -> None:
    assert world.run(n.Copy(world.rows("X", [("ann",)]), n.Field("Y", "thing"), "X")) == [("ann", "ann")]
    assert world.run(n.Copy(world.intervals("X", [("ann", 1, 2), ("bob", 1, 2)]), n.Field("Y", "thing"), "X")) == [
        ("ann", "ann", 1, 2), ("bob", "bob", 1, 2)]


def test_rename_goes_by_position(world: World) -> None:
    node = n.Rename(world.rows("X Y", [("ann", "bob")]), fields("Y X"))
    assert n.names(node.fields) == ("Y", "X")
    assert world.run(node) == [("ann", "bob")]


def test_project(world: World) -> None:
    assert world.run(n.Project(world.points("X Y", [("ann", "bob", 3)]), ("Y",))) == [("bob", 3)]
    united = n.Project(world.intervals("X Y", [("ann", "bob", 1, 4), ("ann", "cat", 3, 9)]), ("X",))
    assert world.run(united) == [("ann", 1, 9)]


def test_functions_see_whole_columns(world: World) -> None:
    rows = world.rows("X N:number", [("ann", 3), ("bob", 8)])
    executor = world.executor()
    executor.functions = {"big": lambda number: number > 5, "half": lambda number: number / 2}
    large = n.Function(rows, "big", (Column("N"),), ())
    halves = n.Function(rows, "half", (Column("N"),), (n.Field("H", n.NUMBER),))
    assert world.shown(executor.evaluate(large)) == [("bob", 8)]
    assert world.shown(executor.evaluate(halves)) == [("ann", 3, 1.5), ("bob", 8, 4.0)]


# ------------------------------------------------------------------------------------------------ sets


def test_union(world: World) -> None:
    rows = n.Union((world.rows("X", [("ann",)]), world.rows("X", [("bob",)])))
    points = n.Union((world.points("X", [("ann", 1)]), world.points("X", [("ann", 2)])))
    assert world.run(rows) == [("ann",), ("bob",)]
    assert world.run(points) == [("ann", 1), ("ann", 2)]


def test_union_of_intervals_is_maximal_and_goes_by_name(world: World) -> None:
    first = world.intervals("X Y", [("ann", "bob", 1, 4)])
    second = world.intervals("Y X", [("bob", "ann", 4, 9), ("cat", "ann", 0, 1)])
    assert world.run(n.Union((first, second))) == [("ann", "bob", 1, 9), ("ann", "cat", 0, 1)]


def test_counting_per_row(world: World) -> None:
    numbered = n.Number(world.points("X", [("ann", 1), ("bob", 1), ("cat", 2)]), "#")
    visits = world.rows("X Y", [("ann", "p"), ("ann", "q"), ("bob", "p")])
    counted = n.Count(numbered, n.Join(numbered, visits), "#", n.Field("N", n.NUMBER))
    assert world.run(n.Project(counted, ("X", "N"))) == [("ann", 2, 1), ("bob", 1, 1), ("cat", 0, 2)]
    nothing = n.Count(numbered, n.Join(numbered, n.Table("none", fields("X"))), "#", n.Field("N", "thing"))
    assert world.run(n.Project(nothing, ("X", "N"))) == [("ann", 0, 1), ("bob", 0, 1), ("cat", 0, 2)]


# ------------------------------------------------------------------------------------------------ time


def test_boundaries(world: World) -> None:
    fluent = world.intervals("X", [("ann", 6, 11), ("bob", 20, None)])
    assert world.run(n.Boundaries(fluent, "start")) == [("ann", 5), ("bob", 19)]
    assert world.run(n.Boundaries(fluent, "startI")) == [("ann", 6), ("bob", 20)]
    assert world.run(n.Boundaries(fluent, "end")) == [("ann", 10)]


def test_boundaries_outside_the_run_are_not_seen() -> None:
    world = World(start=5, until=30)
    fluent = world.intervals("X", [("ann", 1, 40), ("bob", 6, 31)])
    assert world.run(n.Boundaries(fluent, "start")) == [("bob", 5)]
    assert world.run(n.Boundaries(fluent, "end")) == [("bob", 30)]


def test_runs_keys_at_timeless_always(world: World) -> None:
    fluent = world.intervals("X", [("ann", 6, 11), ("ann", 20, 22), ("bob", 9, None)])
    points = world.points("X", [("ann", 3), ("ann", 4), ("ann", 3), ("bob", 9)])
    assert world.run(n.Runs(points)) == [("ann", 3, 5), ("bob", 9, 10)]
    assert world.run(n.Keys(fluent)) == [("ann",), ("bob",)]
    assert [world.run(n.At(fluent, time)) for time in (10, 11, 8)] == [[("ann",), ("bob",)], [("bob",)], [("ann",)]]
    assert world.run(n.At(fluent, 10**9)) == []
    assert world.run(n.Timeless(points)) == [("ann",), ("bob",)]
    assert world.run(n.Always(world.rows("X", [("ann",)]))) == [("ann", 1, None)]


def test_always_begins_on_the_grid() -> None:
    world = World(tick=10, start=3)
    assert world.run(n.Always(world.rows("X", [("ann",)]))) == [("ann", 10, None)]


@pytest.mark.parametrize("comparison, amount, expected", [
    ("longer", 3, [("b", 2, 7), ("c", 40, None)]), ("shorter", 5, [("a", 1, 4)]),
    ("longer", 3.5, [("b", 2, 7), ("c", 40, None)]), ("shorter", 3.5, [("a", 1, 4)])])
def test_lasting(world: World, comparison: Any, amount: float, expected: list[tuple[Any, ...]]) -> None:
    """An open interval is as long as the run lets it be: to 50 here."""
    fluent = world.intervals("X", [("a", 1, 4), ("b", 2, 7), ("c", 40, None)])
    assert world.run(n.Lasting(fluent, comparison, Constant(Number(amount)))) == expected


def test_lasting_by_an_amount_per_row(world: World) -> None:
    fluent = world.intervals("X", [("a", 1, 4), ("b", 2, 7), ("c", 1, 9)])
    limits = world.rows("X N:number", [("a", 2), ("b", 9)])
    assert world.run(n.Lasting(fluent, "longer", Column("N"), limits)) == [("a", 1, 4)]
    assert world.run(n.Lasting(fluent, "shorter", Column("N"), limits)) == [("b", 2, 7)]


def test_spans(world: World) -> None:
    fluent = world.intervals("X", [("a", 1, 4), ("b", 2, 7), ("c", 1, None)])
    early = Comparison("<", Column("S"), Constant(Number(2)))
    late = Comparison(">", Column("E"), Constant(Number(5)))
    assert world.run(n.Spans(fluent, "S", "E", early)) == [("a", 1, 4), ("c", 1, None)]
    assert world.run(n.Spans(fluent, "S", "E", late)) == [("b", 2, 7), ("c", 1, None)]


@pytest.mark.parametrize("mode, expected", [
    ("source", [("a", 1, 4)]), ("target", [("a", 6, 9)]), ("union", [("a", 1, 4), ("a", 6, 9)]),
    ("complement", [("a", 1, 4)]), ("inverse_complement", [("a", 6, 9)])])
def test_allen(world: World, mode: str, expected: list[tuple[Any, ...]]) -> None:
    source = world.intervals("X", [("a", 1, 4)])
    target = world.intervals("X", [("a", 6, 9)])
    assert world.run(n.Allen("before", mode, source, target)) == expected
    assert world.run(n.Allen("before", mode, target, source)) == []


def test_shifted(world: World) -> None:
    fluent = world.intervals("X", [("a", 3, 8), ("a", 10, 12)])
    assert world.run(n.Shifted(fluent, "shift", 2, 2)) == [("a", 5, 10), ("a", 12, 14)]
    assert world.run(n.Shifted(fluent, "dilate", 0, 2)) == [("a", 3, 14)]
    assert world.run(n.Shifted(fluent, "erode", 0, 2)) == [("a", 5, 8)]


def test_slice(world: World) -> None:
    fluent = world.intervals("X", [("a", 3, 8), ("b", 10, None)])
    assert world.run(n.Slice(fluent, 5, 12)) == [("a", 5, 8), ("b", 10, 12)]


# ------------------------------------------------------------------------------------------------ plans


def stratum(cyclic: bool, **bodies: n.Node) -> n.Stratum:
    return n.Stratum(1, tuple(n.Definition(name, body) for name, body in bodies.items()), cyclic)


def run_plan(world: World, *strata: n.Stratum) -> Executor:
    executor = world.executor()
    executor.run(n.Plan(strata))
    return executor


def test_derived_events_are_distinct_and_seen_by_later_strata(world: World) -> None:
    twice = n.Union((world.points("X", [("ann", 3)]), world.points("X", [("ann", 3), ("bob", 4)])))
    later = n.Runs(n.Events("seen", fields("A")))
    executor = run_plan(world, stratum(False, seen=twice), stratum(False, present=later))
    assert world.shown(executor.results["seen"]) == [("ann", 3), ("bob", 4)]
    assert world.shown(executor.results["present"]) == [("ann", 3, 4), ("bob", 4, 5)]


def test_progress_is_told_by_stratum(world: World) -> None:
    levels: list[int] = []
    executor = world.executor()
    executor.run(n.Plan((stratum(False, one=n.Unit()),)), lambda done: levels.append(done.level))
    assert levels == [1]


def test_a_cycle_settles_where_nothing_changes(world: World) -> None:
    """What is reachable from ann, through a fluent that reads itself."""
    edges = world.intervals("X Y", [("ann", "bob", 1, 9), ("bob", "cat", 3, 20), ("dan", "eve", 1, 5)])
    first = world.intervals("X", [("ann", 0, 30)])
    step = n.Project(n.Join(n.Fluent("reached", fields("X")), edges), ("Y",))
    body = n.Union((first, n.Rename(step, fields("X"))))
    executor = run_plan(world, stratum(True, reached=body))
    assert world.shown(executor.results["reached"]) == [("ann", 0, 30), ("bob", 1, 9), ("cat", 3, 9)]


def test_a_cycle_that_depends_on_itself_at_the_same_time_point(world: World) -> None:
    flag = world.intervals("X", [("ann", 1, 9)])
    body = n.Without(flag, n.Fluent("liar", fields("X")))
    with pytest.raises(RuleError, match="the cycle through liar does not settle") as caught:
        run_plan(world, stratum(True, liar=body))
    assert caught.value.code == "no-fixpoint"


def test_every_node_has_an_operator() -> None:
    assert set(OPERATORS) == set(get_args(n.Node))


def test_columns_that_nothing_reads_are_left_out_of_unions(world: World) -> None:
    shape = "X Y:unused"
    node = n.Union((world.rows(shape, [("ann", 0)]), world.rows(shape, [("bob", 0)])))
    assert world.run(node) == [("ann",), ("bob",)]
    assert np.array_equal(world.executor().evaluate(node).column("X"), [0, 1])  # type: ignore[union-attr]
