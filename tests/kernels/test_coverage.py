"""Marks in windows, counted: against sets of time-points, one time after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import ArrayError
from eventide.kernels.arrays import Intervals
from eventide.kernels.coverage import covered, covered_from, seen_at

SHIFT = 5
MASK = (1 << SHIFT) - 1

# rows of (key, mark, seen from so long after the mark, for so long); a mark is seen once
marks = st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 20)),
                        st.tuples(st.integers(0, 3), st.integers(1, 8)), max_size=40)


def lists(rows: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """The sorted begins and stops of (key, begin, stop)."""
    return (np.sort(np.array([key << SHIFT | begin for key, begin, _ in rows], np.int64)),
            np.sort(np.array([key << SHIFT | stop for key, _, stop in rows], np.int64)))


def points(intervals: Intervals) -> set[int]:
    return {t for s, e in zip(intervals.starts.tolist(), intervals.ends.tolist(), strict=True) for t in range(s, e)}


@given(marks, st.one_of(st.none(), st.integers(0, 6)))
def test_covered_is_all_time_points_of_the_window(found, size):
    seen: dict[tuple[int, int], set[int]] = {}
    rows = []
    for (key, mark), (after, length) in found.items():
        begin, stop = mark + after, min(mark + after + length, MASK if size is None else mark + size + 1)
        if begin < stop:
            rows.append((key, begin, stop))
            for t in range(begin, stop):
                seen.setdefault((key, t), set()).add(mark)
    full = {key << SHIFT | t for (key, t), known in seen.items()
            if known >= set(range(0 if size is None else max(0, t - size), t + 1))}
    assert points(covered(*lists(rows), size, SHIFT)) == full


@given(marks)
def test_seen_at_counts_what_has_begun_and_is_not_over(found):
    rows = [(key, mark + after, mark + after + length) for (key, mark), (after, length) in found.items()]
    at, counts = seen_at(*lists(rows))
    assert at.tolist() == sorted({key << SHIFT | begin for key, begin, _ in rows})
    for point, count in zip(at.tolist(), counts.tolist(), strict=True):
        key, t = point >> SHIFT, point & MASK
        assert count == sum(other == key and begin <= t < stop for other, begin, stop in rows)


def test_a_window_may_begin_anywhere():
    begins, stops = np.array([4, 5, 6]), np.array([MASK, MASK, MASK])
    assert points(covered_from(begins, stops, np.array([4, 3, 4]), SHIFT)) == {4, 6}


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(ArrayError, match="stops"):
        covered(np.array([1, 2]), np.array([3]), 1, SHIFT)
