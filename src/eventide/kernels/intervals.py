"""The algebra of interval lists: union, intersection, difference, clipping, length, joins between keys. No metric.

Every list holds all keys on one flat timeline (`key << shift | time`), so each verb is a single merge loop. An end
`key|mask` means "open" and needs no special case: it lies below the next key's first point. Union, intersection and
difference are RTEC's `union_all`, `intersect_all` and `relative_complement_all` (Artikis, Sergot and Paliouras, 2015).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import numpy as np

from eventide.errors import ArrayError
from eventide.kernels.arrays import (
    ONE,
    ZERO,
    Array,
    Intervals,
    check_array,
    check_intervals,
    check_points,
    check_same_length,
    check_spans,
    empty,
    jit,
    time_mask,
    trim,
    trimmed,
)

_LONG_RUN = 8  # from so many intervals to subtract per interval on, a branch per run is cheaper than a merge

# `used` is the place of the interval being built. Its successor's start is written ahead of time, one place further, so
# that beginning a new interval is an addition and not a branch. Buffers have one place to spare for that.


@jit
def _coalesce(in_starts: Array, in_ends: Array, starts: Array, ends: Array) -> int:
    used = ZERO
    end = starts[0] = in_starts[0]
    for i in range(np.uintp(in_starts.shape[0])):
        s = in_starts[i]
        starts[used + ONE] = s
        used += np.uintp(s > end)
        end = max(end, in_ends[i])
        ends[used] = end
    return used + ONE


@jit
def _union(a_starts: Array, a_ends: Array, b_starts: Array, b_ends: Array, starts: Array, ends: Array) -> int:
    na = np.uintp(a_starts.shape[0])
    nb = np.uintp(b_starts.shape[0])
    i = j = used = ZERO
    end = starts[0] = min(a_starts[0], b_starts[0])
    while i < na and j < nb:
        sa = a_starts[i]
        sb = b_starts[j]
        ea = a_ends[i]
        eb = b_ends[j]
        left = sa <= sb
        s = min(sa, sb)
        e = ea if left else eb
        i += np.uintp(left)
        j += np.uintp(not left)
        starts[used + ONE] = s
        used += np.uintp(s > end)
        end = max(end, e)
        ends[used] = end
    while i < na:
        s = a_starts[i]
        starts[used + ONE] = s
        used += np.uintp(s > end)
        end = max(end, a_ends[i])
        ends[used] = end
        i += ONE
    while j < nb:
        s = b_starts[j]
        starts[used + ONE] = s
        used += np.uintp(s > end)
        end = max(end, b_ends[j])
        ends[used] = end
        j += ONE
    return used + ONE


@jit
def _intersect(a_starts: Array, a_ends: Array, b_starts: Array, b_ends: Array, starts: Array, ends: Array) -> int:
    na = np.uintp(a_starts.shape[0])
    nb = np.uintp(b_starts.shape[0])
    i = j = used = ZERO
    while i < na and j < nb:
        ea = a_ends[i]
        eb = b_ends[j]
        s = max(a_starts[i], b_starts[j])
        e = min(ea, eb)
        starts[used] = s
        ends[used] = e
        used += np.uintp(s < e)
        left = ea <= eb
        i += np.uintp(left)
        j += np.uintp(not left)
    return used


@jit
def _difference(a_starts: Array, a_ends: Array, b_starts: Array, b_ends: Array, starts: Array, ends: Array) -> int:
    """The intersection with b's gaps: gap j reaches from the end of b's interval j-1 to the start of j."""
    na = np.uintp(a_starts.shape[0])
    nb = np.uintp(b_starts.shape[0])
    i = used = ZERO
    j = ONE
    first = b_starts[0]
    while i < na and a_starts[i] < first:
        starts[used] = a_starts[i]
        ends[used] = min(a_ends[i], first)
        used += ONE
        if a_ends[i] > first:
            break
        i += ONE
    while i < na and j < nb:
        ea = a_ends[i]
        sb = b_starts[j]
        s = max(a_starts[i], b_ends[j - ONE])
        e = min(ea, sb)
        starts[used] = s
        ends[used] = e
        used += np.uintp(s < e)
        right = sb < ea
        i += np.uintp(not right)
        j += np.uintp(right)
    last = b_ends[nb - ONE]
    while i < na:
        s = max(a_starts[i], last)
        starts[used] = s
        ends[used] = a_ends[i]
        used += np.uintp(s < a_ends[i])
        i += ONE
    return used


@jit
def _difference_runs(a_starts: Array, a_ends: Array, b_starts: Array, b_ends: Array, starts: Array, ends: Array) -> int:
    """The same for few a and many b: the loop over the b in one a has no choices to make."""
    nb = np.uintp(b_starts.shape[0])
    j = used = ZERO
    low = np.int64(-1)
    for i in range(np.uintp(a_starts.shape[0])):
        low = max(low, a_starts[i])
        end = a_ends[i]
        while j < nb and b_starts[j] < end:
            s = b_starts[j]
            starts[used] = low
            ends[used] = s
            used += np.uintp(low < s)
            low = max(low, b_ends[j])
            j += ONE
        starts[used] = low
        ends[used] = end
        used += np.uintp(low < end)
    return used


@jit
def _clip(
    in_starts: Array, in_ends: Array, low: int, high: int, mask: int, starts: Array, ends: Array
) -> int:
    n = np.uintp(in_starts.shape[0])
    used = ZERO
    for i in range(n):
        s = in_starts[i]
        base = s & ~mask
        s = max(s, base + low)
        e = min(in_ends[i], base + high)
        starts[used] = s
        ends[used] = e
        used += np.uintp(s < e)
    return used


@jit
def _by_length(
    in_starts: Array, in_ends: Array, amount: int, longer: bool, until: int, mask: int, starts: Array, ends: Array
) -> int:
    n = np.uintp(in_starts.shape[0])
    used = ZERO
    for i in range(n):
        s = in_starts[i]
        e = in_ends[i]
        time = e & mask
        length = (until if time == mask else time) - (s & mask)
        starts[used] = s
        ends[used] = e
        used += np.uintp((length > amount) if longer else (length < amount))
    return used


@jit
def _above(values: Array, x: int, near: int, n: int) -> int:
    """The first index whose value exceeds x, galloping away from the index `near` (an exponential search)."""
    step = ONE
    if near < n and values[near] <= x:
        low = near
        while low + step < n and values[low + step] <= x:
            low += step
            step += step
        low += ONE
        high = min(low + step, n)
    else:
        high = near
        while step <= high and values[high - step] > x:
            high -= step
            step += step
        low = high - step + ONE if step <= high else ZERO
    while low < high:
        middle = (low + high) >> ONE
        if values[middle] <= x:
            low = middle + ONE
        else:
            high = middle
    return low


@jit
def _ranges(
    starts: Array, ends: Array, bases: Array, b_starts: Array, b_ends: Array, mask: int, lows: Array, highs: Array
) -> int:
    """For each interval, moved to the key in `bases`: which of b's intervals it overlaps; returns how many in all."""
    n = np.uintp(starts.shape[0])
    nb = np.uintp(b_starts.shape[0])
    low = ZERO
    total = 0
    for i in range(n):
        low = _above(b_ends, bases[i] | (starts[i] & mask), low, nb)
        high = _above(b_starts, (bases[i] | (ends[i] & mask)) - 1, low, nb)
        lows[i] = low
        highs[i] = high
        total += np.int64(high) - np.int64(low)
    return total


