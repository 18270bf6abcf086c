"""Dense time on integer cells: intervals with open or closed rational ends, and metric operators over them. No parsing.

On a grid g, the instant k*g is cell 2k and the gap between k*g and (k+1)*g is cell 2k+1, so an interval is a
closed-open range of cells: [a, begins at an even cell and (a, at the odd one after it. If all times and all operator
bounds are multiples of g, so are all results, and truth never changes inside a cell.

Cell 0 stands for minus infinity (everything up to `origin`), the mask for infinity.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from eventide.errors import ArrayError, RangeError
from eventide.kernels import metric
from eventide.kernels.arrays import Array, Intervals, check_spans, time_mask

DenseInterval = tuple[Fraction | None, bool, Fraction | None, bool]
"""(left, left closed, right, right closed); None is infinity on its side."""


class OperatorCells(NamedTuple):
    """A metric operator's interval in cells: even bounds (high None: infinity), and which of them are excluded."""

    low: int
    high: int | None
    low_open: bool
    high_open: bool


def common_grid(times: Iterable[Fraction | int]) -> Fraction:
    """The largest g of which all the times are multiples; 1 if they are all zero.

    >>> common_grid([Fraction(1, 2), Fraction(1, 3), 4])
    Fraction(1, 6)
    """
    top, bottom = 0, 1
    for time in times:
        part = Fraction(time)
        shared = math.lcm(bottom, part.denominator)
        top = math.gcd(top * (shared // bottom), part.numerator * (shared // part.denominator))
        bottom = shared
    return Fraction(top, bottom) if top else Fraction(1)


def _steps(name: str, time: Fraction | int, grid: Fraction, index: int | None) -> int:
    steps = Fraction(time) / grid
    if steps.denominator != 1:
        raise ArrayError(name, f"{time} is not a multiple of the grid {grid}", index)
    return steps.numerator


def to_cells(
    intervals: Sequence[DenseInterval], grid: Fraction, shift: int, origin: Fraction | int | None = None
) -> tuple[Array, Array]:
    """(starts, ends) in cells, one row per interval in the given order (neither sorted nor joined).

    `origin` is a multiple of the grid below every finite time, so that no finite start falls on cell 0; as a rule
    (None) one step below time 0.

    >>> half = Fraction(1, 2)
    >>> to_cells([(half, True, Fraction(1), False), (Fraction(1), False, None, False)], half, shift=8)
    (array([4, 7]), array([  6, 255]))
    """
    mask = time_mask(shift)
    zero = -1 if origin is None else _steps("origin", origin, grid, None)
    starts = np.empty(len(intervals), np.int64)
    ends = np.empty(len(intervals), np.int64)
    for index, (left, left_closed, right, right_closed) in enumerate(intervals):
        start, end = 0, mask
        if left is not None:
            start = 2 * (_steps("intervals", left, grid, index) - zero) + (not left_closed)
            if start <= 0:
                raise RangeError(f"intervals: {left} is not above the origin {zero * grid} at index {index}")
        if right is not None:
            end = 2 * (_steps("intervals", right, grid, index) - zero) + bool(right_closed)
            if end <= 0:
                raise RangeError(f"intervals: {right} is below the origin {zero * grid} at index {index}")
            if end >= mask:
                raise RangeError(f"intervals: {right} does not fit {shift} bits on the grid {grid} at index {index}")
        if start >= end:
            raise ArrayError("intervals", "the interval is empty", index)
        starts[index], ends[index] = start, end
    return starts, ends


def from_cells(
    starts: Array, ends: Array, grid: Fraction, shift: int, origin: Fraction | int | None = None
) -> list[DenseInterval]:
    """The dense intervals of cells, keys ignored: the inverse of `to_cells`.

    >>> from_cells(np.array([4, 7]), np.array([6, 255]), Fraction(1, 2), shift=8)
    [(Fraction(1, 2), True, Fraction(1, 1), False), (Fraction(1, 1), False, None, False)]
    """
    check_spans("cells", starts, ends)
    mask = time_mask(shift)
    first = -grid if origin is None else Fraction(origin)
    result: list[DenseInterval] = []
    for start, end in zip((starts & mask).tolist(), (ends & mask).tolist(), strict=True):
        left = None if start == 0 else first + start // 2 * grid
        right = None if end == mask else first + end // 2 * grid
        result.append((left, start > 0 and start % 2 == 0, right, end < mask and end % 2 == 1))
    return result


def operator_cells(
    low: Fraction | int, low_closed: bool, high: Fraction | int | None, high_closed: bool, grid: Fraction
) -> OperatorCells:
    """A metric operator's interval in cells, for `dilate_cells` and `erode_cells`; `high=None` is infinity.

    Empty intervals and negative bounds (they look into the future) are refused.

    >>> operator_cells(0, False, Fraction(3, 2), True, Fraction(1, 2))
    OperatorCells(low=0, high=6, low_open=True, high_open=False)
    """
    first = _steps("low", low, grid, None)
    last = None if high is None else _steps("high", high, grid, None)
    if first < 0:
        raise ArrayError("low", f"{low} is negative: operators look into the past")
    if last is not None and (last < first or (last == first and not (low_closed and high_closed))):
        raise ArrayError("high", f"no time lies between {low} and {high}")
    if last is None:
        return OperatorCells(2 * first, None, not low_closed, False)
    return OperatorCells(2 * first, 2 * last, not low_closed, not high_closed)


def dilate_cells(a: Intervals, operator: OperatorCells, shift: int, *, trusted: bool = False) -> Intervals:
    """Where a held sometime within the operator's interval ago: the Minkowski sum, closed where both are. O(n).

    >>> open_second = operator_cells(1, False, 3, False, Fraction(1))
    >>> dilate_cells(Intervals(np.array([3]), np.array([8])), open_second, shift=8)  # (1,4) gives (2,7)
    Intervals(starts=array([5]), ends=array([14]))
    """
    low, high, low_open, high_open = operator
    return metric.dilate(a, low, high, shift, low_open=low_open, high_open=high_open, pinned=True, trusted=trusted)


def erode_cells(a: Intervals, operator: OperatorCells, shift: int, *, trusted: bool = False) -> Intervals:
    """Where a held always within the operator's interval ago; an end is closed if a's is or the operator's is open.

    >>> open_second = operator_cells(1, False, 3, False, Fraction(1))
    >>> erode_cells(Intervals(np.array([3]), np.array([8])), open_second, shift=8)  # (1,4) gives [4,5]
    Intervals(starts=array([8]), ends=array([11]))
    """
    low, high, low_open, high_open = operator
    return metric.erode(a, low, high, shift, low_open=low_open, high_open=high_open, pinned=True, trusted=trusted)
