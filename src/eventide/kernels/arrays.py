"""What all kernels share: the interval list, checks of arguments, the compiler's settings. No algorithm lives here."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from eventide.errors import ArrayError

Array = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Function = TypeVar("Function", bound=Callable[..., Any])

# Loop indices are unsigned (no wrap-around test per access), so their constants must be too: uint64 + int64 is float64.
ZERO = np.uintp(0)
ONE = np.uintp(1)
BLOCK = np.uintp(2048)
_INTEGERS = np.dtype(np.int64)


def _compiler() -> Any:
    """Numba, without the coverage tool: it would import that only to see whether it is there."""
    absent = "coverage" not in sys.modules
    if absent:
        sys.modules["coverage"] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("numba")
    finally:
        if absent:
            del sys.modules["coverage"]


numba = _compiler()


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Closed-open intervals on the flat timeline, in normal form: `starts[i] < ends[i] < starts[i+1]`.

    >>> a = Intervals(np.array([1, 8]), np.array([5, 9]))
    >>> len(a), a == Intervals(np.array([1]), np.array([5]))
    (2, False)
    """

    starts: Array
    ends: Array

    def __len__(self) -> int:
        return int(self.starts.shape[0])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Intervals):
            return NotImplemented
        return np.array_equal(self.starts, other.starts) and np.array_equal(self.ends, other.ends)

    __hash__ = None  # type: ignore[assignment]  # arrays can be written to


def empty() -> Intervals:
    """An interval list with nothing in it.

    >>> len(empty())
    0
    """
    return Intervals(np.empty(0, np.int64), np.empty(0, np.int64))


EMPTY = empty()


def jit(function: Function) -> Function:
    """Compile a kernel's loop: cached on disk, without the GIL, no bounds checks."""
    compiled: Function = numba.njit(cache=True, nogil=True)(function)
    return compiled


# Both searches count faults block by block, which the compiler turns into vector code, and look for the exact place
# only in the first block that has one.


@jit
def _first_descent(points: Array, strict: bool) -> int:
    n = np.uintp(points.shape[0])
    floor = np.int64(1) if strict else np.int64(0)
    low = ONE
    while low < n:
        high = min(n, low + BLOCK)
        faults = 0
        for i in range(low, high):
            faults += points[i] < points[i - ONE]
        if strict:
            for i in range(low, high):
                faults += points[i] == points[i - ONE]
        if faults > 0:
            for i in range(low, high):
                if points[i] < points[i - ONE] or (floor == 1 and points[i] == points[i - ONE]):
                    return np.int64(i)
        low = high
    return np.int64(-1)


@jit
def _first_bad_interval(starts: Array, ends: Array) -> int:
    """The first interval out of normal form, as 2*index + (0: empty, 1: unsorted or touching); -1 if all are right."""
    n = np.uintp(starts.shape[0])
    if n > ZERO and starts[0] >= ends[0]:
        return np.int64(0)
    low = ONE
    while low < n:
        high = min(n, low + BLOCK)
        faults = 0
        for i in range(low, high):
            faults += (starts[i] >= ends[i]) | (starts[i] <= ends[i - ONE])
        if faults > 0:
            for i in range(low, high):
                if starts[i] >= ends[i]:
                    return np.int64(2) * np.int64(i)
                if starts[i] <= ends[i - ONE]:
                    return np.int64(2) * np.int64(i) + np.int64(1)
        low = high
    return np.int64(-1)


@jit
def _first_reversed(starts: Array, ends: Array) -> int:
    """The first index with `starts[i] >= ends[i]`; -1 if there is none."""
    n = np.uintp(starts.shape[0])
    low = ZERO
    while low < n:
        high = min(n, low + BLOCK)
        faults = 0
        for i in range(low, high):
            faults += starts[i] >= ends[i]
        if faults > 0:
            for i in range(low, high):
                if starts[i] >= ends[i]:
                    return np.int64(i)
        low = high
    return np.int64(-1)


def time_mask(shift: int) -> int:
    """The largest time below a key at bit `shift`, which as an end means "open".

    >>> time_mask(4)
    15
    """
    if not 1 <= shift <= 63:
        raise ArrayError("shift", f"expected 1..63 bits for the time, got {shift}")
    return (1 << int(shift)) - 1


