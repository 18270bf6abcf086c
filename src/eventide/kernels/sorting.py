"""Sorting points by (key, time), stably, and knowing when not to. No merging of sorted lists.

A radix sort in two steps: one scatter on the highest bits that vary cuts the input into pieces that fit the cache,
then each piece is sorted there on its remaining varying bits, lowest digit first. Points that arrive in time order
need only their key bits sorted, as every step is stable.
"""

from __future__ import annotations

import numpy as np

from eventide.errors import ArrayError
from eventide.kernels.arrays import (
    ONE,
    ZERO,
    Array,
    Words,
    _first_descent,
    check_array,
    check_points,
    jit,
    time_mask,
    trim,
)

_PIECE = 4096  # elements per piece that are worth another bit of splitting
_SPLIT_BITS = 9  # with more pieces than 512 the first scatter is slower than what the second step gains
_DIGIT_BITS = 9
_SMALL = np.uintp(24)  # pieces up to this size are sorted by insertion


@jit
def _survey(words: Words, mask: int) -> tuple[int, int, int]:
    """The bits in which words differ, how often one is below its predecessor, and how often its time is."""
    first = words[0]
    varying = first ^ first
    falls = 0
    time_falls = 0
    for i in range(ONE, np.uintp(words.shape[0])):
        word = words[i]
        before = words[i - ONE]
        varying |= word ^ first
        falls += word < before
        time_falls += (word & mask) < (before & mask)
    return varying, falls, time_falls


@jit
def _count(words: Words, shift: int, counts: Words) -> None:
    for i in range(np.uintp(words.shape[0])):
        counts[words[i] >> shift] += ONE


@jit
def _split(words: Words, shift: int, places: Words, pairs: Words) -> None:
    for i in range(np.uintp(words.shape[0])):
        word = words[i]
        bucket = word >> shift
        place = places[bucket]
        places[bucket] = place + ONE
        pairs[place + place] = word
        pairs[place + place + ONE] = i


@jit
def _finish(
    pairs: Words, bounds: Words, spare: int, shifts: Words, digit: int, counts: Words, out: Words, order: Words
) -> None:
    """Sort each piece bounds[b]..bounds[b+1] of (word, index) pairs and write it out; scrap space begins at `spare`."""
    digits = np.uintp(shifts.shape[0])
    radix = digit + ONE
    for b in range(np.uintp(bounds.shape[0]) - ONE):
        low = bounds[b]
        size = bounds[b + ONE] - low
        source = low
        target = spare
        if size <= _SMALL:
            for k in range(low + ONE, low + size):
                word = pairs[k + k]
                index = pairs[k + k + ONE]
                hole = k
                while hole > low and pairs[hole + hole - ONE - ONE] > word:
                    pairs[hole + hole] = pairs[hole + hole - ONE - ONE]
                    pairs[hole + hole + ONE] = pairs[hole + hole - ONE]
                    hole -= ONE
                pairs[hole + hole] = word
                pairs[hole + hole + ONE] = index
        else:
            for c in range(digits * radix):
                counts[c] = ZERO
            for k in range(low, low + size):
                word = pairs[k + k]
                for d in range(digits):
                    counts[d * radix + ((word >> shifts[d]) & digit)] += ONE
            for d in range(digits):
                shift = shifts[d]
                base = d * radix
                place = target
                for c in range(base, base + radix):
                    count = counts[c]
                    counts[c] = place
                    place += count
                for k in range(source, source + size):
                    word = pairs[k + k]
                    c = base + ((word >> shift) & digit)
                    place = counts[c]
                    counts[c] = place + ONE
                    pairs[place + place] = word
                    pairs[place + place + ONE] = pairs[k + k + ONE]
                source, target = target, source
        # the last digit, too, is scattered in the cache: the results then leave it in one stream each
        for k in range(size):
            out[low + k] = pairs[(source + k) << ONE]
            order[low + k] = pairs[((source + k) << ONE) + ONE]


@jit
def _unique(points: Array, out: Array) -> int:
    used = ZERO
    last = points[0]
    for i in range(np.uintp(points.shape[0])):
        point = points[i]
        used += np.uintp(point != last)
        out[used] = point
        last = point
    return used + ONE


def _digit_shifts(bits: int, width: int) -> list[int]:
    """Where digits of `width` bits must begin so that they cover all the set bits of `bits`."""
    shifts = []
    while bits:
        shift = (bits & -bits).bit_length() - 1
        shifts.append(shift)
        bits &= -1 << (shift + width)
    return shifts


