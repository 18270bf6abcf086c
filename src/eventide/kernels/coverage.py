"""Counting marks: how many are seen, and where every time-point of a window is marked. No joins, no runs (see stab).

A mark is a time-point that something is known of. It is seen during an interval of times that begins at the mark or
later. All time-points of a window that ends at t are marked where as many marks are seen as the window has time-points;
t is one of them, so that a mark begins to be seen at t.
"""

from __future__ import annotations

import numpy as np

from eventide.kernels.arrays import (
    ONE,
    ZERO,
    Array,
    Intervals,
    check_points,
    check_same_length,
    jit,
    time_mask,
    trim,
)
from eventide.kernels.stab import from_points


@jit
def _seen(begins: Array, stops: Array, points: Array, counts: Array) -> int:
    n = np.uintp(begins.shape[0])
    i = j = used = ZERO
    while i < n:
        at = begins[i]
        while i < n and begins[i] == at:
            i += ONE
        while j < n and stops[j] <= at:
            j += ONE
        points[used] = at
        counts[used] = np.int64(i) - np.int64(j)
        used += ONE
    return used


def seen_at(begins: Array, stops: Array, *, trusted: bool = False) -> tuple[Array, Array]:
    """The points at which something begins, each once, and how many are seen there, those that begin included.

    Number i of a key begins at some `begins` and is over at some `stops`; both lists are sorted, each by itself. An end
    `key|mask` means open. O(n), one merge.

    >>> seen_at(np.array([3, 4, 4, 9]), np.array([4, 8, 8, 12]))
    (array([3, 4, 9]), array([1, 2, 1]))
    """
    check_points("begins", begins, trusted=trusted)
    check_points("stops", stops, trusted=trusted)
    check_same_length("stops", stops, "begins", begins.shape[0])
    points, counts = np.empty(begins.shape[0], np.int64), np.empty(begins.shape[0], np.int64)
    used = int(_seen(begins, stops, points, counts))
    return trim(points, used), trim(counts, used)


def covered(begins: Array, stops: Array, size: int | None, shift: int, *, trusted: bool = False) -> Intervals:
    """The times t at which all of the time-points t-size … t are marked, those before time 0 left out; None: 0 … t.

    Marks as in `seen_at`; no mark is seen when it is out of the window. O(n), two passes.

    >>> covered(np.array([3, 4, 5, 9]), np.array([6, 7, 8, 12]), 2, shift=4)
    Intervals(starts=array([5]), ends=array([6]))
    """
    points, counts = seen_at(begins, stops, trusted=trusted)
    times = points & np.int64(time_mask(shift))
    wanted = times if size is None else np.minimum(times, size)
    return from_points(points[counts == wanted + 1], 1, 1, shift, trusted=True)


def covered_from(begins: Array, stops: Array, low: Array, shift: int, *, trusted: bool = False) -> Intervals:
    """The times t at which all time-points low … t are marked; `low[i]` belongs to the i-th point of `seen_at`.

    >>> covered_from(np.array([2, 3, 4]), np.array([4, 5, 15]), np.array([2, 2, 3]), shift=4)
    Intervals(starts=array([2]), ends=array([5]))
    """
    points, counts = seen_at(begins, stops, trusted=trusted)
    check_same_length("low", low, "points", points.shape[0])
    times = points & np.int64(time_mask(shift))
    return from_points(points[counts == times - low + 1], 1, 1, shift, trusted=True)
