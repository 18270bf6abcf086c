"""Rows and temporal relations: packing, projecting, lazy columns, what does not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.world import World, fields

from eventide.algebra.nodes import TIME, Field
from eventide.engine.domains import Domain
from eventide.engine.relation import Relation, Rows, Space, Timeline, distinct, move, pack_rows, runs_of, unpack
from eventide.engine.tuples import Domains
from eventide.errors import RangeError


def space_of(*sizes: int, shift: int = 6) -> tuple[Space, tuple[Field, ...]]:
    """A space with one domain per column, of the given numbers of values."""
    domains = Domains()
    for column, size in enumerate(sizes):
        domains[f"d{column}"] = domain = Domain(f"d{column}")
        domain.codes(range(size))
        domain.fix()
    return Space(domains, Timeline(0, shift, 1, 0, 30)), tuple(Field(f"c{i}", f"d{i}") for i in range(len(sizes)))


def rows_of(shape: tuple[Field, ...], *columns: list[int], times: list[int] | None = None) -> Rows:
    cells = {field.name: np.array(column, np.int64) for field, column in zip(shape, columns, strict=True)}
    if times is not None:
        cells[TIME] = np.array(times, np.int64)
    return Rows(shape, cells, len(columns[0] if columns else times or []), timed=times is not None)


# ------------------------------------------------------------------------------------------------ the timeline


def test_a_timeline_has_room_for_a_tick_on_both_sides() -> None:
    for low, high, tick in [(0, 0, 1), (-7, 100, 5), (3, 2**40, 40)]:
        timeline = Timeline.covering(low, high, tick=tick, start=low, until=high)
        assert timeline.origin % tick == 0
        assert timeline.inside(low) - tick >= 0
        assert timeline.inside(high) + 2 * tick < timeline.mask


def test_times_that_span_too_much() -> None:
    with pytest.raises(RangeError, match=r"times from 0 to \d+ span more than 62 bits; declare a coarser unit"):
        Timeline.covering(0, 2**62, tick=1, start=0, until=1)


# ------------------------------------------------------------------------------------------------ packing


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 0), st.integers(0, 99), st.integers(0, 62)), max_size=20))
def test_unpacking_undoes_packing(cells: list[tuple[int, int, int, int]]) -> None:
    space, shape = space_of(5, 1, 100)
    columns = [[row[i] for row in cells] for i in range(4)]
    packed = pack_rows(space, rows_of(shape, *columns[:3], times=columns[3]), shape, timed=True)
    assert [unpack(space, shape, packed)[f"c{i}"].tolist() for i in range(3)] == columns[:3]
    assert (packed & space.timeline.mask).tolist() == columns[3]
    order = sorted(range(len(cells)), key=lambda i: cells[i])
    assert np.argsort(packed, kind="stable").tolist() == order, "points are in the order of keys and times"


def test_a_key_of_all_63_bits() -> None:
    space, shape = space_of(1 << 10, shift=53)
    rows = rows_of(shape, [0, 1023], times=[0, 2**53 - 1])
    packed = pack_rows(space, rows, shape, timed=True)
    assert packed.tolist() == [0, 2**63 - 1]
    assert unpack(space, shape, packed)["c0"].tolist() == [0, 1023]


def test_keys_that_do_not_fit_beside_the_time_are_numbers_of_tuples() -> None:
    space, shape = space_of(1 << 10, 2, shift=53)
    rows = rows_of(shape, [1023, 7, 1023, 1023], [1, 0, 0, 1], times=[1, 2, 3, 4])
    points = pack_rows(space, rows, shape, timed=True)
    assert (points >> 53).tolist() == [0, 1, 2, 0] and (points & space.timeline.mask).tolist() == [1, 2, 3, 4]
    assert unpack(space, shape, points)["c0"].tolist() == [1023, 7, 1023, 1023]
    assert unpack(space, shape, points)["c1"].tolist() == [1, 0, 0, 1]
    backwards = move(space, shape, shape[::-1], points)
    assert unpack(space, shape[::-1], backwards)["c0"].tolist() == [1023, 7, 1023, 1023]
    assert move(space, shape, shape[:1], points).tolist() == pack_rows(space, rows, shape[:1], timed=True).tolist()


def test_what_does_not_fit_even_so_is_refused() -> None:
    space, shape = space_of(1 << 11, shift=53)
    with pytest.raises(RangeError, match="2048 values and a time of 53 bits need together more than 63"):
        space.layout(shape)
    space, shape = space_of(1 << 8, 2, shift=60)
    with pytest.raises(RangeError, match="9 combinations of values and a time of 60 bits"):
        pack_rows(space, rows_of(shape, list(range(9)), [0] * 9, times=[1] * 9), shape, timed=True)


def test_moving_fields() -> None:
    space, (a, b, c) = space_of(5, 1, 100)
    points = pack_rows(space, rows_of((a, b, c), [4, 2], [0, 0], [99, 7], times=[1, 2]), (a, b, c), timed=True)
    moved = move(space, (a, b, c), (c, a), points)
    assert unpack(space, (c, a), moved)["c2"].tolist() == [99, 7]
    assert unpack(space, (c, a), moved)["c0"].tolist() == [4, 2]
    assert (moved & space.timeline.mask).tolist() == [1, 2]


@given(st.lists(st.integers(0, 20)))
def test_distinct_points(values: list[int]) -> None:
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


def test_distinct_points_are_left_alone() -> None:
    points = np.array([1, 4, 9])
    assert distinct(points) is points


# ------------------------------------------------------------------------------------------------ rows


def test_columns_are_gathered_when_they_are_read() -> None:
    shape = fields("X Y")
    rows = rows_of(shape, [1, 2, 3], [7, 8, 9], times=[10, 20, 30])
    kept = rows.where(np.array([True, False, True])).take(np.array([1, 0]))
    assert kept.column("Y").tolist() == [9, 7]
    assert kept.column("Y") is kept.column("Y")
    assert kept.time.tolist() == [30, 10]
    assert rows.where(np.ones(3, np.bool_)) is rows


def test_renaming_goes_by_position() -> None:
    rows = rows_of(fields("X Y"), [1, 2], [7, 8])
    other = rows.rename(fields("Y Z"))
    assert (other.column("Y").tolist(), other.column("Z").tolist()) == ([1, 2], [7, 8])
    assert rows.rename(rows.fields) is rows
    assert other.type("Z") == "thing"


def test_the_root_of_columns_is_where_they_come_from() -> None:
    rows = rows_of(fields("X Y"), [1, 2, 3], [7, 8, 9])
    chosen = rows.take(np.array([2, 1])).rename(fields("A B")).take(np.array([1]))
    root, index, names = chosen.root(("B",))
    assert root is rows and names == ("Y",)
    assert index is not None and index.tolist() == [1]
    more = chosen.extend([(Field("C", "thing"), np.array([5]))])
    assert more.root(("B", "C"))[0] is more, "one of them begins here"
    assert more.root(("A",))[0] is rows


def test_rows_are_packed_once_where_they_come_from() -> None:
    space, shape = space_of(5)
    rows = rows_of(shape, [4, 0, 3], times=[1, 2, 3])
    assert pack_rows(space, rows, shape, timed=True) is pack_rows(space, rows, shape, timed=True)
    assert pack_rows(space, rows.take(np.array([2])), shape).tolist() == [3 << 6]
    many = rows_of(shape, [1] * 40, times=list(range(40)))
    few = many.take(np.array([39]))
    assert pack_rows(space, few, shape, timed=True).tolist() == [1 << 6 | 39], "few of many are packed on their own"


def test_sorted_and_distinct_is_found_out_once() -> None:
    rows = rows_of(fields("X"), [1, 2])
    points = np.array([3, 5])
    assert rows.is_distinct(points) and rows.is_distinct(points)
    assert not rows.is_distinct(np.array([3, 3]))


# ------------------------------------------------------------------------------------------------ relations


@pytest.fixture
def meetings() -> tuple[World, Relation]:
    world = World()
    node = world.intervals("X Y", [("ann", "bob", 1, 5), ("ann", "cat", 4, 9), ("bob", "cat", 3, None)])
    result = world.executor().evaluate(node)
    assert isinstance(result, Relation)
    return world, result


def test_projecting_unites_the_intervals_of_equal_rows(meetings: tuple[World, Relation]) -> None:
    world, relation = meetings
    assert world.shown(relation.project(fields("X"))) == [("ann", 1, 9), ("bob", 3, None)]
    assert world.shown(relation.project(fields("Y X")))[0] == ("bob", "ann", 1, 5)
    assert relation.project(relation.fields) is relation


def test_codes_keys_and_rows_of_a_relation(meetings: tuple[World, Relation]) -> None:
    world, relation = meetings
    names = world.domains["thing"].values
    assert [names[code] for code in relation.codes("Y").tolist()] == ["bob", "cat", "cat"]
    assert relation.keys().shape == (3,)
    assert relation.project(fields("X")).keys().shape == (2,)
    assert len(relation.rename(fields("A B"))) == 3
    assert relation.rename(relation.fields) is relation
    nothing = Relation.nothing(relation.space, relation.fields)
    assert len(nothing) == 0 and nothing.keys().shape == (0,)


def test_filtering_a_relation(meetings: tuple[World, Relation]) -> None:
    world, relation = meetings
    assert relation.where(np.ones(3, np.bool_)) is relation
    assert world.shown(relation.where(np.array([False, False, True]))) == [("bob", "cat", 3, None)]


def test_points_become_runs() -> None:
    world = World(until=30)
    node = world.points("X", [("ann", 3), ("ann", 4), ("ann", 4), ("ann", 7), ("bob", 30)])
    executor = world.executor()
    rows = executor.evaluate(node)
    assert isinstance(rows, Rows)
    assert world.shown(runs_of(executor.space, rows)) == [("ann", 3, 5), ("ann", 7, 8), ("bob", 30, None)]


def test_runs_end_on_the_grid() -> None:
    world = World(tick=10, until=45)
    node = world.points("X", [("ann", 13), ("ann", 20), ("ann", 38)])
    executor = world.executor()
    rows = executor.evaluate(node)
    assert isinstance(rows, Rows)
    assert world.shown(runs_of(executor.space, rows)) == [("ann", 13, 30), ("ann", 38, 40)]
