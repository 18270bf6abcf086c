"""Sorted lists that change: against lists of Python numbers and sets of time-points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.oracles import MASK, SHIFT, array, from_set, interval_lists, pairs, points_of

from eventide.errors import ArrayError
from eventide.kernels import cut_at, differing, insert_at, lower, positions_in, since
from eventide.kernels.arrays import EMPTY, Intervals

HIGHEST = 2**63 - 1
NUMBERS = st.one_of(st.integers(-9, 9), st.integers(-(2**63), HIGHEST))
ROWS = st.lists(st.tuples(st.integers(0, 4), st.one_of(st.integers(0, 9), st.sampled_from([-(2**62), HIGHEST]))),
                max_size=40).map(sorted)


# insert_at


def inserted(old: list[int], new: list[int], positions: list[int]) -> list[int]:
    """From the back, so that the positions before stay what they are."""
    result = list(old)
    for value, position in reversed(list(zip(new, positions, strict=True))):
        result.insert(position, value)
    return result


@given(st.lists(NUMBERS, max_size=30), st.data())
def test_new_elements_are_inserted(old: list[int], data: st.DataObject) -> None:
    positions = sorted(data.draw(st.lists(st.integers(0, len(old)), max_size=15)))
    new = data.draw(st.lists(NUMBERS, min_size=len(positions), max_size=len(positions)))
    assert insert_at(array(old), array(new), array(positions)).tolist() == inserted(old, new, positions)


@pytest.mark.parametrize("dtype", ["int64", "float64", "uint64", "datetime64[s]"])
def test_any_64_bits_are_inserted_as_they_are(dtype: str) -> None:
    old, new = array([1, 5]).view(dtype), array([HIGHEST, 3]).view(dtype)
    found = insert_at(old, new, array([0, 2]))
    assert found.dtype == np.dtype(dtype)
    assert found.view(np.int64).tolist() == [HIGHEST, 1, 5, 3]


def test_not_a_number_and_minus_zero_stay() -> None:
    found = insert_at(np.array([-0.0]), np.array([np.nan]), array([1]))
    assert np.signbit(found[0]) and np.isnan(found[1])


def test_what_is_inserted_into_may_be_a_view() -> None:
    assert insert_at(array(range(6))[::2], array(range(4))[::-3], array([0, 1])).tolist() == [3, 0, 0, 2, 4]


def test_the_arrays_given_stay_as_they_were() -> None:
    old, new, positions = array([1, 2]), array([3]), array([1])
    insert_at(old, new, positions)
    assert (old.tolist(), new.tolist(), positions.tolist()) == ([1, 2], [3], [1])


# positions_in


def columns(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return array(code for code, _ in rows), array(time for _, time in rows)


@given(ROWS, ROWS)
def test_new_rows_stand_after_all_that_are_not_greater(rows: list[tuple[int, int]], new: list[tuple[int, int]]) -> None:
    expected = [sum(row <= mine for row in rows) for mine in new]
    assert positions_in(*columns(rows), *columns(new)).tolist() == expected


@given(ROWS, ROWS)
def test_rows_inserted_at_their_positions_are_in_order(rows: list[tuple[int, int]], new: list[tuple[int, int]]) -> None:
    places = positions_in(*columns(rows), *columns(new))
    both = [insert_at(old, mine, places) for old, mine in zip(columns(rows), columns(new), strict=True)]
    assert list(zip(*(part.tolist() for part in both), strict=True)) == sorted(rows + new)


@pytest.mark.parametrize("count", [1, 3, 700])
def test_few_and_many_rows_among_many(count: int) -> None:
    rng = np.random.default_rng(count)
    rows = sorted(zip(rng.integers(0, 30, 900).tolist(), rng.integers(0, 50, 900).tolist(), strict=True))
    new = sorted(zip(rng.integers(-1, 31, count).tolist(), rng.integers(0, 50, count).tolist(), strict=True))
    assert positions_in(*columns(rows), *columns(new)).tolist() == [sum(row <= mine for row in rows) for mine in new]


# differing


@given(interval_lists(), interval_lists(), st.data())
def test_what_only_one_list_has(a: Intervals, other: Intervals, data: st.DataObject) -> None:
    """The lists are independent, or one is the other with some of its intervals replaced."""
    b = other
    if data.draw(st.booleans()):
        chosen = [row for row in pairs(a) if data.draw(st.booleans())]
        b = from_set(points_of(other) - points_of(a) | {p for s, e in chosen for p in range(s, e)})
    ours, theirs = set(pairs(a)), set(pairs(b))
    found = [mask.tolist() for mask in differing(a, b)]
    assert found == [[row not in theirs for row in pairs(a)], [row not in ours for row in pairs(b)]]


def test_a_list_does_not_differ_from_itself() -> None:
    a = Intervals(array([2, 8, 70]), array([6, 9, 127]))
    assert [mask.tolist() for mask in differing(a, a)] == [[False] * 3] * 2


def test_intervals_with_one_end_in_common_differ() -> None:
    a, b = Intervals(array([2, 8]), array([6, 9])), Intervals(array([3, 8]), array([6, 10]))
    assert [mask.tolist() for mask in differing(a, b)] == [[True, True]] * 2


# cut_at

FRONTS = st.lists(st.one_of(st.integers(-2, MASK + 2), st.just(1 << 62)), min_size=4, max_size=4)


@given(interval_lists(), FRONTS)
def test_intervals_are_cut_where_their_key_says(a: Intervals, front: list[int]) -> None:
    """The code is the last two bits of the key."""

    def is_before(point: int) -> bool:
        time, code = point & MASK, point >> SHIFT & 3
        return time < front[code]

    early, late = (cut_at(a, SHIFT, SHIFT, 2, array(front), before=before) for before in (True, False))
    assert early == from_set(p for p in points_of(a) if is_before(p))
    assert late == from_set(p for p in points_of(a) if not is_before(p))


@given(interval_lists(keys=tuple(range(16))), st.integers(0, 3), st.integers(0, 4), st.data())
def test_the_code_may_stand_anywhere_in_the_key(a: Intervals, skip: int, width: int, data: st.DataObject) -> None:
    size = 1 << width
    front = data.draw(st.lists(st.integers(0, MASK), min_size=size, max_size=size + 2))
    found = cut_at(a, SHIFT, SHIFT + skip, width, array(front), before=True)
    expected = from_set(p for p in points_of(a) if p & MASK < front[p >> (SHIFT + skip) & (size - 1)])
    assert found == expected


def test_an_open_interval_stays_open_from_the_front_on() -> None:
    a = Intervals(array([2]), array([15]))
    assert pairs(cut_at(a, 4, 4, 0, array([5]), before=False)) == [(5, 15)]
    assert pairs(cut_at(a, 4, 4, 0, array([5]), before=True)) == [(2, 5)]
    assert pairs(cut_at(a, 4, 4, 0, array([1 << 62]), before=True)) == [(2, 15)]
    assert pairs(cut_at(a, 4, 4, 0, array([1 << 62]), before=False)) == []


# since and lower

AT = st.lists(st.tuples(st.integers(0, 3), NUMBERS), max_size=40)


@given(AT, st.lists(NUMBERS, min_size=4, max_size=4))
def test_rows_from_their_fronts_on(rows: list[tuple[int, int]], front: list[int]) -> None:
    codes, times = columns(rows)
    assert since(times, codes, array(front)).tolist() == [i for i, (c, t) in enumerate(rows) if t >= front[c]]


@given(AT, st.lists(NUMBERS, min_size=4, max_size=5))
def test_fronts_are_lowered_to_the_least_time(rows: list[tuple[int, int]], front: list[int]) -> None:
    lowest = array(front)
    number = lower(lowest, *columns(rows))
    assert lowest.tolist() == [min([f, *(t for c, t in rows if c == code)]) for code, f in enumerate(front)]
    assert number == sum(t < min([front[c], *(u for d, u in rows[:i] if d == c)]) for i, (c, t) in enumerate(rows))


# nothing, and what is wrong


def test_nothing_in_nothing_out() -> None:
    none = array([])
    assert insert_at(none, none, none).tolist() == positions_in(none, none, none, none).tolist() == []
    assert insert_at(array([4]), none, none).tolist() == [4]
    assert insert_at(none, array([4, 3]), array([0, 0])).tolist() == [4, 3]
    assert positions_in(none, none, array([1]), array([2])).tolist() == [0]
    assert [mask.tolist() for mask in differing(EMPTY, Intervals(array([1]), array([2])))] == [[], [True]]
    assert len(cut_at(EMPTY, 4, 4, 0, array([3]), before=True)) == 0
    assert since(none, none, none).tolist() == [] and lower(none, none, none) == 0


GOOD, NONE, ONE = Intervals(array([1, 5]), array([3, 7])), array([]), array([0])
TOUCHING = Intervals(array([1, 3]), array([3, 5]))
WRONG: list[Any] = [
    (lambda: insert_at(ONE, ONE, np.array([0.0])), "positions", None),
    (lambda: insert_at(ONE, ONE, array([0, 1])), "new", 1),
    (lambda: insert_at(ONE, np.array([0.5]), ONE), "new", None),
    (lambda: insert_at(np.zeros(1, np.int32), np.zeros(1, np.int32), ONE), "new", None),
    (lambda: insert_at(ONE, ONE, array([2])), "positions", None),
    (lambda: insert_at(ONE, ONE, array([-1])), "positions", 0),
    (lambda: insert_at(array([1, 2]), array([8, 9]), array([2, 0])), "positions", 1),
    (lambda: positions_in([0], ONE, ONE, ONE), "codes", None),  # type: ignore[arg-type]
    (lambda: positions_in(ONE, np.zeros((1, 1), np.int64), ONE, ONE), "times", None),
    (lambda: positions_in(ONE, ONE, array(range(4))[::2], array([0, 0])), "new_codes", None),
    (lambda: positions_in(ONE, ONE, ONE, np.zeros(1)), "new_times", None),
    (lambda: positions_in(ONE, NONE, ONE, ONE), "times", 0),
    (lambda: positions_in(ONE, ONE, ONE, array([0, 1])), "new_times", 1),
    (lambda: differing(TOUCHING, GOOD), "a.starts", 1),
    (lambda: differing(GOOD, TOUCHING), "b.starts", 1),
    (lambda: differing(GOOD, (ONE, ONE)), "b", None),  # type: ignore[arg-type]
    (lambda: cut_at(TOUCHING, 4, 4, 0, ONE, before=True), "a.starts", 1),
    (lambda: cut_at(GOOD, 4, 4, 1, ONE, before=True), "front", None),
    (lambda: cut_at(GOOD, 4, 4, 0, np.zeros(1), before=True), "front", None),
    (lambda: cut_at(GOOD, 0, 4, 0, ONE, before=True), "shift", None),
    (lambda: since(np.zeros(1), ONE, ONE), "times", None),
    (lambda: since(ONE, array([0, 0]), ONE), "codes", 1),
    (lambda: since(ONE, array([1]), ONE), "codes", None),
    (lambda: since(ONE, array([-1]), ONE), "codes", None),
    (lambda: since(ONE, ONE, [0]), "front", None),  # type: ignore[arg-type]
    (lambda: lower(ONE, array([1]), ONE), "codes", None),
    (lambda: lower(ONE, array([-1]), ONE), "codes", None),
    (lambda: lower(ONE, ONE, NONE), "times", 0),
    (lambda: lower(np.zeros(1), ONE, ONE), "front", None),
]


@pytest.mark.parametrize(("call", "argument", "index"), WRONG)
def test_bad_arguments_name_the_argument_and_the_place(
    call: Callable[[], object], argument: str, index: int | None
) -> None:
    with pytest.raises(ArrayError) as error:
        call()
    assert (error.value.argument, error.value.index) == (argument, index)
