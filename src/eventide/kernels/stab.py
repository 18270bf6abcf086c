"""Between points and intervals: which points lie in intervals, where intervals begin and end, runs of points.

Not for algebra on intervals (see intervals) and not for initiations and breaks (see inertia).
"""

from __future__ import annotations

import numpy as np

from eventide.errors import ArrayError
from eventide.kernels.arrays import (
    ONE,
    ZERO,
    Array,
    Intervals,
    Mask,
    check_array,
    check_intervals,
    check_points,
    jit,
    time_mask,
    trimmed,
)

_FILL = 1024  # from so many points per interval on, walking the intervals is faster than walking the points
_SEARCH = 32  # from so many intervals per point on, searching is faster than walking the intervals


@jit
def _stab_merge(points, starts, ends, found):  # type: ignore[no-untyped-def]
    n, m = np.uintp(points.shape[0]), np.uintp(starts.shape[0])
    i, j = ZERO, ZERO
    while i < n and j < m:
        start, end = starts[j], ends[j]
        while i < n and points[i] < end:
            found[i] = points[i] >= start
            i += ONE
        j += ONE
    while i < n:
        found[i] = False
        i += ONE


@jit
def _first_not_below(points, low, bound):  # type: ignore[no-untyped-def]
    """The first index from `low` on whose point is not below `bound`: gallop, then bisect."""
    n = points.shape[0]
    step = 1
    high = low
    while high < n and points[high] < bound:
        low = high + 1
        high += step
        step *= 2
    high = min(high, n)
    while low < high:
        middle = (low + high) >> 1
        if points[middle] < bound:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def _stab_fill(points, starts, ends, found):  # type: ignore[no-untyped-def]
    """`found` comes in all False: only the covered stretches are written."""
    at = 0
    for j in range(starts.shape[0]):
        low = _first_not_below(points, at, starts[j])
        at = _first_not_below(points, low, ends[j])
        found[low:at] = True


@jit
def _locate_merge(points, starts, ends, index):  # type: ignore[no-untyped-def]
    n, m = np.uintp(points.shape[0]), np.uintp(starts.shape[0])
    i, j = ZERO, ZERO
    while i < n and j < m:
        start, end = starts[j], ends[j]
        while i < n and points[i] < end:
            index[i] = np.int64(j) if points[i] >= start else np.int64(-1)
            i += ONE
        j += ONE
    while i < n:
        index[i] = -1
        i += ONE


def _search(points: Array, a: Intervals) -> Array:
    """Binary search, points in any order."""
    index: Array = np.searchsorted(a.starts, points, side="right") - 1
    index[points >= a.ends[index]] = -1  # index -1 reads the last end: harmless, it stays -1
    return index


def stab(points: Array, a: Intervals, *, trusted: bool = False) -> Mask:
    """Whether each point lies in an interval of `a` (RTEC's holdsAt). Points sorted, repeated ones fine.

    Cost: O(n + m), one merge; O(m log n) plus a fill when intervals are few; O(n log m) when points are few.

    >>> stab(np.array([5, 6, 10, 11]), Intervals(np.array([6]), np.array([11]))).tolist()
    [False, True, True, False]
    """
    check_points("points", points, trusted=trusted)
    check_intervals("a", a, trusted=trusted)
    n, m = points.shape[0], len(a)
    if n >= _FILL * m:
        found = np.zeros(n, np.bool_)
        _stab_fill(points, a.starts, a.ends, found)
        return found
    if m >= _SEARCH * n:
        return _search(points, a) >= 0
    found = np.empty(n, np.bool_)
    _stab_merge(points, a.starts, a.ends, found)
    return found


