"""Joins and anti-joins of every pair of sorts, against loops over all pairs of rows and time-points."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.world import World, fields

from eventide.algebra import nodes as n
from eventide.engine import joins

SHAPES = ["X", "X Y", "Y X", "Y Z", "Z", ""]
SORTS = ["rows", "points", "intervals"]
LAST = 12
Row = dict[str, Any]


@st.composite
def tables(draw: st.DrawFn, sort: str) -> tuple[str, list[tuple[Any, ...]]]:
    """A shape and rows: values, then a time, or a start and an end."""
    shape = draw(st.sampled_from(SHAPES))
    values = [st.sampled_from("abc")] * len(shape.split())
    times = {"rows": [], "points": [st.integers(0, LAST)],
             "intervals": [st.integers(0, LAST), st.integers(1, 5) | st.none()]}[sort]
    rows = draw(st.lists(st.tuples(*values, *times), max_size=6))
    if sort == "intervals":
        rows = [(*row[:-1], None if row[-1] is None else row[-2] + row[-1]) for row in rows]
    return shape, rows


def at_each_point(sort: str, shape: str, rows: list[tuple[Any, ...]]) -> list[Row]:
    """The rows as dictionaries, with one for every time-point `@` they hold at."""
    found = []
    for row in rows:
        base = dict(zip(shape.split(), row, strict=False))
        if sort == "rows":
            found.append(base)
        elif sort == "points":
            found.append(base | {"@": row[-1]})
        else:
            found.extend(base | {"@": t} for t in range(row[-2], 30 if row[-1] is None else row[-1]))
    return found


def agree(left: Row, right: Row) -> bool:
    return all(left[name] == right[name] for name in left.keys() & right.keys())


def as_set(rows: list[Row]) -> set[tuple[tuple[str, Any], ...]]:
    return {tuple(sorted(row.items())) for row in rows}


def evaluated(world: World, node: n.Node) -> set[tuple[tuple[str, Any], ...]]:
    shown = world.run(node)
    names = " ".join(n.names(node.fields))
    assert n.names(world.executor().evaluate(node).fields) == n.names(node.fields), "columns in the order of the plan"
    return as_set(at_each_point(node.sort, names, shown))


@pytest.mark.parametrize("left_sort", SORTS)
@pytest.mark.parametrize("right_sort", SORTS)
@given(data=st.data())
def test_join(left_sort: str, right_sort: str, data: st.DataObject) -> None:
    left, right = data.draw(tables(left_sort)), data.draw(tables(right_sort))
    world = World()
    node = n.Join(getattr(world, left_sort)(*left), getattr(world, right_sort)(*right))
    expected = [a | b for a in at_each_point(left_sort, *left) for b in at_each_point(right_sort, *right)
                if agree(a, b)]
    assert evaluated(world, node) == as_set(expected)


@pytest.mark.parametrize("left_sort", SORTS)
@pytest.mark.parametrize("right_sort", SORTS)
@given(data=st.data())
def test_without(left_sort: str, right_sort: str, data: st.DataObject) -> None:
    left, right = data.draw(tables(left_sort)), data.draw(tables(right_sort))
    if left_sort == "intervals" and right_sort == "points":
        return  # no rule needs it
    world = World()
    node = n.Without(getattr(world, left_sort)(*left), getattr(world, right_sort)(*right))
    others = at_each_point(right_sort, *right)
    expected = [a for a in at_each_point(left_sort, *left) if not any(agree(a, b) for b in others)]
    assert evaluated(world, node) == as_set(expected)


def test_many_points_in_any_order_are_sorted_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The three ways to look up points: sorted, one by one, in a table of all cells."""
    points = [("ann", 9), ("bob", 2), ("ann", 4), ("bob", 7), ("ann", 1)]
    expected = [("ann", 4), ("bob", 2)]
    for many, dense in [(0, 0), (100, 0), (100, 1 << 22)]:
        monkeypatch.setattr(joins, "_MANY", many)
        monkeypatch.setattr(joins, "_DENSE", dense)
        world = World(spare=0)
        walks = world.points("X", points * 8)
        inside = n.Join(walks, world.intervals("X", [("ann", 3, 6), ("bob", 0, 4)]))
        assert sorted(set(world.run(inside))) == expected


def test_columns_that_nothing_reads_join_nothing() -> None:
    common, new = joins.split(fields("X"), fields("X Y:unused Z"))
    assert (common, new) == (fields("X"), fields("Z"))
