"""The metric operators on integer time against their definitions, time-point by time-point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.oracles import MASK, SHIFT, array, from_set, interval_lists, pairs

from eventide.errors import ArrayError
from eventide.kernels.arrays import Intervals, check_intervals
from eventide.kernels.metric import dilate, erode, shift_by

AMOUNTS = st.integers(-MASK - 2, MASK + 2) | st.integers(-5, 5)


def timeline(a: Intervals) -> dict[int, set[int]]:
    """Per key the times that hold; an open end goes on for longer than any amount in these tests."""
    times: dict[int, set[int]] = {}
    for s, e in pairs(a):
        end = 10 * MASK if e & MASK == MASK else e & MASK
        times.setdefault(s >> SHIFT, set()).update(range(s & MASK, end))
    return times


def flat(times: dict[int, set[int]]) -> Intervals:
    return from_set((key << SHIFT) + t for key, some in times.items() for t in some if 0 <= t < MASK)


@given(interval_lists(), AMOUNTS)
def test_shift_by(a: Intervals, amount: int) -> None:
    assert shift_by(a, amount, SHIFT) == flat({key: {t + amount for t in some} for key, some in timeline(a).items()})


@given(interval_lists(), AMOUNTS, st.integers(0, 8) | st.just(2 * MASK))
def test_dilate(a: Intervals, low: int, width: int) -> None:
    result = dilate(a, low, low + width, SHIFT)
    expected = {
        key: {t for t in range(MASK) if not some.isdisjoint(range(t - low - width, t - low + 1))}
        for key, some in timeline(a).items()
    }
    assert result == flat(expected)
    check_intervals("result", result)


@given(interval_lists(), AMOUNTS, st.integers(0, 8) | st.just(2 * MASK))
def test_erode(a: Intervals, low: int, width: int) -> None:
    result = erode(a, low, low + width, SHIFT)
    expected = {
        key: {t for t in range(MASK) if some.issuperset(range(t - low - width, t - low + 1))}
        for key, some in timeline(a).items()
    }
    assert result == flat(expected)


@given(interval_lists(), st.integers(0, 9))
def test_without_an_upper_bound(a: Intervals, low: int) -> None:
    first = {key: min(some) for key, some in timeline(a).items()}
    assert dilate(a, low, None, SHIFT) == flat({key: set(range(t + low, MASK)) for key, t in first.items()})
    assert len(erode(a, low, None, SHIFT)) == 0


def test_a_pinned_start_lies_at_minus_infinity() -> None:
    a = Intervals(array([0, 9]), array([5, 12]))
    assert pairs(dilate(a, 2, 3, SHIFT, pinned=True)) == [(0, 8), (11, 15)]
    assert pairs(erode(a, 1, None, SHIFT, pinned=True)) == [(0, 6)]


def test_long_lists_cross_the_blocks() -> None:
    starts = np.arange(3000, dtype=np.int64) << SHIFT
    a = Intervals(starts + 1, starts + 3)
    assert shift_by(a, 5, SHIFT) == Intervals(starts + 6, starts + 8)
    assert len(erode(a, 0, 2, SHIFT)) == 0


def test_the_whole_range_of_int64() -> None:
    top, last = 1 << 62, np.iinfo(np.int64).max
    a = Intervals(array([3, top + 3]), array([top - 1, top + 9]))
    assert pairs(shift_by(a, top, 62)) == []
    assert pairs(shift_by(a, -5, 62)) == [(0, top - 1), (top, top + 4)]
    assert pairs(dilate(a, 0, top, 62)) == [(3, top - 1), (top + 3, last)]
    assert pairs(erode(a, 0, 5, 62)) == [(8, top - 1), (top + 8, top + 9)]
    assert pairs(shift_by(Intervals(array([3]), array([9])), last - 20, 63)) == [(last - 17, last - 11)]
    assert pairs(shift_by(Intervals(array([3]), array([9])), last, 63)) == []


def test_refusals() -> None:
    a = Intervals(array([0, 4]), array([5, 6]))
    for verb in (dilate, erode):
        with pytest.raises(ArrayError, match="low: 3 is greater than high, 2"):
            verb(Intervals(array([0]), array([5])), 3, 2, SHIFT)
        with pytest.raises(ArrayError, match=r"a\.starts: .* at index 1"):
            verb(a, 0, 1, SHIFT)
    with pytest.raises(ArrayError, match=r"a\.starts: .* at index 1"):
        shift_by(a, 0, SHIFT)