@jit
def _overlaps(
    a_starts: Array, a_ends: Array, bases: Array, b_starts: Array, b_ends: Array, mask: int,
    lows: Array, highs: Array, index: Array, starts: Array, ends: Array,
) -> None:  # fmt: skip
    used = ZERO
    for i in range(np.uintp(a_starts.shape[0])):
        s = a_starts[i]
        e = a_ends[i]
        move = (s & ~mask) - bases[i]
        for j in range(np.uintp(lows[i]), np.uintp(highs[i])):
            index[used] = i
            starts[used] = max(s, b_starts[j] + move)
            ends[used] = min(e, b_ends[j] + move)
            used += ONE


@jit
def _remainders(
    a_starts: Array, a_ends: Array, bases: Array, b_starts: Array, b_ends: Array, mask: int,
    lows: Array, highs: Array, starts: Array, ends: Array,
) -> int:  # fmt: skip
    used = ZERO
    for i in range(np.uintp(a_starts.shape[0])):
        low = a_starts[i]
        move = (low & ~mask) - bases[i]
        for j in range(np.uintp(lows[i]), np.uintp(highs[i])):
            s = b_starts[j] + move
            starts[used] = low
            ends[used] = s
            used += np.uintp(low < s)
            low = b_ends[j] + move
        starts[used] = low
        ends[used] = a_ends[i]
        used += np.uintp(low < a_ends[i])
    return used