def locate(points: Array, a: Intervals, *, trusted: bool = False) -> Array:
    """The index of the interval that contains each point, or -1. Points in any order.

    Cost: O(n + m), one merge, if the points are sorted; otherwise, or if points are few, O(n log m). `trusted` skips
    the check of the intervals only.

    >>> locate(np.array([7, 3, 20]), Intervals(np.array([1, 6]), np.array([4, 11]))).tolist()
    [1, 0, -1]
    """
    check_array("points", points)
    check_intervals("a", a, trusted=trusted)
    n, m = points.shape[0], len(a)
    if n == 0 or m == 0:
        return np.full(n, -1, np.int64)
    if m >= _SEARCH * n or bool((points[1:] < points[:-1]).any()):
        return _search(points, a)
    index = np.empty(n, np.int64)
    _locate_merge(points, a.starts, a.ends, index)
    return index


def stab_any(points: Array, a: Intervals, *, trusted: bool = False) -> Mask:
    """Whether each point lies in an interval of `a`, points in any order. Cost: as `locate`.

    >>> stab_any(np.array([10, 5]), Intervals(np.array([6]), np.array([11]))).tolist()
    [True, False]
    """
    return locate(points, a, trusted=trusted) >= 0


def starts_of(a: Intervals, tick: int, shift: int | None = None) -> Array:
    """The points at which the intervals were initiated (RTEC's `start(F=V)` events): one tick before each start.

    An interval that began at time 0 has no such point; give `shift` to leave those out. Cost: O(n).

    >>> starts_of(Intervals(np.array([6]), np.array([11])), 1).tolist()
    [5]
    """
    check_intervals("a", a, trusted=True)
    starts = a.starts
    if shift is not None:
        inside = starts & time_mask(shift) >= tick
        starts = starts if inside.all() else starts[inside]
    return starts - tick


def ends_of(a: Intervals, tick: int, shift: int) -> Array:
    """The points at which the closed intervals were broken (RTEC's `end(F=V)` events): one tick before each end.

    Open intervals have none. Cost: O(n).

    >>> ends_of(Intervals(np.array([6, 20]), np.array([11, 255])), 1, 8).tolist()
    [10]
    """
    check_intervals("a", a, trusted=True)
    mask = time_mask(shift)
    closed = a.ends & mask != mask
    ends = a.ends if closed.all() else a.ends[closed]
    return ends - tick


@jit
def _runs(points, gap, length, mask, until, starts, ends):  # type: ignore[no-untyped-def]
    n, reach = np.uintp(points.shape[0]), max(gap, length)
    i, o = ZERO, ZERO
    while i < n:
        first = last = points[i]
        limit = first | mask
        final = limit - mask + until  # a run that ends here is open
        i += ONE
        while i < n and points[i] <= limit:
            step = points[i] - last
            if step > gap and (last == final or step > reach):
                break
            last = points[i]
            i += ONE
        while last == final and i < n and points[i] <= limit:  # later than `until`, and covered
            i += ONE
        starts[o] = first
        ends[o] = limit if last == final or length >= limit - last else last + length
        o += ONE
    return o


def from_points(
    points: Array, gap: int, length: int, shift: int, until: int | None = None, *, trusted: bool = False
) -> Intervals:
    """Runs of points of one key, each at most `gap` after the one before, as intervals [first, last+length).

    A run whose last point is at time `until` is open, as is one that would end beyond the representable times; runs
    that touch because `length` exceeds `gap` are one. Points sorted, repeated ones fine. Cost: O(n), one pass.
    RTEC's buildFromPoints is gap = length = tick, until = the query time.

    >>> runs = from_points(np.array([3, 4, 8, 9]), 1, 1, 8, until=9)
    >>> runs.starts.tolist(), runs.ends.tolist()
    ([3, 8], [5, 255])
    """
    if length < 1:
        raise ArrayError("length", f"expected a positive number, got {length}")
    check_points("points", points, trusted=trusted)
    size = points.shape[0]
    starts, ends = np.empty(size, np.int64), np.empty(size, np.int64)
    mask = np.int64(time_mask(shift))
    open_at = np.int64(-1 if until is None else until)
    used = int(_runs(points, np.int64(gap), np.int64(length), mask, open_at, starts, ends))
    return trimmed(starts, ends, used)
