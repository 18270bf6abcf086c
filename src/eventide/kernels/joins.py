"""Joins of int64 columns by equality: numbering values, pairing rows, membership. Intervals are joined in `intervals`.

Values in a narrow range are looked up in a table indexed by the value; others in an open-addressing hash table of
(value, code + 1) pairs, one cache line per look-up. Sorted columns are merged instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eventide.kernels.arrays import (
    ONE,
    ZERO,
    Array,
    Mask,
    Words,
    _first_descent,
    check_array,
    check_points,
    jit,
    trim,
)
from eventide.kernels.intervals import _above

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hash: 2**64 divided by the golden ratio


@jit
def _number_by_range(values: Array, low: int, table: Array, codes: Array, uniques: Array) -> int:
    count = 0
    for i in range(np.uintp(values.shape[0])):
        value = values[i]
        slot = np.uintp(value - low)
        code = table[slot]
        if code == 0:
            uniques[np.uintp(count)] = value
            count += 1
            code = count
            table[slot] = code
        codes[i] = code - 1
    return count


@jit
def _number_by_hash(
    values: Words, begin: int, count: int, shift: int, table: Words, codes: Words, uniques: Words
) -> tuple[int, int]:
    """Number values from `begin` on until the table is half full; returns (where it stopped, how many distinct)."""
    slots = np.uintp(table.shape[0]) >> ONE
    room = slots >> ONE
    last = slots - ONE
    n = np.uintp(values.shape[0])
    i = begin
    while i < n and count < room:
        value = values[i]
        slot = (value * _GOLDEN) >> shift
        while True:
            code = table[slot + slot + ONE]
            if code == ZERO:
                uniques[count] = value
                count += ONE
                code = count
                table[slot + slot] = value
                table[slot + slot + ONE] = code
                break
            if table[slot + slot] == value:
                break
            slot = (slot + ONE) & last
        codes[i] = code - ONE
        i += ONE
    return i, count


@jit
def _rehash(uniques: Words, count: int, shift: int, table: Words) -> None:
    last = (np.uintp(table.shape[0]) >> ONE) - ONE
    for i in range(count):
        slot = (uniques[i] * _GOLDEN) >> shift
        while table[slot + slot + ONE] != ZERO:
            slot = (slot + ONE) & last
        table[slot + slot] = uniques[i]
        table[slot + slot + ONE] = i + ONE


@jit
def _find_by_range(values: Array, low: int, high: int, table: Array, codes: Array) -> None:
    for i in range(np.uintp(values.shape[0])):
        value = values[i]
        inside = (low <= value) & (value <= high)
        codes[i] = table[np.uintp(value - low)] - 1 if inside else -1


@jit
def _find_by_hash(values: Words, shift: int, table: Words, codes: Array) -> None:
    last = (np.uintp(table.shape[0]) >> ONE) - ONE
    for i in range(np.uintp(values.shape[0])):
        value = values[i]
        slot = (value * _GOLDEN) >> shift
        while table[slot + slot + ONE] != ZERO and table[slot + slot] != value:
            slot = (slot + ONE) & last
        codes[i] = np.int64(table[slot + slot + ONE]) - 1


@jit
def _find_by_merge(values: Array, members: Array, codes: Array) -> None:
    n = np.uintp(members.shape[0])
    at = ZERO
    for i in range(np.uintp(values.shape[0])):
        value = values[i]
        if at >= n or members[at] < value:
            at = _above(members, value - 1, at, n)
        codes[i] = np.int64(at) if at < n and members[at] == value else np.int64(-1)


@jit
def _group(codes: Array, places: Array, rows: Array) -> None:
    for i in range(np.uintp(codes.shape[0])):
        code = np.uintp(codes[i])
        place = places[code]
        places[code] = place + 1
        rows[np.uintp(place)] = np.int64(i)


@jit
def _count_pairs(codes: Array, offsets: Array) -> int:
    total = 0
    for i in range(np.uintp(codes.shape[0])):
        if codes[i] >= 0:
            code = np.uintp(codes[i])
            total += offsets[code + ONE] - offsets[code]
    return total


@jit
def _pairs(codes: Array, offsets: Array, rows: Array, left: Array, right: Array) -> None:
    used = ZERO
    for i in range(np.uintp(codes.shape[0])):
        if codes[i] >= 0:
            code = np.uintp(codes[i])
            for k in range(np.uintp(offsets[code]), np.uintp(offsets[code + ONE])):
                left[used] = np.int64(i)
                right[used] = rows[k]
                used += ONE


@jit
def _run_starts(keys: Array, starts: Array) -> int:
    used = ZERO
    for i in range(ONE, np.uintp(keys.shape[0])):
        starts[used] = np.int64(i)
        used += np.uintp(keys[i] != keys[i - ONE])
    return used


@dataclass(frozen=True, slots=True)
class _Dictionary:
    """Distinct values, numbered in order of first appearance, with a table to find them again."""

    codes: Array
    uniques: Array
    low: int
    high: int
    table: Array | None
    hashed: Words | None
    shift: int

    def find(self, values: Array) -> Array:
        codes = np.empty(values.shape[0], np.int64)
        if self.table is not None:
            _find_by_range(values, self.low, self.high, self.table, codes)
        elif self.hashed is not None:
            with np.errstate(over="ignore"):  # the hash wraps around on purpose
                _find_by_hash(values.view(np.uint64), np.uint64(self.shift), self.hashed, codes)
        return codes


def _dictionary(values: Array) -> _Dictionary:
    """Number the distinct values (at least one value)."""
    n = values.shape[0]
    low, high = int(values.min()), int(values.max())
    codes = np.empty(n, np.int64)
    if high - low < max(1024, 2 * n):
        table = np.zeros(high - low + 1, np.int64)
        uniques = np.empty(min(n, high - low + 1), np.int64)
        count = _number_by_range(values, low, table, codes, uniques)
        return _Dictionary(codes, trim(uniques, int(count)), low, high, table, None, 0)
    uniques = np.empty(n, np.int64)
    bits = 8 if n < 4096 else 16
    words, seen, out = values.view(np.uint64), uniques.view(np.uint64), codes.view(np.uint64)
    begin = count = ZERO
    with np.errstate(over="ignore"):
        while True:
            hashed = np.zeros(2 << bits, np.uint64)
            shift = np.uint64(64 - bits)
            _rehash(seen, count, shift, hashed)
            found = _number_by_hash(words, begin, count, shift, hashed, out, seen)
            begin, count = np.uintp(found[0]), np.uintp(found[1])
            if begin == n:
                return _Dictionary(codes, trim(uniques, int(count)), low, high, None, hashed, 64 - bits)
            bits += 2


def factorize(values: Array) -> tuple[Array, Array]:
    """(codes, uniques): `uniques[codes]` is `values`, the uniques in order of first appearance. O(n), hashing.

    >>> factorize(np.array([70, -3, 70, 9]))
    (array([0, 1, 0, 2]), array([70, -3,  9]))
    """
    check_array("values", values)
    if values.shape[0] == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    dictionary = _dictionary(values)
    return dictionary.codes, dictionary.uniques


def _ascends(values: Array) -> bool:
    return bool(_first_descent(values, False) < 0)


def join(left: Array, right: Array, allow: Callable[[int], None] | None = None) -> tuple[Array, Array]:
    """(left rows, right rows) of all pairs with equal values, ordered by left row, then by right row.

    Any order is accepted: sorted columns are merged, otherwise right is hashed. O(len(left) + len(right) + pairs).
    `allow` is called with the number of pairs before they are made, and may raise.

    >>> join(np.array([5, 7, 5]), np.array([7, 5, 1, 7]))
    (array([0, 1, 1, 2]), array([1, 0, 3, 1]))
    """
    check_array("left", left)
    check_array("right", right)
    n = right.shape[0]
    if left.shape[0] == 0 or n == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if _ascends(right) and _ascends(left):
        starts = group_offsets(right, trusted=True)
        codes = np.empty(left.shape[0], np.int64)
        _find_by_merge(left, right[starts], codes)
        offsets = np.append(starts, n)
        rows = np.arange(n, dtype=np.int64)
    else:
        dictionary = _dictionary(right)
        codes = dictionary.find(left)
        offsets = np.zeros(dictionary.uniques.shape[0] + 1, np.int64)
        np.cumsum(np.bincount(dictionary.codes), out=offsets[1:])
        rows = np.empty(n, np.int64)
        _group(dictionary.codes, offsets[:-1].copy(), rows)
    total = int(_count_pairs(codes, offsets))
    if allow is not None:
        allow(total)
    left_rows, right_rows = np.empty(total, np.int64), np.empty(total, np.int64)
    _pairs(codes, offsets, rows, left_rows, right_rows)
    return left_rows, right_rows


def contains(values: Array, members: Array) -> Mask:
    """For each value, whether it is among the members (a semi-join). Any order; O(len(values) + len(members)).

    >>> contains(np.array([5, 7, 9]), np.array([9, 5]))
    array([ True, False,  True])
    """
    check_array("values", values)
    check_array("members", members)
    if members.shape[0] == 0:
        return np.zeros(values.shape[0], np.bool_)
    if _ascends(values) and _ascends(members):
        codes = np.empty(values.shape[0], np.int64)
        _find_by_merge(values, members, codes)
    else:
        codes = _dictionary(members).find(values)
    return codes >= 0


def group_offsets(keys: Array, *, trusted: bool = False) -> Array:
    """Where each run of equal keys begins in a sorted column (fit for `numpy.add.reduceat`). O(n), one pass.

    >>> group_offsets(np.array([4, 4, 6, 9, 9]))
    array([0, 2, 3])
    """
    check_points("keys", keys, trusted=trusted)
    n = keys.shape[0]
    if n == 0:
        return np.empty(0, np.int64)
    starts = np.zeros(n, np.int64)
    return trim(starts, 1 + int(_run_starts(keys, starts[1:])))
