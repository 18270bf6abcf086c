"""Byte columns over rows of instances: votes of rules, the law of inertia along instances, sums of columns by class.

Rows are (instance, time-point), the points of one instance side by side; instance j has the rows `offsets[j] ..
offsets[j+1]`. Not for rules that ask about the states themselves (see `best_paths`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eventide.errors import ArrayError
from eventide.kernels.arrays import Array, Mask, check_array, check_same_length, jit

Floats = npt.NDArray[np.float64]
_ROWS = 1024  # rows whose sums stay in the fastest cache


@jit
def _vote(fires: Mask, kinds: Mask, weights: Floats, on: Mask) -> None:
    sums = np.empty((2, _ROWS))
    for low in range(0, fires.shape[1], _ROWS):
        size = min(_ROWS, fires.shape[1] - low)
        sums[:] = 0.0
        for r in range(fires.shape[0]):
            weight = weights[r]
            if weight != 0.0:
                total, row = sums[np.int64(kinds[r])], fires[r, low : low + size]
                for i in range(size):
                    total[i] += weight * row[i]
        for kind in range(2):
            for i in range(size):
                on[kind, low + i] = sums[kind, i] > 0.0


@jit
def _hold(on: Mask, offsets: Array, before: Mask, holds: Mask, after: Mask) -> None:
    for j in range(offsets.shape[0] - 1):
        state = before[j]
        for i in range(offsets[j], offsets[j + 1]):
            holds[i] = state
            state = on[1, i] | (state & (not on[0, i]))
        after[j] = state


@jit
def _decide(columns: Mask, first: Array, literals: Array, kinds: Mask, weights: Floats, offsets: Array, before: Mask,
            fires: Mask, on: Mask, holds: Mask, after: Mask) -> int:
    """All of `decide`; the first instance whose rows end before they begin, or -1."""
    rows = columns.shape[1]
    for j in range(offsets.shape[0] - 1):
        if offsets[j + 1] < offsets[j]:
            return j
    sums = np.empty((2, min(_ROWS, rows)))
    for low in range(0, rows, _ROWS):
        size = min(_ROWS, rows - low)
        sums[:] = 0.0
        for r in range(fires.shape[0]):
            row = fires[r, low : low + size]
            row[:] = True
            for at in range(first[r], first[r + 1]):
                if literals[at] >= 0:
                    column = columns[literals[at], low : low + size]
                    for i in range(size):
                        row[i] &= column[i]
                else:
                    column = columns[~literals[at], low : low + size]
                    for i in range(size):
                        row[i] &= not column[i]
            weight = weights[r]
            if weight != 0.0:
                total = sums[np.int64(kinds[r])]
                for i in range(size):
                    total[i] += weight * row[i]
        for kind in range(2):
            for i in range(size):
                on[kind, low + i] = sums[kind, i] > 0.0
    _hold(on, offsets, before, holds, after)
    return -1


@jit
def _class_sums(columns: Mask, rows: Array, bounds: Array, sums: Array) -> None:
    for c in range(columns.shape[0]):
        column = columns[c]
        for k in range(bounds.shape[0] - 1):
            total = 0
            for i in range(bounds[k], bounds[k + 1]):
                total += column[rows[i]]
            sums[c, k] = total


def check_matrix(name: str, matrix: Mask) -> None:
    """Raise ArrayError unless `matrix` has rows of contiguous truth values.

    >>> check_matrix("fires", np.zeros(3, bool))
    Traceback (most recent call last):
    eventide.errors.ArrayError: fires: expected two dimensions, got 1
    """
    if matrix.ndim != 2:
        raise ArrayError(name, f"expected two dimensions, got {matrix.ndim}")
    if not matrix.flags.c_contiguous:
        raise ArrayError(name, "expected a contiguous array (use numpy.ascontiguousarray)")
    check_array(name, matrix.reshape(-1), np.bool_)


def check_offsets(offsets: Array, rows: int) -> None:
    """Raise ArrayError unless `offsets` cut all the rows into instances.

    >>> check_offsets(np.array([0, 4, 3]), 3)
    Traceback (most recent call last):
    eventide.errors.ArrayError: offsets: not ascending at index 2
    """
    check_array("offsets", offsets)
    if not offsets.shape[0] or offsets[0] != 0 or offsets[-1] != rows:
        raise ArrayError("offsets", f"expected to begin with 0 and to end with the number of rows, {rows}")
    falls = np.flatnonzero(np.diff(offsets) < 0)
    if falls.size:
        raise ArrayError("offsets", "not ascending", int(falls[0]) + 1)


def check_weights(weights: Floats) -> None:
    """Raise ArrayError unless all weights are finite numbers.

    >>> check_weights(np.array([1.0, np.inf]))
    Traceback (most recent call last):
    eventide.errors.ArrayError: weights: not a finite number at index 1
    """
    check_array("weights", weights, np.float64)
    wrong = np.flatnonzero(~np.isfinite(weights))
    if wrong.size:
        raise ArrayError("weights", "not a finite number", int(wrong[0]))


def vote(fires: Mask, kinds: Mask, weights: Floats) -> Mask:
    """Where the rules of a kind that fire have a positive sum of weights: row 0 for kind False, row 1 for kind True.

    One pass over `fires`, rules by rows; O(rules x rows).

    >>> fires = np.array([[1, 1, 0], [0, 1, 1]], bool)
    >>> vote(fires, np.array([True, True]), np.array([2.0, -3.0]))[1].tolist()
    [True, False, False]
    """
    check_matrix("fires", fires)
    check_array("kinds", kinds, np.bool_)
    check_weights(weights)
    check_same_length("kinds", kinds, "fires", fires.shape[0])
    check_same_length("weights", weights, "fires", fires.shape[0])
    on = np.empty((2, fires.shape[1]), np.bool_)
    _vote(fires, kinds, weights, on)
    return on


class Bodies(NamedTuple):
    """Bodies over columns, flat: number i has `literals[offsets[i] : offsets[i+1]]`; `~c` denies column c."""

    offsets: Array
    literals: Array

    @classmethod
    def of(cls, bodies: Sequence[Sequence[int]]) -> Bodies:
        """Bodies from lists.

        >>> Bodies.of([(0, ~1), ()]).literals.tolist()
        [0, -2]
        """
        offsets = np.cumsum([0, *map(len, bodies)], dtype=np.int64)
        return cls(offsets, np.array([literal for body in bodies for literal in body], np.int64))


class Decided(NamedTuple):
    """Where bodies are true, what they turn on (see `vote`), and the states that follow (see `hold`)."""

    fires: Mask
    on: Mask
    holds: Mask
    after: Mask


def decide(columns: Mask, bodies: Bodies, kinds: Mask, weights: Floats, offsets: Array, before: Mask) -> Decided:
    """Bodies, votes and states in one call: for small batches the calls cost more than the rows.

    The caller has checked that `bodies` name columns that exist, and that each has a kind and a weight.

    >>> columns = np.array([[1, 0, 0, 0], [0, 0, 1, 0]], bool)
    >>> decided = decide(columns, Bodies.of([(0,), (1, ~0)]), np.array([True, False]), np.ones(2), np.array([0, 4]),
    ...                  np.array([False]))
    >>> decided.holds.tolist()
    [False, True, True, False]
    """
    check_matrix("columns", columns)
    check_array("offsets", offsets)
    check_array("before", before, np.bool_)
    rows, instances = columns.shape[1], before.shape[0]
    if offsets.shape[0] != instances + 1 or offsets[0] != 0 or offsets[-1] != rows:
        check_offsets(offsets, rows)
        check_same_length("before", before, "offsets without its last", offsets.shape[0] - 1)
    decided = Decided(np.empty((kinds.shape[0], rows), np.bool_), np.empty((2, rows), np.bool_),
                      np.empty(rows, np.bool_), np.empty(instances, np.bool_))
    wrong = _decide(columns, bodies.offsets, bodies.literals, kinds, weights, offsets, before, *decided)
    if wrong >= 0:
        raise ArrayError("offsets", "not ascending", wrong + 1)
    return decided


def hold(on: Mask, offsets: Array, before: Mask) -> tuple[Mask, Mask]:
    """The state at each row, and that after the last row of each instance: `h' = on[1] or (h and not on[0])`.

    `before` is the state at the first row of each instance. One pass; O(rows).

    >>> on = np.array([[0, 0, 1, 0], [1, 0, 0, 0]], bool)
    >>> holds, after = hold(on, np.array([0, 4]), np.array([False]))
    >>> holds.tolist(), after.tolist()
    ([False, True, True, False], [False])
    """
    check_matrix("on", on)
    check_offsets(offsets, on.shape[1])
    check_array("before", before, np.bool_)
    check_same_length("before", before, "offsets without its last", offsets.shape[0] - 1)
    holds, after = np.empty(on.shape[1], np.bool_), np.empty(before.shape[0], np.bool_)
    _hold(on, offsets, before, holds, after)
    return holds, after


def class_sums(columns: Mask, classes: npt.NDArray[np.int8], number: int) -> Array:
    """How often each column is true in the rows of class 0, 1, ..., number-1; rows of other classes are not looked at.

    >>> columns = np.array([[1, 1, 0, 1], [0, 1, 1, 1]], bool)
    >>> class_sums(columns, np.array([0, 0, 1, -1], np.int8), 2).tolist()
    [[2, 0], [1, 1]]
    """
    check_matrix("columns", columns)
    check_array("classes", classes, np.int8)
    check_same_length("classes", classes, "a column", columns.shape[1])
    members = [np.flatnonzero(classes == k) for k in range(number)]
    bounds = np.zeros(number + 1, np.int64)
    np.cumsum([len(rows) for rows in members], out=bounds[1:])
    sums = np.empty((columns.shape[0], number), np.int64)
    _class_sums(columns, np.concatenate(members) if members else bounds[:0], bounds, sums)
    return sums
