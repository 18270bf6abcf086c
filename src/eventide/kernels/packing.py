"""Packing keys and times into one int64 per point, and moving the fields about. Nothing is sorted here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eventide.errors import ArrayError, RangeError
from eventide.kernels.arrays import Array, check_array, check_same_length, jit, time_mask


@jit
def _place(values: Array, limit: int, shift: int, points: Array) -> int:
    """Put values at bit `shift`; returns how many are not in 0..limit."""
    faults = 0
    for i in range(np.uintp(values.shape[0])):
        value = values[i]
        faults += (value < 0) | (value > limit)
        points[i] |= value << shift
    return faults


@jit
def _move(points: Array, old_shift: int, mask: int, new_shift: int, out: Array) -> None:
    for i in range(np.uintp(points.shape[0])):
        out[i] |= ((points[i] >> old_shift) & mask) << new_shift


def _place_checked(name: str, values: Array, limit: int, shift: int, points: Array) -> None:
    if _place(values, limit, shift, points) > 0:
        index = int(np.argmax((values < 0) | (values > limit)))
        raise ArrayError(name, f"{values[index]} is outside 0..{limit}", index)


def pack(columns: Sequence[Array], widths: Sequence[int], times: Array, shift: int) -> Array:
    """Points `columns[0] | columns[1] | ... | time`, the first column in the highest bits; `times` fill `shift` bits.

    Column i takes `widths[i]` bits (0: it must be constant 0). The largest time is reserved. One pass per column.

    >>> pack([np.array([1, 2]), np.array([3, 0])], [2, 2], np.array([5, 6]), shift=4)
    array([117, 134])
    """
    if len(columns) != len(widths):
        raise ArrayError("widths", f"has {len(widths)} elements, columns has {len(columns)}")
    mask = time_mask(shift)
    if any(width < 0 for width in widths) or sum(widths) + shift > 63:
        raise RangeError(f"keys of {list(widths)} bits and times of {shift} bits do not fit 63 bits together")
    check_array("times", times)
    points = np.zeros(times.shape[0], np.int64)
    _place_checked("times", times, mask - 1, 0, points)
    at = shift
    for number in reversed(range(len(columns))):
        name = f"columns[{number}]"
        check_array(name, columns[number])
        check_same_length(name, columns[number], "times", times.shape[0])
        # at 63 bits only columns of width 0 are left, and these add nothing wherever they are put
        _place_checked(name, columns[number], (1 << widths[number]) - 1, min(at, 62), points)
        at += widths[number]
    return points


def _check_field(name: str, shift: int, width: int) -> None:
    if shift < 0 or width < 0 or shift + width > 63:
        raise RangeError(f"{name}: {width} bits at bit {shift} do not lie in 63 bits")


def field(points: Array, shift: int, width: int) -> Array:
    """The number in the `width` bits from bit `shift` up of each point. One pass.

    >>> field(np.array([117, 134]), shift=4, width=2)
    array([3, 0])
    """
    check_array("points", points)
    _check_field("field", shift, width)
    out = np.zeros(points.shape[0], np.int64)
    _move(points, shift, (1 << width) - 1, 0, out)
    return out


def repack(points: Array, old: Sequence[tuple[int, int]], order: Sequence[int]) -> Array:
    """The points with their fields in another order; the result is in general not sorted. One pass per field.

    `old` lists the fields as (shift, width); `order` says which of them the result has, the most significant first.
    They keep their widths and lie side by side, the last one at bit 0. Fields not in `order` are dropped.

    >>> repack(np.array([117, 134]), [(6, 2), (4, 2), (0, 4)], [1, 0, 2])
    array([213,  38])
    """
    check_array("points", points)
    for number, (shift, width) in enumerate(old):
        _check_field(f"old[{number}]", shift, width)
    if any(not 0 <= number < len(old) for number in order):
        raise ArrayError("order", f"expected indices of the {len(old)} fields, got {list(order)}")
    if sum(old[number][1] for number in order) > 63:
        raise RangeError(f"the fields {list(order)} do not fit 63 bits together")
    out = np.zeros(points.shape[0], np.int64)
    at = 0
    for number in reversed(order):
        shift, width = old[number]
        _move(points, shift, (1 << width) - 1, min(at, 62), out)
        at += width
    return out
