"""The metric operator "since" on cells of dense time (see `dense`). Nothing else of time lives here."""

from __future__ import annotations

import numpy as np

from eventide.kernels.arrays import ONE, ZERO, Array, Intervals, check_intervals, jit, time_mask
from eventide.kernels.dense import OperatorCells
from eventide.kernels.intervals import coalesce, union


@jit
def _since(
    a_starts: Array, a_ends: Array, b_starts: Array, b_ends: Array, mask: int, low: int, low_set: int, high: int,
    high_keep: int, starts: Array, ends: Array,
) -> int:  # fmt: skip
    """For each interval of a, with its end points, what of b lies in it moves on by low to high, inside it."""
    na = np.uintp(a_starts.shape[0])
    nb = np.uintp(b_starts.shape[0])
    first = used = ZERO
    for i in range(na):
        base = a_starts[i] & ~mask
        s = a_starts[i] & mask
        e = a_ends[i] & mask
        # strictly between two times: the end points of a's interval may be missing from it
        begin = base + s - (s & 1)
        end = base + (e if (e == mask) | (e & 1 == 1) else e + 1)
        while first < nb and b_ends[first] <= begin:
            first += ONE
        j = first
        while j < nb and b_starts[j] < end:
            s = max(b_starts[j], begin) - base
            e = min(b_ends[j], end) - base
            j += ONE
            if s > 0 and low >= mask - s:
                continue
            s = s if s == 0 else (s + low) | low_set  # 0 is minus infinity
            e = mask if (e == mask) | (high >= mask - e) else (e + high) & high_keep
            s += base
            e = min(e + base, end)
            starts[used] = s
            ends[used] = e
            used += np.uintp(s < e)
    return used


def since_cells(
    a: Intervals, b: Intervals, operator: OperatorCells, shift: int, *, trusted: bool = False
) -> Intervals:
    """Where b held within the operator's interval ago, and a at all times strictly between then and now. O(n).

    With 0 in the operator's interval that is so wherever b holds. The end points of an interval of a count as inside:
    a is asked for strictly between two times only.

    >>> a = Intervals(np.array([4]), np.array([17]))  # [1,7] where instant k is cell 2k + 2
    >>> b = Intervals(np.array([8]), np.array([9]))  # 3
    >>> since_cells(a, b, OperatorCells(2, 12, False, False), shift=8)  # [1,6] ago: [4,7]
    Intervals(starts=array([10]), ends=array([17]))
    """
    check_intervals("a", a, trusted=trusted)
    check_intervals("b", b, trusted=trusted)
    mask = time_mask(shift)
    low, high, low_open, high_open = operator
    size = 2 * len(a) + len(b) + 1  # neighbours in a share an end point at most
    starts, ends = np.empty(size, np.int64), np.empty(size, np.int64)
    used = _since(a.starts, a.ends, b.starts, b.ends, mask, min(low, mask), int(low_open),
                  mask if high is None else min(high, mask), -2 if high_open and high is not None else -1, starts, ends)
    found = coalesce(starts[:used], ends[:used], trusted=True)
    return union(found, b, trusted=True) if low == 0 and not low_open else found
