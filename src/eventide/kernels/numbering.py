"""Dense numbers for pairs of integers, given when a pair is first seen. The table grows and keeps what it knows."""

from __future__ import annotations

import numpy as np

from eventide.kernels.arrays import Array, check_array, check_same_length, jit

_FIRST_MULTIPLIER = np.int64(-7046029254386353131)
_SECOND_MULTIPLIER = np.int64(-4417276706812531889)
_SMALLEST = 1 << 6


@jit
def _slot(left: int, right: int, last: int) -> int:
    mixed = (left * _FIRST_MULTIPLIER) ^ (right * _SECOND_MULTIPLIER)
    return (mixed ^ (mixed >> 29)) & last


@jit
def _number(given_left: Array, given_right: Array, begin: int, count: int, slots: Array, left: Array, right: Array,
            codes: Array) -> tuple[int, int]:
    """Number pairs from `begin` on while the table has room; returns (where it stopped, how many pairs are known)."""
    last = slots.shape[0] - 1
    i = begin
    while i < given_left.shape[0] and count < left.shape[0]:
        slot = _slot(given_left[i], given_right[i], last)
        while True:
            code = slots[slot]
            if code < 0:
                slots[slot] = code = count
                left[count] = given_left[i]
                right[count] = given_right[i]
                count += 1
                break
            if left[code] == given_left[i] and right[code] == given_right[i]:
                break
            slot = (slot + 1) & last
        codes[i] = code
        i += 1
    return i, count


@jit
def _fill(slots: Array, left: Array, right: Array, count: int) -> None:
    last = slots.shape[0] - 1
    for code in range(count):
        slot = _slot(left[code], right[code], last)
        while slots[slot] >= 0:
            slot = (slot + 1) & last
        slots[slot] = code


class Pairs:
    """Numbers 0, 1, 2, … for pairs, in order of first appearance.

    >>> pairs = Pairs()
    >>> pairs.number(np.array([7, 7, 1]), np.array([2, 3, 2])), pairs.number(np.array([1, 9]), np.array([2, 9]))
    (array([0, 1, 2]), array([2, 3]))
    >>> pairs.left, pairs.right
    (array([7, 7, 1, 9]), array([2, 3, 2, 9]))
    """

    def __init__(self, left: Array | None = None, right: Array | None = None) -> None:
        self._left = np.empty(_SMALLEST, np.int64) if left is None else left
        self._right = np.empty(_SMALLEST, np.int64) if right is None else right
        self._count = 0 if left is None else int(left.shape[0])
        self._grow()

    def __len__(self) -> int:
        return self._count

    @property
    def left(self) -> Array:
        """The first of every pair."""
        return self._left[:self._count]

    @property
    def right(self) -> Array:
        """The second of every pair."""
        return self._right[:self._count]

    def _grow(self) -> None:
        """Room for as many pairs again; at most half of the slots are taken."""
        capacity = _SMALLEST
        while capacity <= self._count:
            capacity *= 2
        parts = []
        for known in (self._left, self._right):
            wider = np.empty(capacity, np.int64)
            wider[:self._count] = known[:self._count]
            parts.append(wider)
        self._left, self._right = parts
        self._slots = np.full(2 * capacity, -1, np.int64)
        _fill(self._slots, self._left, self._right, self._count)

    def number(self, left: Array, right: Array) -> Array:
        """The numbers of pairs; those that are new get the next ones. O(n)."""
        check_array("left", left)
        check_array("right", right)
        check_same_length("right", right, "left", left.shape[0])
        codes = np.empty(left.shape[0], np.int64)
        done = 0
        while done < left.shape[0]:
            found, count = _number(left, right, done, self._count, self._slots, self._left, self._right, codes)
            done, self._count = int(found), int(count)
            if done < left.shape[0]:
                self._grow()
        return codes
