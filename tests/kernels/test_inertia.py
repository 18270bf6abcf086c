"""Inertia against a simulation that walks over every time-point, and RTEC's own micro cases by their tags."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels import state_oracles as oracle

from eventide.errors import ArrayError
from eventide.kernels.inertia import BROKEN, INITIATED, inertia, inertia_values, tag

SHIFT = 6
MASK = (1 << SHIFT) - 1
INF = MASK
TIES = ("termination", "initiation")
HIGHEST = (2**63 - 1) >> SHIFT

ties = st.sampled_from(TIES)
keys = st.lists(st.one_of(st.integers(0, 4), st.just(HIGHEST)), unique=True, min_size=1, max_size=4).map(sorted)


def pack(key: int, time: int) -> int:
    return (key << SHIFT) + time


def ints(values: object) -> np.ndarray:
    return np.array(values, np.int64)


@st.composite
def streams(draw: st.DrawFn, code: st.SearchStrategy[int], *, distinct: bool) -> tuple[int, list[int], list[int]]:
    """A tick, sorted points on its grid over several keys, and a code for each."""
    tick = draw(st.integers(1, 3))
    cells = st.tuples(st.sampled_from(draw(keys)), st.integers(1, (MASK - 2) // tick - 1).map(lambda k: k * tick))
    unique = (lambda row: row[0]) if distinct else None
    rows = draw(st.lists(st.tuples(cells, code), max_size=25, unique_by=unique))
    rows.sort(key=lambda row: row[0])
    return tick, [pack(*cell) for cell, _ in rows], [code for _, code in rows]


@st.composite
def held(draw: st.DrawFn, points: list[int], values: st.SearchStrategy[int], several: bool) -> list[tuple[int, int]]:
    """What holds on entry: for some keys, with or without rows, (point of a start not after the first row, value)."""
    found = []
    for key in draw(st.lists(st.one_of(st.integers(0, 6), st.just(HIGHEST)), unique=True, max_size=3)):
        first = min((point & MASK for point in points if point >> SHIFT == key), default=MASK - 4)
        count = 3 if several else 1
        for value in draw(st.lists(values, unique=True, min_size=1, max_size=count)):
            found.append((pack(key, draw(st.integers(0, first))), value))
    return sorted(found)


# ------------------------------------------------------------------------------------------------ laws


@given(st.data(), streams(st.integers(0, 3), distinct=True), ties)
def test_inertia_is_the_simulation(data, stream, rule):
    tick, points, codes = stream
    carried = [point for point, _ in data.draw(held(points, st.just(0), several=False))]
    found = inertia(ints(points), np.array(codes, np.uint32), SHIFT, tick, rule, ints(carried))
    expected = oracle.inertia(points, codes, SHIFT, tick, rule, carried)
    assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == expected
    assert (found.ends[:-1] < found.starts[1:]).all(), "normal form"


VALUES = st.integers(0, 3)
MANY = st.one_of(VALUES, st.integers(60, 64), st.just(2**40))


def code_of(values: st.SearchStrategy[int]) -> st.SearchStrategy[int]:
    return st.one_of(st.tuples(values, st.integers(0, 1)).map(lambda row: 2 * row[0] + row[1]), st.just(-1))


@pytest.mark.parametrize("values", [VALUES, MANY], ids=["few", "many"])
@given(st.data(), ties)
def test_inertia_values_is_the_simulation(values, data, rule):
    tick, points, codes = data.draw(streams(code_of(values), distinct=False))
    carried = data.draw(held(points, values, several=rule == "initiation"))
    found = inertia_values(
        ints(points), ints(codes), SHIFT, tick, rule, ints([p for p, _ in carried]), ints([v for _, v in carried])
    )
    expected = oracle.inertia_values(points, codes, SHIFT, tick, rule, carried)
    assert list(zip(*(part.tolist() for part in found), strict=True)) == expected


@given(streams(st.integers(0, 3), distinct=True), ties, st.integers(0, MASK))
def test_a_run_may_be_cut_anywhere(stream, rule, cut):
    tick, points, codes = stream
    points, codes = ints(points), np.array(codes, np.uint32)
    whole = inertia(points, codes, SHIFT, tick, rule)
    early = (points & MASK) <= cut
    first = inertia(points[early], codes[early], SHIFT, tick, rule)
    is_open = first.ends & MASK == MASK
    second = inertia(points[~early], codes[~early], SHIFT, tick, rule, first.starts[is_open])
    glued = sorted(zip(first.starts[~is_open], first.ends[~is_open], strict=True))
    glued = sorted(glued + list(zip(second.starts, second.ends, strict=True)))
    assert glued == list(zip(whole.starts, whole.ends, strict=True))


@given(st.lists(st.tuples(st.lists(st.integers(0, 40)).map(sorted), st.integers(0, 2**32 - 1)), max_size=5))
def test_tag_is_the_or_of_the_lists(lists):
    points, codes = tag([ints(points) for points, _ in lists], [code for _, code in lists])
    expected: dict[int, int] = {}
    for listed, code in lists:
        for point in listed:
            expected[point] = expected.get(point, 0) | code
    assert dict(zip(points.tolist(), codes.tolist(), strict=True)) == expected
    assert points.tolist() == sorted(expected) and codes.dtype == np.uint32


# ------------------------------------------------------------------------------------------------ RTEC's micro cases

H, W = 0, 1

ONE_VALUE = {  # tag: initiations, terminations, intervals under termination, under initiation
    "E01": ([5], [10], [(6, 11)], None),
    "E02a": ([5], [5], [], [(6, INF)]),
    "E02b": ([2, 5], [5], [(3, 6)], [(3, INF)]),
    "E02c": ([2, 5, 8], [5, 12], [(3, 6), (9, 13)], [(3, 13)]),
    "E03": ([2, 4], [10], [(3, 11)], None),
    "E04": ([], [5], [], None),
    "E06c": ([2, 6], [5, 9], [(3, 6), (7, 10)], None),
    "initiated again at 7 meanwhile": ([5, 7], [10], [(6, 11)], None),
    "adjacent initiation after a break": ([2, 6], [6], [(3, 7)], [(3, INF)]),
}


@pytest.mark.parametrize("rule", TIES)
@pytest.mark.parametrize("name", ONE_VALUE)
def test_one_value(name, rule):
    initiated, terminated, expected, otherwise = ONE_VALUE[name]
    found = inertia(*tag([ints(initiated), ints(terminated)], [INITIATED, BROKEN]), SHIFT, ties=rule)
    wanted = otherwise if rule == "initiation" and otherwise is not None else expected
    assert list(zip(found.starts, found.ends, strict=True)) == wanted


SEVERAL_VALUES = {  # tag: rows (time, code), intervals under termination, under initiation
    "E07": ([(5, 2 * H), (10, 2 * W)], [(6, 11, H), (11, INF, W)], None),
    "E08a": ([(5, 2 * H), (5, 2 * W)], [], [(6, INF, H), (6, INF, W)]),
    "E08b": ([(2, 2 * H), (5, 2 * W), (5, 2 * H)], [(3, 6, H)], [(3, INF, H), (6, INF, W)]),
    "V21": ([(2, 2 * H), (2, 2 * W), (5, 2 * H)], [(6, INF, H)], [(3, INF, H), (3, 6, W)]),
    "E08d": ([(2, 2 * H), (5, 2 * H + 1), (5, 2 * W)], [(3, 6, H), (6, INF, W)], None),
    "V20": ([(2, 2 * H), (5, -1)], [(3, 6, H)], None),
    "initiated and ended, still breaks": (
        [(2, 2 * H), (5, 2 * W), (5, 2 * W + 1)],
        [(3, 6, H)],
        [(3, 6, H), (6, INF, W)],
    ),
    "every value terminated beside an initiation": (
        [(2, 2 * H), (5, 2 * W), (5, -1)],
        [(3, 6, H)],
        [(3, 6, H), (6, INF, W)],
    ),
    "V17": ([(5, 2 * H), (8, 2 * H + 1)], [(6, 9, H)], None),
}


@pytest.mark.parametrize("rule", TIES)
@pytest.mark.parametrize("name", SEVERAL_VALUES)
def test_several_values(name, rule):
    rows, expected, otherwise = SEVERAL_VALUES[name]
    found = inertia_values(ints([time for time, _ in rows]), ints([code for _, code in rows]), SHIFT, ties=rule)
    wanted = otherwise if rule == "initiation" and otherwise is not None else expected
    assert list(zip(*(part.tolist() for part in found), strict=True)) == wanted


@pytest.mark.parametrize(("name", "initiated", "terminated"), [("G01", 80, 200), ("G04", 90, 210)])
def test_ticks_of_forty(name, initiated, terminated):
    times = ints([initiated, terminated])
    snapped = times - times % 40  # G04: what is off the grid counts at the grid point below
    found = inertia(snapped, np.array([1, 2], np.uint32), 10, tick=40)
    assert (found.starts.tolist(), found.ends.tolist()) == ([120], [240])


def test_nothing_in_nothing_out():
    none, no_codes = ints([]), np.array([], np.uint32)
    assert len(inertia(none, no_codes, SHIFT)) == 0
    assert [len(part) for part in inertia_values(none, none, SHIFT)] == [0, 0, 0]
    assert [len(part) for part in tag([], [])] == [0, 0]


def test_what_holds_on_entry_stays_open_without_rows():
    found = inertia(ints([]), np.array([], np.uint32), SHIFT, carried=ints([pack(3, 7)]))
    assert (found.starts.tolist(), found.ends.tolist()) == ([pack(3, 7)], [pack(3, MASK)])


# ------------------------------------------------------------------------------------------------ bad arrays


def test_bad_arguments_name_the_argument_and_the_place():
    u32 = np.array([1, 2], np.uint32)
    one, zero = ints([1]), ints([0])
    cases = [
        (lambda: inertia(ints([5, 5]), u32, SHIFT), "points", 1),
        (lambda: inertia(ints([7, 5]), u32, SHIFT), "points", 1),
        (lambda: inertia(ints([-1, 5]), u32, SHIFT), "points", 0),
        (lambda: inertia(ints([5, MASK - 1]), u32, SHIFT), "points", 1),
        (lambda: inertia(ints([5, 6]), ints([1, 2]), SHIFT), "codes", None),
        (lambda: inertia(ints([5, 6, 7]), u32, SHIFT), "codes", 2),
        (lambda: inertia(ints([5, 6]), u32, 64), "shift", None),
        (lambda: inertia(ints([5, 6]), u32, SHIFT, tick=0), "tick", None),
        (lambda: inertia(ints([5, 6]), u32, SHIFT, ties="both"), "ties", None),
        (lambda: inertia(ints([5, 6]), u32, SHIFT, carried=ints([1, 2])), "carried", 1),
        (lambda: inertia(ints([5, 6]), u32, SHIFT, carried=ints([6])), "carried", 0),
        (lambda: inertia(ints([5, 6]), u32, SHIFT, carried=ints([70, 2])), "carried", 1),
        (lambda: inertia_values(ints([5, 4]), ints([0, 1]), SHIFT), "points", 1),
        (lambda: inertia_values(ints([4, 5]), ints([0, -2]), SHIFT), "codes", 1),
        (lambda: inertia_values(one, zero, SHIFT, carried=one, carried_values=-one), "carried_values", 0),
        (lambda: inertia_values(one, zero, SHIFT, carried=one), "carried_values", 0),
        (lambda: inertia_values(ints([4]), zero, SHIFT, 1, "initiation", ints([1, 2]), ints([3, 3])),
         "carried_values", 1),
        (lambda: tag([ints([1]), ints([3, 2])], [1, 2]), "lists[1]", 1),
        (lambda: tag([ints([1])], [1, 2]), "tags", 1),
        (lambda: tag([ints([1])], [1 << 32]), "tags", 0),
    ]  # fmt: skip
    for call, argument, index in cases:
        with pytest.raises(ArrayError) as error:
            call()
        assert (error.value.argument, error.value.index) == (argument, index)
