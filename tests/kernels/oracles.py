"""Slow and obvious counterparts of the kernels: a set of time-points per key. Not fast, not clever, on purpose."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from hypothesis import strategies as st

from eventide.kernels.arrays import Intervals

SHIFT = 6
MASK = (1 << SHIFT) - 1
# small keys, neighbours, and the last key of all: the sign bit is the next one up
KEYS = (0, 1, 2, 7, (1 << (63 - SHIFT)) - 2, (1 << (63 - SHIFT)) - 1)


def array(numbers: Iterable[int]) -> np.ndarray:
    return np.array(list(numbers), dtype=np.int64)


def points_of(a: Intervals) -> set[int]:
    """Every point in the intervals; an open end reaches the last time of its key."""
    return {p for s, e in zip(a.starts.tolist(), a.ends.tolist(), strict=True) for p in range(s, e)}


def from_set(points: Iterable[int]) -> Intervals:
    """The maximal intervals of a set of points."""
    chosen = set(points)
    starts = sorted(p for p in chosen if p - 1 not in chosen)
    ends = sorted(p + 1 for p in chosen if p + 1 not in chosen)
    return Intervals(array(starts), array(ends))


def pairs(a: Intervals) -> list[tuple[int, int]]:
    return list(zip(a.starts.tolist(), a.ends.tolist(), strict=True))


@st.composite
def interval_lists(draw: st.DrawFn, keys: tuple[int, ...] = KEYS, shift: int = SHIFT) -> Intervals:
    """An interval list in normal form over some of the keys, with open ends now and then."""
    mask = (1 << shift) - 1
    starts: list[int] = []
    ends: list[int] = []
    for key in sorted(draw(st.sets(st.sampled_from(keys), max_size=4))):
        size = draw(st.integers(1, 5))
        if draw(st.booleans()):
            # any two neighbouring bounds are distinct, so the list is in normal form
            times = sorted(draw(st.sets(st.integers(0, mask), min_size=2 * size, max_size=2 * size)))
        else:
            times = sorted(draw(st.sets(st.integers(0, mask - 1), min_size=2 * size - 1, max_size=2 * size - 1)))
            times.append(mask)
        starts += [(key << shift) + t for t in times[0::2]]
        ends += [(key << shift) + t for t in times[1::2]]
    return Intervals(array(starts), array(ends))


@st.composite
def point_arrays(draw: st.DrawFn, keys: tuple[int, ...] = KEYS, shift: int = SHIFT, max_size: int = 40) -> np.ndarray:
    """Points in any order, with repetitions."""
    mask = (1 << shift) - 1
    point = st.builds(lambda key, time: (key << shift) + time, st.sampled_from(keys), st.integers(0, mask - 1))
    return array(draw(st.lists(point, max_size=max_size)))
