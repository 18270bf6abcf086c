"""What need not be held of a stream: the compacting rules of Wałęga, Kaminski and Cuenca Grau (AAAI 2019), on cells.

A #-fact says of an interval that an atom held at its ends and within every stretch of it that is long enough (Tables 4
and 5). Which holes can be ignored is told by the shortest `<>-` that looks at the predicate; a hole that is exactly as
long as this counts, since a range without its bounds fits into it.
"""

from __future__ import annotations

import numpy as np

from eventide.kernels.arrays import Intervals, time_mask


def kept_from(a: Intervals, edge: int, shift: int) -> Intervals:
    """What lies at or after a cell (rules c1 and c3); what has held from ever on stays so. O(n).

    >>> kept_from(Intervals(np.array([0, 40, 44]), np.array([10, 42, 50])), 8, shift=5)
    Intervals(starts=array([ 0, 40, 44]), ends=array([10, 42, 50]))
    >>> kept_from(Intervals(np.array([0, 40, 44]), np.array([10, 42, 50])), 13, shift=5)
    Intervals(starts=array([45]), ends=array([50]))
    """
    mask = time_mask(shift)
    kept = (a.ends & mask) > edge
    starts, ends = a.starts[kept], a.ends[kept]
    time = starts & mask
    return Intervals(np.where((time == 0) | (time >= edge), starts, starts - time + edge), ends)


def bridged(a: Intervals, gap: int, shift: int) -> Intervals:
    """Intervals of a key with nothing but holes shorter than `gap` cells between them are one (rule #∪). O(n).

    >>> points = Intervals(np.array([2, 6, 12]), np.array([3, 7, 13]))  # 1, 3 and 6
    >>> bridged(points, 6, shift=5)  # holes shorter than 3
    Intervals(starts=array([ 2, 12]), ends=array([ 7, 13]))
    """
    mask = time_mask(shift)
    hole = ((a.starts[1:] & mask) >> 1) - ((a.ends[:-1] & mask) >> 1)
    apart = ((a.starts[1:] ^ a.ends[:-1]) > mask) | (2 * hole >= gap)
    if apart.all():
        return a
    return Intervals(a.starts[np.r_[True, apart]], a.ends[np.r_[apart, True]])


def long_or_running(a: Intervals, least: int, now: int, shift: int) -> Intervals:
    """Without intervals that are over at the cell `now`, and too short for every `[]-` (rule c5). O(n).

    >>> long_or_running(Intervals(np.array([2, 6, 12]), np.array([3, 11, 13])), 4, 13, shift=5)
    Intervals(starts=array([ 6, 12]), ends=array([11, 13]))
    """
    mask = time_mask(shift)
    first, last = a.starts & mask, a.ends & mask
    kept = (last >= now) | (first == 0) | (2 * ((last >> 1) - (first >> 1)) >= least)
    return a if kept.all() else Intervals(a.starts[kept], a.ends[kept])


def first_cells(a: Intervals, shift: int) -> Intervals:
    """When each key first held: all that `<>-` without end needs to know (the history H). O(n).

    >>> first_cells(Intervals(np.array([2, 6, 36]), np.array([5, 11, 40])), shift=5)
    Intervals(starts=array([ 2, 36]), ends=array([ 3, 37]))
    """
    keys = a.starts >> shift
    first = a.starts[np.r_[True, keys[1:] != keys[:-1]]] if len(a) else a.starts
    return Intervals(first, first + 1)