def _buffers(size: int) -> tuple[Array, Array]:
    return np.empty(size, np.int64), np.empty(size, np.int64)


def coalesce(starts: Array, ends: Array, *, trusted: bool = False) -> Intervals:
    """The maximal intervals covering the given ones, which are sorted by start but may overlap, touch, repeat.

    O(n), one pass.

    >>> coalesce(np.array([1, 3, 5, 9]), np.array([4, 5, 6, 12]))
    Intervals(starts=array([1, 9]), ends=array([ 6, 12]))
    """
    check_points("starts", starts, trusted=trusted)
    check_array("ends", ends)
    check_same_length("ends", ends, "starts", starts.shape[0])
    if starts.shape[0] == 0:
        return empty()
    if not trusted:
        check_spans("coalesce", starts, ends)
    buffers = _buffers(starts.shape[0] + 1)
    return trimmed(*buffers, _coalesce(starts, ends, *buffers))


def union(a: Intervals, b: Intervals, *, trusted: bool = False) -> Intervals:
    """The points in a or in b. O(len(a) + len(b)), one merge.

    >>> union(Intervals(np.array([1]), np.array([4])), Intervals(np.array([4, 9]), np.array([6, 10])))
    Intervals(starts=array([1, 9]), ends=array([ 6, 10]))
    """
    check_intervals("a", a, trusted=trusted)
    check_intervals("b", b, trusted=trusted)
    if len(a) == 0:
        return b
    if len(b) == 0:
        return a
    buffers = _buffers(len(a) + len(b) + 1)
    return trimmed(*buffers, _union(a.starts, a.ends, b.starts, b.ends, *buffers))


def intersect(a: Intervals, b: Intervals, *, trusted: bool = False) -> Intervals:
    """The points in a and in b. O(len(a) + len(b)), one merge.

    >>> intersect(Intervals(np.array([1, 8]), np.array([5, 12])), Intervals(np.array([3]), np.array([10])))
    Intervals(starts=array([3, 8]), ends=array([ 5, 10]))
    """
    check_intervals("a", a, trusted=trusted)
    check_intervals("b", b, trusted=trusted)
    if len(a) == 0 or len(b) == 0:
        return empty()
    buffers = _buffers(len(a) + len(b))
    return trimmed(*buffers, _intersect(a.starts, a.ends, b.starts, b.ends, *buffers))


def difference(a: Intervals, b: Intervals, *, trusted: bool = False) -> Intervals:
    """The points in a and not in b. O(len(a) + len(b)), one merge.

    >>> difference(Intervals(np.array([1]), np.array([12])), Intervals(np.array([3, 8]), np.array([5, 10])))
    Intervals(starts=array([ 1,  5, 10]), ends=array([ 3,  8, 12]))
    """
    check_intervals("a", a, trusted=trusted)
    check_intervals("b", b, trusted=trusted)
    if len(a) == 0 or len(b) == 0:
        return a
    loop = _difference_runs if _LONG_RUN * len(a) < len(b) else _difference
    buffers = _buffers(len(a) + len(b))
    return trimmed(*buffers, loop(a.starts, a.ends, b.starts, b.ends, *buffers))


def complement(a: Intervals, bounds: Intervals, *, trusted: bool = False) -> Intervals:
    """The points of `bounds` (one interval per key, as a rule) that are not in a. O(len(a) + len(bounds)).

    >>> complement(Intervals(np.array([3]), np.array([5])), Intervals(np.array([0]), np.array([9])))
    Intervals(starts=array([0, 5]), ends=array([3, 9]))
    """
    check_intervals("a", a, trusted=trusted)
    check_intervals("bounds", bounds, trusted=trusted)
    return difference(bounds, a, trusted=True)


