"""Sorted lists that change: new elements put in their places, and what differs between two lists of intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

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
    check_same_length,
    jit,
    time_mask,
    trimmed,
)


@jit
def _insert(old: Array, new: Array, positions: Array, out: Array) -> None:
    i, o = ZERO, ZERO
    for j in range(np.uintp(new.shape[0])):
        stop = np.uintp(positions[j])
        while i < stop:
            out[o] = old[i]
            i += ONE
            o += ONE
        out[o] = new[j]
        o += ONE
    n = np.uintp(old.shape[0])
    while i < n:
        out[o] = old[i]
        i += ONE
        o += ONE


@jit
def _differ(a_starts: Array, a_ends: Array, b_starts: Array, b_ends: Array, a_only: Mask, b_only: Mask) -> None:
    n, m = np.uintp(a_starts.shape[0]), np.uintp(b_starts.shape[0])
    i, j = ZERO, ZERO
    while i < n and j < m:
        ours, theirs = a_starts[i], b_starts[j]
        same = (ours == theirs) & (a_ends[i] == b_ends[j])
        if ours <= theirs:
            a_only[i] = not same
            i += ONE
        if theirs <= ours:
            b_only[j] = not same
            j += ONE
    while i < n:
        a_only[i] = True
        i += ONE
    while j < m:
        b_only[j] = True
        j += ONE


@jit
def _cut(starts, ends, mask, place, width, front, before, out_starts, out_ends):  # type: ignore[no-untyped-def]
    o = ZERO
    for i in range(np.uintp(starts.shape[0])):
        start, end = starts[i], ends[i]
        edge = (start & ~mask) + min(front[np.uintp((start >> place) & width)], mask)
        if before:
            out_starts[o], out_ends[o] = start, min(end, edge)
        else:
            out_starts[o], out_ends[o] = max(start, edge), end
        o += np.uintp(start < edge) if before else np.uintp(end > edge)
    return o


@jit
def _lower(front: Array, codes: Array, times: Array) -> int:
    lowered = 0
    for i in range(np.uintp(codes.shape[0])):
        code = np.uintp(codes[i])
        if times[i] < front[code]:
            front[code] = times[i]
            lowered += 1
    return lowered


@jit
def _since(times: Array, codes: Array, front: Array, out: Array) -> int:
    o = ZERO
    for i in range(np.uintp(times.shape[0])):
        out[o] = np.int64(i)
        o += np.uintp(times[i] >= front[np.uintp(codes[i])])
    return int(o)


def since(times: Array, codes: Array, front: Array, *, trusted: bool = False) -> Array:
    """The positions i with `times[i] >= front[codes[i]]`. Cost: O(n), one pass.

    >>> since(np.array([3, 7]), np.array([0, 0]), np.array([5])).tolist()
    [1]
    """
    check_array("times", times)
    check_array("codes", codes)
    check_array("front", front)
    check_same_length("codes", codes, "times", times.shape[0])
    if not trusted:
        _check_codes(codes, front)
    out = np.empty(times.shape[0] + 1, np.int64)
    return out[:_since(times, codes, front, out)].copy()


def _check_codes(codes: Array, front: Array) -> None:
    if codes.shape[0] and not (codes.min() >= 0 and codes.max() < front.shape[0]):
        raise ArrayError("codes", f"expected codes below {front.shape[0]}")


FAR = np.uintp(64)


@jit
def _positions(codes: Array, times: Array, new_codes: Array, new_times: Array, out: Array) -> None:
    n, m, at = np.uintp(codes.shape[0]), np.uintp(new_codes.shape[0]), ZERO
    near = n < m * FAR  # then a walk step by step is faster than strides
    for j in range(m):
        code, time = new_codes[j], new_times[j]
        if near:
            while at < n and codes[at] < code:
                at += ONE
            while at < n and codes[at] == code and times[at] <= time:
                at += ONE
            out[j] = np.int64(at)
            continue
        stride, low = ONE, at
        while at < n and (codes[at] < code or (codes[at] == code and times[at] <= time)):  # ever longer strides
            low = at + ONE
            at += stride
            stride += stride
        high = min(at, n)
        while low < high:  # then halve
            middle = (low + high) >> ONE
            if codes[middle] < code or (codes[middle] == code and times[middle] <= time):
                low = middle + ONE
            else:
                high = middle
        at = low
        out[j] = np.int64(at)


def positions_in(codes: Array, times: Array, new_codes: Array, new_times: Array) -> Array:
    """Where new rows stand among others: after all that are not greater. Both are in order of code and time.

    Cost: O(m log(n / m)), one walk.

    >>> positions_in(np.array([0, 1]), np.array([10, 30]), np.array([0, 0, 1]), np.array([10, 20, 40])).tolist()
    [1, 1, 2]
    """
    for name, array in (("codes", codes), ("times", times), ("new_codes", new_codes), ("new_times", new_times)):
        check_array(name, array)
    check_same_length("times", times, "codes", codes.shape[0])
    check_same_length("new_times", new_times, "new_codes", new_codes.shape[0])
    out = np.empty(new_codes.shape[0], np.int64)
    _positions(codes, times, new_codes, new_times, out)
    return out


def insert_at(old: npt.NDArray[Any], new: npt.NDArray[Any], positions: Array, *,
              trusted: bool = False) -> npt.NDArray[Any]:
    """The elements of `new` put into `old`: the j-th one before `old[positions[j]]`; positions ascend.

    Both are arrays of 64-bit numbers of one type. Cost: O(n + m), one pass.

    >>> insert_at(np.array([10, 30]), np.array([20, 40]), np.array([1, 2])).tolist()
    [10, 20, 30, 40]
    """
    check_points("positions", positions, trusted=trusted)
    check_same_length("new", new, "positions", positions.shape[0])
    if old.dtype != new.dtype or old.dtype.itemsize != 8:
        raise ArrayError("new", f"expected 64-bit numbers of type {old.dtype}, got {new.dtype}")
    if positions.shape[0] and not (positions[0] >= 0 and positions[-1] <= old.shape[0]):
        raise ArrayError("positions", f"expected positions from 0 to {old.shape[0]}")
    out = np.empty(old.shape[0] + new.shape[0], old.dtype)
    _insert(np.ascontiguousarray(old).view(np.int64), np.ascontiguousarray(new).view(np.int64), positions,
            out.view(np.int64))
    return out


def differing(a: Intervals, b: Intervals, *, trusted: bool = False) -> tuple[Mask, Mask]:
    """Which intervals of each list the other one does not have. Cost: O(n + m), one pass.

    >>> a, b = Intervals(np.array([2, 8]), np.array([6, 9])), Intervals(np.array([2, 8]), np.array([7, 9]))
    >>> [mask.tolist() for mask in differing(a, b)]
    [[True, False], [True, False]]
    """
    check_intervals("a", a, trusted=trusted)
    check_intervals("b", b, trusted=trusted)
    a_only, b_only = np.zeros(len(a), np.bool_), np.zeros(len(b), np.bool_)
    _differ(a.starts, a.ends, b.starts, b.ends, a_only, b_only)
    return a_only, b_only


def cut_at(a: Intervals, shift: int, place: int, width: int, front: Array, *, before: bool,
           trusted: bool = False) -> Intervals:
    """The parts of intervals before (or from) a time that depends on their key: `front[code]`, where the code is the
    field of `width` bits that stands `place` bits left. A front beyond the last time means never. Cost: O(n).

    >>> a = Intervals(np.array([2, 18]), np.array([6, 25]))
    >>> [cut_at(a, 4, 4, 1, np.array([5, 4]), before=b).ends.tolist() for b in (True, False)]
    [[5, 20], [6, 25]]
    """
    check_intervals("a", a, trusted=trusted)
    check_array("front", front)
    if front.shape[0] < 1 << width:
        raise ArrayError("front", f"expected {1 << width} times, one for every code of {width} bits")
    starts, ends = np.empty(len(a) + 1, np.int64), np.empty(len(a) + 1, np.int64)
    used = _cut(a.starts, a.ends, np.int64(time_mask(shift)), np.int64(place), np.int64((1 << width) - 1), front,
                before, starts, ends)
    return trimmed(starts, ends, int(used))


def lower(front: Array, codes: Array, times: Array, *, trusted: bool = False) -> int:
    """Lower `front[codes[i]]` to `times[i]` where it is higher; says how often it was.

    >>> front = np.array([9, 9]); lower(front, np.array([1, 1]), np.array([5, 3])), front.tolist()
    (2, [9, 3])
    """
    check_array("front", front)
    check_array("codes", codes)
    check_array("times", times)
    check_same_length("times", times, "codes", codes.shape[0])
    if not trusted:
        _check_codes(codes, front)
    return int(_lower(front, codes, times))