def check_array(name: str, array: Any, dtype: Any = np.int64) -> None:
    """Raise ArrayError unless `array` is a flat, contiguous array of `dtype`.

    >>> check_array("times", np.zeros(3))
    Traceback (most recent call last):
    eventide.errors.ArrayError: times: expected dtype int64, got float64
    """
    if not isinstance(array, np.ndarray):
        raise ArrayError(name, f"expected a NumPy array, got {type(array).__name__}")
    if array.dtype != np.dtype(dtype):
        raise ArrayError(name, f"expected dtype {np.dtype(dtype)}, got {array.dtype}")
    if array.ndim != 1:
        raise ArrayError(name, f"expected one dimension, got {array.ndim}")
    if not array.flags.c_contiguous:
        raise ArrayError(name, "expected a contiguous array (use numpy.ascontiguousarray)")


def _is_flat(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype == _INTEGERS and array.ndim == 1 and array.flags.c_contiguous


def check_same_length(name: str, array: npt.NDArray[Any], other: str, length: int) -> None:
    """Raise ArrayError unless `array` has as many elements as the argument called `other`.

    >>> check_same_length("ends", np.zeros(3), "starts", 3)
    """
    if array.shape[0] != length:
        raise ArrayError(name, f"has {array.shape[0]} elements, {other} has {length}", min(array.shape[0], length))


def check_points(name: str, points: Any, *, distinct: bool = False, trusted: bool = False) -> None:
    """Raise ArrayError unless `points` are non-negative and ascending (strictly with `distinct`).

    >>> check_points("points", np.array([1, 5, 3]))
    Traceback (most recent call last):
    eventide.errors.ArrayError: points: not sorted at index 2
    """
    check_array(name, points)
    if trusted or points.shape[0] == 0:
        return
    bad = _first_descent(points, distinct)
    if bad >= 0:
        problem = "repeated point" if points[bad] == points[bad - 1] else "not sorted"
        raise ArrayError(name, problem, int(bad))
    if points[0] < 0:
        raise ArrayError(name, "negative point", 0)


def check_spans(name: str, starts: Any, ends: Any) -> None:
    """Raise ArrayError unless every `starts[i] < ends[i]`; nothing is asked of their order.

    >>> check_spans("a", np.array([7, 1]), np.array([9, 3]))
    """
    check_array(f"{name}.starts", starts)
    check_array(f"{name}.ends", ends)
    check_same_length(f"{name}.ends", ends, f"{name}.starts", starts.shape[0])
    bad = _first_reversed(starts, ends)
    if bad >= 0:
        raise ArrayError(f"{name}.starts", "start is not before end", int(bad))


def check_intervals(name: str, intervals: Any, *, trusted: bool = False) -> None:
    """Raise ArrayError unless `intervals` is a pair of arrays in normal form.

    >>> check_intervals("a", Intervals(np.array([1, 5]), np.array([5, 9])))
    Traceback (most recent call last):
    eventide.errors.ArrayError: a.starts: not sorted, or overlaps or touches the one before at index 1
    """
    if not isinstance(intervals, Intervals):
        raise ArrayError(name, f"expected Intervals(starts, ends), got {type(intervals).__name__}")
    starts, ends = intervals.starts, intervals.ends
    if not (_is_flat(starts) and _is_flat(ends) and starts.shape == ends.shape):  # messages cost more than the checks
        check_array(f"{name}.starts", starts)
        check_array(f"{name}.ends", ends)
        check_same_length(f"{name}.ends", ends, f"{name}.starts", starts.shape[0])
    if trusted or starts.shape[0] == 0:
        return
    bad = _first_bad_interval(starts, ends)
    if bad >= 0:
        index = int(bad) // 2
        problem = "start is not before end" if bad % 2 == 0 else "not sorted, or overlaps or touches the one before"
        raise ArrayError(f"{name}.starts", problem, index)
    if starts[0] < 0:
        raise ArrayError(f"{name}.starts", "negative point", 0)


def trim(buffer: npt.NDArray[Any], used: int) -> npt.NDArray[Any]:
    """The used front of a buffer, which the caller gives up: a view while at least half is used, otherwise shrunk.

    Shrinking hands the tail back to the system without copying the front. A buffer that is itself a view is copied.

    >>> trim(np.array([4, 7, 0, 0]), 2)
    array([4, 7])
    """
    if 2 * used >= buffer.shape[0]:
        return buffer[:used]
    if not buffer.flags.owndata:
        return buffer[:used].copy()
    buffer.resize(used, refcheck=False)
    return buffer


def trimmed(starts: Array, ends: Array, used: int) -> Intervals:
    """The used front of two buffers as an interval list.

    >>> len(trimmed(np.array([1, 0]), np.array([2, 0]), 1))
    1
    """
    return Intervals(trim(starts, used), trim(ends, used))
