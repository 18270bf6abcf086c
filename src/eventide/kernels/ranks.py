"""Windows over the last n facts of a group: when a fact leaves, where the window begins. No time windows (see metric).

`arrivals` are the points at which facts came, one per fact, sorted: the group in the high bits, the time below. Facts
of one time-point stand in the order in which they came, so that the n-th after a fact is n places behind it.
"""

from __future__ import annotations

import numpy as np

from eventide.errors import ArrayError
from eventide.kernels.arrays import Array, check_array, check_points, time_mask


def _check(arrivals: Array, size: int, trusted: bool) -> None:
    check_points("arrivals", arrivals, trusted=trusted)
    if size < 1:
        raise ArrayError("size", f"expected at least one fact, got {size}")


def left_at(places: Array, arrivals: Array, size: int, shift: int, *, trusted: bool = False) -> Array:
    """When facts are no longer among the last `size` of their group: the time of the n-th after each, or the mask.

    `places[i]` is the place of a fact among the arrivals. O(n).

    >>> left_at(np.array([0, 1, 2]), np.array([2, 2, 5]), 2, shift=4)
    array([ 5, 15, 15])
    """
    _check(arrivals, size, trusted)
    check_array("places", places)
    mask = np.int64(time_mask(shift))
    if arrivals.shape[0] == 0:
        return np.full(places.shape[0], mask)
    later = np.minimum(places + size, arrivals.shape[0] - 1)
    same = (places + size < arrivals.shape[0]) & (arrivals[later] >> shift == arrivals[places] >> shift)
    return np.where(same, arrivals[later] & mask, mask)


def closed_at(points: Array, arrivals: Array, size: int, shift: int, *, trusted: bool = False) -> Array:
    """When time-points of groups are no longer in the window of the last `size` facts (the mask: not yet).

    The window begins at the time of the oldest of these facts, so a time-point goes when `size` facts came after it.
    O(n log m).

    >>> closed_at(np.array([2, 3, 5]), np.array([2, 2, 5]), 1, shift=4)
    array([ 5,  5, 15])
    """
    _check(arrivals, size, trusted)
    check_array("points", points)
    mask = np.int64(time_mask(shift))
    if arrivals.shape[0] == 0:
        return np.full(points.shape[0], mask)
    place = np.searchsorted(arrivals, points, side="right") + (size - 1)
    later = np.minimum(place, arrivals.shape[0] - 1)
    same = (place < arrivals.shape[0]) & (arrivals[later] >> shift == points >> shift)
    return np.where(same, arrivals[later] & mask, mask)


def opened_at(points: Array, arrivals: Array, size: int, shift: int, *, trusted: bool = False) -> Array:
    """The time at which the window of the last `size` facts begins, seen from points of groups; 0 with fewer facts.

    O(n log m).

    >>> opened_at(np.array([1, 2, 5]), np.array([2, 2, 5]), 2, shift=4)
    array([0, 2, 2])
    """
    _check(arrivals, size, trusted)
    check_array("points", points)
    if arrivals.shape[0] == 0:
        return np.zeros(points.shape[0], np.int64)
    place = np.searchsorted(arrivals, points, side="right") - size
    oldest = np.maximum(place, 0)
    same = (place >= 0) & (arrivals[oldest] >> shift == points >> shift)
    return np.where(same, arrivals[oldest] & np.int64(time_mask(shift)), 0)
