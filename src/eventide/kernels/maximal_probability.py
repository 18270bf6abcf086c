"""Maximal intervals of high probability, for many streams at once: PIEC, oPIEC and its bounded kinds.

The interval [s, e) qualifies if the mean probability of its points is at least the threshold; it is maximal if no other
qualifying interval contains it. Streams are taken in pieces (`maximal_pieces`, which says how sums are counted), with
support sets that grow as they must, or are bounded (`maximal_bounded`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import BLOCK, ZERO, Array, check_array, check_same_length, jit
from eventide.kernels.maximal_bounded import advance_bounded, advance_single
from eventide.kernels.maximal_pieces import (
    LOW_BITS,
    LOW_MASK,
    NONE,
    PIECE,
    SCALE,
    Floats,
    Found,
    Streams,
    Supports,
    below,
    fresh_room,
    take_piece,
)
from eventide.kernels.support_sets import Bound

__all__ = ["LOW_BITS", "LOW_MASK", "SCALE", "Found", "Streams", "Supports", "advance", "first_improper",
           "fresh_streams", "most_credible"]


@jit
def _append(rows: Array, begin: int, olds: Array, old: int, news: Array, new: int) -> tuple[int, int]:
    """Add the intervals of a piece, `begin` and later rows, behind the found ones; these lose those inside the first.

    The others hold none of them, as starts ascend; and no two touch, as then both together would qualify.
    """
    start = rows[begin, 0]
    while new > 0 and news[new - 1, 0] >= start:
        new -= 1
    if new == 0:
        while old > 0 and olds[old - 1, 0] >= start:
            old -= 1
    for i in range(begin, rows.shape[0]):
        for column in range(4):
            news[new + i - begin, column] = rows[i, column]
    return old, new + rows.shape[0] - begin


@jit
def _advance(
    probs: Floats, offsets: Array, rows: Array, threshold: int,
    streams: Streams, supports: Supports, found: Found, new: Found,
) -> None:
    """Unbounded support sets: any cut of a stream into calls and pieces gives the same."""
    room = fresh_room()
    found_here = room.rows
    found_rows = found.rows
    new_rows = new.rows
    for j in range(rows.shape[0]):
        r = rows[j]
        begin = supports.base[r]
        at = supports.at[begin:]
        highs = supports.high[begin:]
        lows = supports.low[begin:]
        count = supports.size[r]
        begin = found.base[r]
        olds = found_rows[begin:]
        old = found.size[r]
        begin = new.base[j]
        news = new_rows[begin:]
        recent = 0
        first = streams.seen[r] - offsets[j]
        high = streams.high[r]
        low = streams.low[r]
        least_high = streams.least_high[r]
        least_low = streams.least_low[r]
        for left in range(offsets[j], offsets[j + 1], PIECE):
            part = probs[left : min(left + PIECE, offsets[j + 1])]
            high, low, count, begin = take_piece(part, first + left, threshold, high, low, least_high, least_low,
                                                 at, highs, lows, count, room)
            least_high = highs[count - 1]
            least_low = lows[count - 1]
            if begin < found_here.shape[0]:
                old, recent = _append(found_here, begin, olds, old, news, recent)
        supports.size[r] = count
        found.size[r] = old
        new.size[j] = recent
        streams.seen[r] = first + offsets[j + 1]
        streams.high[r] = high
        streams.low[r] = low
        streams.least_high[r] = least_high
        streams.least_low[r] = least_low


@jit
def _first_improper(probs: Floats) -> int:
    n = np.uintp(probs.shape[0])
    low = ZERO
    while low < n:
        high = min(n, low + BLOCK)
        faults = 0
        for i in range(low, high):
            faults += not ((probs[i] >= 0.0) & (probs[i] <= 1.0))
        if faults > 0:
            for i in range(low, high):
                if not (probs[i] >= 0.0 and probs[i] <= 1.0):
                    return np.int64(i)
        low = high
    return np.int64(-1)


@jit
def _credible(offsets: Array, rows: Array, unit_high: int, unit_low: int, best: npt.NDArray[np.bool_]) -> None:
    for j in range(offsets.shape[0] - 1):
        winner = -1
        most_high = np.int64(0)
        most_low = np.int64(0)
        for i in range(offsets[j], offsets[j + 1]):
            length = rows[i, 1] - rows[i, 0]
            low = rows[i, 3] + length * unit_low
            high = rows[i, 2] + length * unit_high + (low >> LOW_BITS)
            low &= LOW_MASK
            overlaps = winner >= 0 and rows[i, 0] < rows[i - 1, 1]
            if overlaps and below(high, low, most_high, most_low):
                continue
            if overlaps:
                best[winner] = False
            winner = i
            best[i] = True
            most_high = high
            most_low = low


def first_improper(probs: Floats) -> int:
    """The first index that holds no probability, a number from 0 to 1; -1 if all do. O(n), one pass.

    >>> first_improper(np.array([0.5, 1.0, np.nan])), first_improper(np.array([0.0, 1.0]))
    (2, -1)
    """
    check_array("probs", probs, np.float64)
    return int(_first_improper(probs))


def fresh_streams(count: int) -> Streams:
    """The state of streams that have had no point yet."""
    seen, high, low, least_low = (np.zeros(count, np.int64) for _ in range(4))
    return Streams(seen, high, low, np.full(count, NONE, np.int64), least_low, np.zeros(count))


def advance(
    probs: Floats, offsets: Array, rows: Array, threshold: int, streams: Streams, supports: Supports, found: Found,
    *, batch: int = 1, bound: Bound | None = None, buffer: Array | None = None,
) -> Found:
    """Take in the next points of some streams: PIEC and oPIEC (Algorithms 10 and 11), oPIEC^b and oPIEC^bd.

    Stream `rows[j]`, each at most once, has the points `probs[offsets[j]:offsets[j+1]]`, from 0 to 1, and room for as
    many more elements in its support set (with a `bound`, for its memory). `threshold` is in units of 10^-15. The state
    is changed in place: `found` loses the intervals that are no longer maximal, and the new ones are returned, in
    `buffer` if it is given and has a row for every point. Without a bound the cut into calls changes nothing; with one,
    a call takes `batch` points at a time. O(n) without a bound, O(n · memory) with one.

    >>> probs = np.array([0, 0.5, 0.7, 0.9, 0.4, 0.1, 0, 0, 0.5, 1])  # Table 5.2 of the thesis
    >>> columns = (np.empty(10, np.int64) for _ in range(3))
    >>> supports = Supports(np.zeros(1, np.int64), np.zeros(1, np.int64), *columns, np.empty(10))
    >>> found = Found(np.zeros(1, np.int64), np.zeros(1, np.int64), np.empty((0, 4), np.int64))
    >>> new = advance(probs, np.array([0, 10]), np.array([0]), SCALE // 2, fresh_streams(1), supports, found)
    >>> new.rows[: new.size[0], :2].tolist()
    [[0, 5], [1, 6], [7, 10]]
    >>> supports.at[: supports.size[0]].tolist()
    [0, 1, 7, 8]
    """
    check_array("probs", probs, np.float64)
    check_array("offsets", offsets)
    check_array("rows", rows)
    check_same_length("rows", rows, "offsets, less one,", offsets.shape[0] - 1)
    if buffer is None or buffer.shape[0] < probs.shape[0]:
        buffer = np.empty((probs.shape[0], 4), np.int64)
    new = Found(offsets[:-1], np.zeros(rows.shape[0], np.int64), buffer)
    if bound is None:
        _advance(probs, offsets, rows, threshold, streams, supports, found, new)
    elif batch == 1:
        advance_single(probs, offsets, rows, threshold, threshold / SCALE, bound, streams, supports, found, new)
    else:
        advance_bounded(probs, offsets, rows, threshold, threshold / SCALE, batch, bound, streams, supports, found,
                         new)
    return new


def most_credible(offsets: Array, rows: Array, threshold: int) -> npt.NDArray[np.bool_]:
    """One interval of each chain of overlapping ones: that with the largest sum of probabilities, the later of equals.

    `rows` are as in Found, those of stream j at `offsets[j] .. offsets[j+1]`, by start. O(n), one pass.

    >>> rows = np.array([[0, 5, 0, 0], [1, 6, 0, 100], [7, 10, 0, 0]])
    >>> most_credible(np.array([0, 3]), rows, SCALE // 2).tolist()
    [False, True, True]
    """
    best = np.zeros(rows.shape[0], np.bool_)
    _credible(offsets, rows, threshold >> LOW_BITS, threshold & LOW_MASK, best)
    return best