def _cascade(
    verb: Callable[..., Intervals], lists: Sequence[Intervals], trusted: bool, stop_when_empty: bool
) -> Intervals:
    """Combine the two shortest lists until one is left (Huffman's order): no list is merged more often than needed."""
    for number, item in enumerate(lists):
        check_intervals(f"lists[{number}]", item, trusted=trusted)
    heap = [(len(item), number, item) for number, item in enumerate(lists)]
    heapq.heapify(heap)
    number = len(heap)
    while len(heap) > 1:
        _, _, a = heapq.heappop(heap)
        if stop_when_empty and len(a) == 0:
            return a
        _, _, b = heapq.heappop(heap)
        result = verb(a, b, trusted=True)
        heapq.heappush(heap, (len(result), number, result))
        number += 1
    return heap[0][2]


def union_all(lists: Sequence[Intervals], *, trusted: bool = False) -> Intervals:
    """The points in any of the lists (none of no lists): a balanced cascade of `union`. O(n log k) for k lists.

    >>> union_all([Intervals(np.array([i]), np.array([i + 1])) for i in (5, 1, 2)])
    Intervals(starts=array([1, 5]), ends=array([3, 6]))
    """
    return _cascade(union, lists, trusted, False) if len(lists) > 0 else empty()


def intersect_all(lists: Sequence[Intervals], *, trusted: bool = False) -> Intervals:
    """The points in all of the lists (at least one): a balanced cascade of `intersect`. O(n log k) for k lists.

    >>> intersect_all([Intervals(np.array([i]), np.array([9])) for i in (5, 1, 2)])
    Intervals(starts=array([5]), ends=array([9]))
    """
    if len(lists) == 0:
        raise ArrayError("lists", "the intersection of no lists would be unbounded: give at least one")
    return _cascade(intersect, lists, trusted, True)


def clip(a: Intervals, low: int, high: int, shift: int, *, trusted: bool = False) -> Intervals:
    """What of a lies, in each key, in times [low, high). Open ends become `high`; O(n), one pass.

    With `high` the mask itself, open ends stay open.

    >>> clip(Intervals(np.array([16 + 1]), np.array([16 + 15])), 3, 9, shift=4)
    Intervals(starts=array([19]), ends=array([25]))
    """
    check_intervals("a", a, trusted=trusted)
    mask = time_mask(shift)
    low, high = min(max(int(low), 0), mask), min(max(int(high), 0), mask)
    buffers = _buffers(len(a) + 1)
    return trimmed(*buffers, _clip(a.starts, a.ends, low, high, mask, *buffers))


def _selected(a: Intervals, amount: int, longer: bool, until: int, shift: int, trusted: bool) -> Intervals:
    check_intervals("a", a, trusted=trusted)
    mask = time_mask(shift)
    amount = min(max(int(amount), -mask - 1), mask)
    until = min(max(int(until), -1), mask)
    buffers = _buffers(len(a) + 1)
    return trimmed(*buffers, _by_length(a.starts, a.ends, amount, longer, until, mask, *buffers))


def longer_than(a: Intervals, amount: int, until: int, shift: int, *, trusted: bool = False) -> Intervals:
    """The intervals with end - start > amount, unchanged; an open end counts as time `until`. O(n), one pass.

    >>> longer_than(Intervals(np.array([1, 8]), np.array([5, 15])), 4, until=13, shift=4)
    Intervals(starts=array([8]), ends=array([15]))
    """
    return _selected(a, amount, True, until, shift, trusted)


def shorter_than(a: Intervals, amount: int, until: int, shift: int, *, trusted: bool = False) -> Intervals:
    """The intervals with end - start < amount, unchanged; an open end counts as time `until`. O(n), one pass.

    >>> shorter_than(Intervals(np.array([1, 8]), np.array([5, 15])), 5, until=13, shift=4)
    Intervals(starts=array([1]), ends=array([5]))
    """
    return _selected(a, amount, False, until, shift, trusted)


def _check_bases(name: str, bases: Array, other: str, length: int, mask: int, trusted: bool) -> None:
    check_array(name, bases)
    check_same_length(name, bases, other, length)
    if not trusted:
        wrong = (bases < 0) | ((bases & mask) != 0)
        if wrong.any():
            raise ArrayError(name, "expected a key at time 0 (key << shift)", int(wrong.argmax()))


