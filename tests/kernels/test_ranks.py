"""The last n facts of a group: against lists that are counted one time after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import ArrayError
from eventide.kernels.ranks import closed_at, left_at, opened_at

SHIFT = 4
MASK = (1 << SHIFT) - 1
facts = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12)), max_size=20).map(sorted)
sizes = st.integers(1, 4)


def packed(rows: list[tuple[int, int]]) -> np.ndarray:
    return np.array([group << SHIFT | time for group, time in rows], np.int64)


def window(rows: list[tuple[int, int]], group: int, t: int, size: int) -> tuple[int, list[int]]:
    """Where the window of a group begins at t, and the places of the facts in it."""
    known = [place for place, (other, time) in enumerate(rows) if other == group and time <= t]
    return (rows[known[-size]][1] if len(known) >= size else 0), known[-size:]


@given(facts, sizes)
def test_a_fact_leaves_when_it_is_no_longer_among_the_last(rows, size):
    found = left_at(np.arange(len(rows)), packed(rows), size, SHIFT).tolist()
    for place, (group, time) in enumerate(rows):
        seen = [t for t in range(time, MASK) if place in window(rows, group, t, size)[1]]
        assert seen == list(range(time, found[place]))


@given(facts, sizes, st.integers(0, 2))
def test_the_window_begins_at_its_oldest_fact(rows, size, group):
    times = packed([(group, t) for t in range(MASK)])
    begins = [window(rows, group, t, size)[0] for t in range(MASK)]
    assert opened_at(times, packed(rows), size, SHIFT).tolist() == begins
    closed = closed_at(times, packed(rows), size, SHIFT).tolist()
    for time in range(MASK):
        assert [t for t in range(time, MASK) if begins[t] <= time] == list(range(time, closed[time]))


def test_no_fact_at_all_is_no_window():
    with pytest.raises(ArrayError, match="at least one"):
        left_at(np.array([0]), np.array([0]), 0, SHIFT)
