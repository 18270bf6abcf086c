"""Points and intervals: stabbing, locating, starts, ends and runs against sets of time-points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels import state_oracles as oracle

from eventide.errors import ArrayError
from eventide.kernels.arrays import EMPTY, Intervals
from eventide.kernels.stab import ends_of, from_points, locate, stab, stab_any, starts_of

SHIFT = 4
MASK = (1 << SHIFT) - 1
BIG = ((2**63 - 1) >> SHIFT) << SHIFT  # the highest key


def ints(values: object) -> np.ndarray:
    return np.array(values, np.int64)


def intervals(rows: list[tuple[int, int]]) -> Intervals:
    return Intervals(ints([start for start, _ in rows]), ints([end for _, end in rows]))


# maximal intervals of random cells, moved up to the highest key now and then; the last cell of a key is reserved
cells = st.sets(st.integers(0, 4 * (MASK + 1)).filter(lambda cell: cell & MASK != MASK), max_size=40)
lists = st.tuples(cells, st.booleans()).map(lambda row: [(a, b) for a, b in oracle.maximal(row[0])])
somewhere = st.lists(st.integers(0, 4 * (MASK + 1) + 3), max_size=60)


@given(somewhere.map(sorted), lists, st.sampled_from([0, BIG]))
def test_stab_and_locate_are_membership(points, rows, base):
    base -= (4 << SHIFT) if base else 0
    a = intervals([(start + base, end + base) for start, end in rows])
    moved = ints(points) + base
    inside = oracle.cover(rows)
    assert stab(moved, a).tolist() == [point in inside for point in points]
    expected = [next((k for k, (s, e) in enumerate(rows) if s <= point < e), -1) for point in points]
    assert locate(moved, a).tolist() == expected


@given(somewhere, lists)
def test_any_order_is_the_same_as_sorted(points, rows):
    a, inside = intervals(rows), oracle.cover(rows)
    assert stab_any(ints(points), a).tolist() == [point in inside for point in points]
    found = locate(ints(points), a)
    assert all((k < 0) == (point not in inside) for k, point in zip(found, points, strict=True))
    assert all(rows[k][0] <= point < rows[k][1] for k, point in zip(found, points, strict=True) if k >= 0)


@pytest.mark.parametrize("count", [1, 3, 40, 2000])
def test_few_and_many_points_take_other_paths_to_the_same_answer(count):
    rng = np.random.default_rng(count)
    rows = oracle.maximal(rng.choice(1000, 500, replace=False).tolist())
    inside = oracle.cover(rows)
    points = np.sort(rng.integers(0, 1000, count))
    for part in (rows, rows[:1], rows[3:6]):
        covered = inside if part is rows else oracle.cover(part)
        assert stab(points, intervals(part)).tolist() == [point in covered for point in points.tolist()]


@pytest.mark.parametrize(("time", "expected"), [(5, False), (6, True), (10, True), (11, False)])
def test_s10_holds_at(time, expected):
    assert stab(ints([time]), intervals([(6, 11)])).tolist() == [expected]


def test_s01_start_and_end_events():
    a = intervals([(6, 11)])
    assert (starts_of(a, 1).tolist(), ends_of(a, 1, SHIFT).tolist()) == ([5], [10])


def test_s06_start_and_end_events_with_ticks_of_forty():
    a = intervals([(120, 240)])
    assert (starts_of(a, 40).tolist(), ends_of(a, 40, 10).tolist()) == ([80], [200])


def test_s05_what_holds_from_time_zero_has_no_start_event():
    a = intervals([(0, 3), (16, 20), (22, 24)])
    assert starts_of(a, 1, SHIFT).tolist() == [21]


def test_open_intervals_have_no_end_event():
    assert ends_of(intervals([(2, MASK), (18, 20)]), 1, SHIFT).tolist() == [19]


@given(
    st.lists(st.integers(0, 4 * (MASK + 1)).filter(lambda cell: cell & MASK != MASK), max_size=40).map(sorted),
    st.integers(1, 4),
    st.integers(1, 4),
    st.one_of(st.none(), st.integers(0, MASK - 1)),
)
def test_from_points_is_the_cover_of_runs(points, gap, length, until):
    expected = []
    for key in sorted({point >> SHIFT for point in points}):
        base, limit = key << SHIFT, (key << SHIFT) + MASK
        mine = sorted({point for point in points if point >> SHIFT == key})
        runs: list[list[int]] = []
        for point in mine:
            if runs and point - runs[-1][-1] <= gap:
                runs[-1].append(point)
            else:
                runs.append([point])
        covered: set[int] = set()
        for run in runs:
            end = limit if run[-1] - base == until else min(run[-1] + length, limit)
            covered |= set(range(run[0], end))
        expected += oracle.maximal(covered)
    found = from_points(ints(points), gap, length, SHIFT, until)
    assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == expected


def test_d14_points_of_an_input_fluent():
    found = from_points(ints([3, 4, 8, 9]), 1, 1, SHIFT, until=9)
    assert (found.starts.tolist(), found.ends.tolist()) == ([3, 8], [5, MASK])


def test_nothing_in_nothing_out():
    none = ints([])
    assert stab(none, EMPTY).tolist() == locate(none, EMPTY).tolist() == []
    assert stab(ints([3]), EMPTY).tolist() == [False] and locate(ints([3]), EMPTY).tolist() == [-1]
    assert len(starts_of(EMPTY, 1)) == len(ends_of(EMPTY, 1, SHIFT)) == len(from_points(none, 1, 1, SHIFT)) == 0


def test_bad_arguments_name_the_argument_and_the_place():
    good = intervals([(1, 3), (5, 7)])
    cases = [
        (lambda: stab(ints([3, 1]), good), "points", 1),
        (lambda: stab([3], good), "points", None),
        (lambda: stab(ints([3]), intervals([(1, 3), (3, 5)])), "a.starts", 1),
        (lambda: locate(ints([3]), intervals([(3, 3)])), "a.starts", 0),
        (lambda: locate(np.array([1.5]), good), "points", None),
        (lambda: from_points(ints([2, 1]), 1, 1, SHIFT), "points", 1),
        (lambda: from_points(ints([2]), 1, 0, SHIFT), "length", None),
    ]
    for call, argument, index in cases:
        with pytest.raises(ArrayError) as error:
            call()
        assert (error.value.argument, error.value.index) == (argument, index)