def intersect_at(
    a: Intervals, bases: Array, b: Intervals, shift: int, *, trusted: bool = False
) -> tuple[Array, Array, Array]:
    """Interval join between different keys: (index into a, starts, ends), one row for every overlap, in a's key space.

    a's interval i is looked up in b under the key `bases[i]` (= b's key << shift). a may be in any order and may
    overlap itself; the rows follow a's order. O(len(a) + rows) when the bases ascend, otherwise a binary search each.

    >>> a = Intervals(np.array([1, 6]), np.array([5, 9]))
    >>> b = Intervals(np.array([32 + 3]), np.array([32 + 8]))
    >>> intersect_at(a, np.array([32, 32]), b, shift=4)
    (array([0, 1]), array([3, 6]), array([5, 8]))
    """
    mask = time_mask(shift)
    if trusted:
        check_intervals("a", a, trusted=True)
    else:
        check_spans("a", a.starts, a.ends)
    check_intervals("b", b, trusted=trusted)
    _check_bases("bases", bases, "a", len(a), mask, trusted)
    lows, highs = _buffers(len(a))
    total = _ranges(a.starts, a.ends, bases, b.starts, b.ends, mask, lows, highs)
    index = np.empty(total, np.int64)
    starts, ends = _buffers(total)
    _overlaps(a.starts, a.ends, bases, b.starts, b.ends, mask, lows, highs, index, starts, ends)
    return index, starts, ends


def difference_at(a: Intervals, bases: Array, b: Intervals, shift: int, *, trusted: bool = False) -> Intervals:
    """a without b, where a's interval i is looked up in b under the key `bases[i]` (= b's key << shift).

    Cost as for `intersect_at`.

    >>> a = Intervals(np.array([1]), np.array([9]))
    >>> b = Intervals(np.array([32 + 3]), np.array([32 + 8]))
    >>> difference_at(a, np.array([32]), b, shift=4)
    Intervals(starts=array([1, 8]), ends=array([3, 9]))
    """
    mask = time_mask(shift)
    check_intervals("a", a, trusted=trusted)
    check_intervals("b", b, trusted=trusted)
    _check_bases("bases", bases, "a", len(a), mask, trusted)
    lows, highs = _buffers(len(a))
    total = _ranges(a.starts, a.ends, bases, b.starts, b.ends, mask, lows, highs)
    buffers = _buffers(total + len(a) + 1)
    used = _remainders(a.starts, a.ends, bases, b.starts, b.ends, mask, lows, highs, *buffers)
    return trimmed(*buffers, used)


def expand(targets: Array, sources: Array, b: Intervals, shift: int, *, trusted: bool = False,
           allow: Callable[[int], None] | None = None) -> Intervals:
    """b's intervals of key `sources[i]` copied to key `targets[i]`, for each i; both are keys at time 0.

    The targets ascend strictly; sources may repeat and come in any order. Cost as for `intersect_at`. `allow` is called
    with the number of intervals before they are made, and may raise.

    >>> expand(np.array([0, 16]), np.array([32, 32]), Intervals(np.array([35]), np.array([38])), shift=4)
    Intervals(starts=array([ 3, 19]), ends=array([ 6, 22]))
    """
    mask = time_mask(shift)
    check_points("targets", targets, distinct=True, trusted=trusted)
    check_intervals("b", b, trusted=trusted)
    _check_bases("targets", targets, "targets", targets.shape[0], mask, trusted)
    _check_bases("sources", sources, "targets", targets.shape[0], mask, trusted)
    ends_of_keys = targets | mask
    lows, highs = _buffers(targets.shape[0])
    total = _ranges(targets, ends_of_keys, sources, b.starts, b.ends, mask, lows, highs)
    if allow is not None:
        allow(int(total))
    index = np.empty(total, np.int64)
    starts, ends = _buffers(total)
    _overlaps(targets, ends_of_keys, sources, b.starts, b.ends, mask, lows, highs, index, starts, ends)
    return Intervals(trim(starts, total), trim(ends, total))
