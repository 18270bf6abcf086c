"""Moving intervals in time: shift, the metric operators "sometime" (dilate) and "always" (erode). No nesting of them.

On integer time, an interval [s, e) holds the points s..e-1. Results stay inside their key: what would fall below time
0 is cut, an end that would reach the mask is open. For dense time see `dense`, which uses the `*_open` flags.
"""

from __future__ import annotations

import numpy as np

from eventide.errors import ArrayError
from eventide.kernels.arrays import BLOCK, ONE, ZERO, Array, Intervals, check_intervals, jit, time_mask, trimmed


@jit
def _move_ends(
    in_starts: Array, in_ends: Array, mask: int, pinned: bool,
    start_by: int, start_set: int, start_keep: int, end_by: int, end_set: int, end_keep: int,
    starts: Array, ends: Array,
) -> int:  # fmt: skip
    """Move starts and ends, drop what becomes empty, join what comes to touch. `ends` is one place ahead."""
    n = np.uintp(in_starts.shape[0])
    used = ZERO
    last = np.int64(-1)
    low = ZERO
    while low < n:
        high = min(n, low + BLOCK)
        for i in range(low, high):  # vector code: each end by itself
            base = in_starts[i] & ~mask
            s = in_starts[i] & mask
            e = in_ends[i] & mask
            # amounts lie within -mask..mask; taking the room left first keeps the sums from overflowing
            moved = max(((s + min(start_by, mask - s)) | start_set) & start_keep, 0)
            moved = mask if start_by >= mask - s else moved
            starts[i] = base + (s if pinned & (s == 0) else moved)
            moved = max(((e + min(end_by, mask - e)) | end_set) & end_keep, 0)
            ends[i + ONE] = base + (mask if (e == mask) | (end_by >= mask - e) else moved)
        for i in range(low, high):  # in place: `used` never overtakes i
            s = starts[i]
            e = ends[i + ONE]
            keep = s < e
            starts[used] = s
            used += np.uintp(keep & (s > last))
            last = max(last, e) if keep else last
            ends[used] = last
        low = high
    return used


def _moved(
    a: Intervals, shift: int, start_by: int | None, start_bits: tuple[int, int], end_by: int | None,
    end_bits: tuple[int, int], pinned: bool,
) -> Intervals:  # fmt: skip
    mask = time_mask(shift)
    first = mask if start_by is None else min(max(int(start_by), -mask), mask)
    last = mask if end_by is None else min(max(int(end_by), -mask), mask)
    starts, ends = np.empty(len(a) + 1, np.int64), np.empty(len(a) + 1, np.int64)
    used = _move_ends(a.starts, a.ends, mask, pinned, first, *start_bits, last, *end_bits, starts, ends)
    return trimmed(starts, ends[1:], int(used))


def _check_order(low: int, high: int | None) -> None:
    if high is not None and low > high:
        raise ArrayError("low", f"{low} is greater than high, {high}")


# What an excluded bound does to the lowest bit of a moved end, which in cells of dense time says "gap" or "instant".
_AS_IS, _SET, _CLEAR = (0, -1), (1, -1), (0, -2)


def shift_by(a: Intervals, amount: int, shift: int, *, trusted: bool = False) -> Intervals:
    """Every interval moved by `amount` (may be negative) within its key; open ends stay open. O(n), one pass.

    >>> shift_by(Intervals(np.array([1, 8]), np.array([5, 15])), 2, shift=4)
    Intervals(starts=array([ 3, 10]), ends=array([ 7, 15]))
    """
    check_intervals("a", a, trusted=trusted)
    return _moved(a, shift, amount, _AS_IS, amount, _AS_IS, False)


def dilate(
    a: Intervals, low: int, high: int | None, shift: int, *, low_open: bool = False, high_open: bool = False,
    pinned: bool = False, trusted: bool = False,
) -> Intervals:  # fmt: skip
    """Where a held sometime between `low` and `high` ago: [s + low, e + high), joined where they touch. O(n), one pass.

    `high=None` is infinity. The flags are for cells of dense time: `low_open` and `high_open` say that the operator
    excludes that bound, `pinned` that a start at time 0 lies at minus infinity and does not move.

    >>> dilate(Intervals(np.array([1, 4]), np.array([2, 5])), 1, 3, shift=4)
    Intervals(starts=array([2]), ends=array([8]))
    """
    check_intervals("a", a, trusted=trusted)
    _check_order(low, high)
    return _moved(a, shift, low, _SET if low_open else _AS_IS, high, _CLEAR if high_open else _AS_IS, pinned)


def erode(
    a: Intervals, low: int, high: int | None, shift: int, *, low_open: bool = False, high_open: bool = False,
    pinned: bool = False, trusted: bool = False,
) -> Intervals:  # fmt: skip
    """Where a held always between `low` and `high` ago: [s + high, e + low) where not empty. O(n), one pass.

    Flags as for `dilate`.

    >>> erode(Intervals(np.array([1, 9]), np.array([8, 11])), 1, 3, shift=4)
    Intervals(starts=array([4]), ends=array([9]))
    """
    check_intervals("a", a, trusted=trusted)
    _check_order(low, high)
    return _moved(a, shift, high, _CLEAR if high_open else _AS_IS, low, _SET if low_open else _AS_IS, pinned)