def _sorted_pairs(points: Array, shift: int | None, time_ordered: bool, trusted: bool) -> tuple[Array, Array] | None:
    """(sorted points, permutation), or None if the points are sorted as they are."""
    check_array("points", points)
    n = points.shape[0]
    if time_ordered and shift is None:
        raise ArrayError("shift", "needed with time_ordered=True")
    mask = 0 if shift is None else time_mask(shift)
    if n < 2:
        return None
    words = points.view(np.uint64)
    first = int(words[0])
    found = _survey(words, np.uint64(mask))
    varying, falls, time_falls = (int(number) for number in found)
    if (first | varying) >> 63:
        raise ArrayError("points", "negative point", int((points < 0).argmax()))
    if time_ordered and not trusted and time_falls:
        times = points & mask
        raise ArrayError("points", "times are not in ascending order", int((times[1:] < times[:-1]).argmax()) + 1)
    if falls == 0:
        return None
    if shift is not None and time_falls == 0:
        varying &= ~mask
    top = varying.bit_length()
    split_bits = min(_SPLIT_BITS, max(0, (n // _PIECE).bit_length()), top)
    split = top - split_bits
    # words share all bits above `top`; dropping them makes the bucket number a plain shift
    common = first >> top << top
    if common:
        words = words - np.uint64(common)
    counts = np.zeros((1 << split_bits) + 1, np.uint64)
    _count(words, np.uint64(split), counts[1:])
    largest = int(counts.max())
    bounds = np.cumsum(counts, dtype=np.uint64)
    pairs = np.empty(2 * (n + largest), np.uint64)
    _split(words, np.uint64(split), bounds[:-1].copy(), pairs)
    rest = varying & ((1 << split) - 1)
    passes = -(-rest.bit_count() // _DIGIT_BITS)
    width = max(1, -(-rest.bit_count() // passes)) if passes else 1
    shifts = np.array(_digit_shifts(rest, width), np.uint64)
    scrap = np.empty(len(shifts) << width, np.uint64)
    out, order = np.empty(n, np.uint64), np.empty(n, np.uint64)
    _finish(pairs, bounds, np.uint64(n), shifts, np.uint64((1 << width) - 1), scrap, out, order)
    if common:
        out += np.uint64(common)
    return out.view(np.int64), order.view(np.int64)


def is_sorted(points: Array, *, distinct: bool = False) -> bool:
    """Whether the points ascend (strictly with `distinct`). O(n), stops at the first descent.

    >>> is_sorted(np.array([1, 4, 4])), is_sorted(np.array([4, 1])), is_sorted(np.array([1, 4, 4]), distinct=True)
    (True, False, False)
    """
    check_array("points", points)
    return bool(_first_descent(points, distinct) < 0)


def order(points: Array, shift: int | None = None, time_ordered: bool = False, *, trusted: bool = False) -> Array:
    """The permutation that sorts the points; equal points keep their order.

    Give `shift` (the bits of the time) to have points that arrive in time order recognised: only keys are sorted then.
    `time_ordered=True` demands it, and raises if it is not so. Radix sort, O(n) per digit.

    >>> order(np.array([40, 7, 25, 7]))
    array([1, 3, 2, 0])
    """
    pairs = _sorted_pairs(points, shift, time_ordered, trusted)
    return np.arange(points.shape[0], dtype=np.int64) if pairs is None else pairs[1]


def sort_points(points: Array, shift: int | None = None, time_ordered: bool = False, *, trusted: bool = False) -> Array:
    """The points in ascending order (the array itself if it is sorted already). Arguments and cost as for `order`.

    >>> sort_points(np.array([40, 7, 25, 7]))
    array([ 7,  7, 25, 40])
    """
    pairs = _sorted_pairs(points, shift, time_ordered, trusted)
    return points if pairs is None else pairs[0]


def sort_with_order(
    points: Array, shift: int | None = None, time_ordered: bool = False, *, trusted: bool = False
) -> tuple[Array, Array]:
    """`sort_points` and `order` together, for the price of one.

    >>> sort_with_order(np.array([40, 7, 25]))
    (array([ 7, 25, 40]), array([1, 2, 0]))
    """
    pairs = _sorted_pairs(points, shift, time_ordered, trusted)
    return (points, np.arange(points.shape[0], dtype=np.int64)) if pairs is None else pairs


def unique(points: Array, *, trusted: bool = False) -> Array:
    """The distinct points of a sorted list. O(n), one pass.

    >>> unique(np.array([3, 3, 5, 8, 8]))
    array([3, 5, 8])
    """
    check_points("points", points, trusted=trusted)
    out = np.empty(points.shape[0], np.int64)
    return trim(out, int(_unique(points, out)) if points.shape[0] else 0)
