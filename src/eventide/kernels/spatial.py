"""Places: in which cells of a grid they are, which areas a vessel enters and leaves, what is nearest. No polygons."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import Array, jit
from eventide.kernels.trajectories import metres

Floats = npt.NDArray[np.float64]


@jit
def _cell_of(lon: float, lat: float, west: float, south: float, size: float, columns: int, rows: int) -> int:
    """The cell of a place, -1 outside the grid and where the place is no number."""
    x = (lon - west) / size
    y = (lat - south) / size
    if x >= 0.0 and y >= 0.0 and x < columns and y < rows:
        return np.int64(y) * columns + np.int64(x)
    return np.int64(-1)


@jit
def _candidates(lon, lat, west, south, size, columns, rows, lists, offsets, entries, row, entry):  # type: ignore[no-untyped-def]
    used = 0
    room = row.shape[0]
    for i in range(lon.shape[0]):
        cell = _cell_of(lon[i], lat[i], west, south, size, columns, rows)
        if cell < 0 or lists[cell] == 0:
            continue
        for k in range(offsets[lists[cell] - 1], offsets[lists[cell]]):
            if used < room:
                row[used] = i
                entry[used] = entries[k]
            used += 1
    return used


def candidates(lon: Floats, lat: Floats, grid: tuple[float, float, float, int, int], lists: npt.NDArray[np.int32],
               offsets: Array, entries: Array) -> tuple[Array, Array]:
    """For each place the entries of its cell: rows of places, ascending, and entries. O(n + found).

    `grid` is west, south, size of a cell, columns, rows; `lists[cell]` is 0 or the number of the cell's list, counted
    from 1; list k is `entries[offsets[k - 1] : offsets[k]]`.

    >>> lists, offsets, entries = np.array([0, 1], np.int32), np.array([0, 2]), np.array([7, 8])
    >>> candidates(np.array([0.5, 1.5]), np.array([0.5, 0.5]), (0.0, 0.0, 1.0, 2, 1), lists, offsets, entries)
    (array([1, 1]), array([7, 8]))
    """
    room = lon.shape[0] + 16
    while True:
        row, entry = np.empty(room, np.int64), np.empty(room, np.int64)
        used = _candidates(lon, lat, *grid, lists, offsets, entries, row, entry)
        if used <= room:
            return row[:used], entry[:used]
        room = used


@jit
def _crossings(vessel, time, row, area, gap, out_row, out_area, enters):  # type: ignore[no-untyped-def]
    used = 0
    n = row.shape[0]
    low = 0
    before = 0  # where the group before begins; its row is row[before] if before < low
    while low < n:
        i = row[low]
        high = low
        while high < n and row[high] == i:
            high += 1
        linked = (before < low and row[before] == i - 1 and vessel[i - 1] == vessel[i]
                  and time[i] - time[i - 1] <= gap)
        a = before if linked else low
        for b in range(low, high):  # in an area now that it was not in before
            while a < low and area[a] < area[b]:
                a += 1
            if a == low or area[a] != area[b]:
                out_row[used] = i
                out_area[used] = area[b]
                enters[used] = True
                used += 1
        after = i + 1
        if after < vessel.shape[0] and vessel[after] == vessel[i] and time[after] - time[i] <= gap:
            b = high
            stop = high
            while stop < n and row[stop] == after:
                stop += 1
            for a in range(low, high):  # in an area now that it is not in at the next report
                while b < stop and area[b] < area[a]:
                    b += 1
                if b == stop or area[b] != area[a]:
                    out_row[used] = after
                    out_area[used] = area[a]
                    enters[used] = False
                    used += 1
        before = low
        low = high
    return used


def crossings(vessel: Array, time: Array, row: Array, area: Array, gap: int) -> tuple[Array, Array, npt.NDArray[Any]]:
    """Which areas are entered and left at which reports: rows, areas, whether entered. O(len(row)).

    `row` and `area` say which reports are in which areas, sorted by both. After a silence longer than `gap` a vessel
    counts as having been nowhere.

    >>> vessel, time = np.array([5, 5, 5]), np.array([0, 10, 20])
    >>> [found.tolist() for found in crossings(vessel, time, np.array([1]), np.array([3]), 60)]
    [[1, 2], [3, 3], [True, False]]
    """
    room = 2 * row.shape[0]
    out_row, out_area, enters = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.bool_)
    used = _crossings(vessel, time, row, area, gap, out_row, out_area, enters)
    return out_row[:used], out_area[:used], enters[:used]


# -- distances ---------------------------------------------------------------------------------------------------------


@jit
def _nearest(lon, lat, x, y, z, to_lon, to_lat, out):  # type: ignore[no-untyped-def]
    for i in range(lon.shape[0]):
        cosine = np.cos(np.radians(lat[i]))
        east = cosine * np.cos(np.radians(lon[i]))
        north = cosine * np.sin(np.radians(lon[i]))
        up = np.sin(np.radians(lat[i]))
        best = 0
        most = -2.0
        for k in range(x.shape[0]):
            product = east * x[k] + north * y[k] + up * z[k]
            if product > most:
                most = product
                best = k
        out[i] = metres(lon[i], lat[i], to_lon[best], to_lat[best])


def nearest(lon: Floats, lat: Floats, to_lon: Floats, to_lat: Floats) -> Floats:
    """Metres from each place to the nearest of some others, of which there are few. O(places · others).

    >>> nearest(np.array([0.0, 9.0]), np.zeros(2), np.array([0.0, 10.0]), np.zeros(2)).round()
    array([     0., 111195.])
    """
    x, y = np.radians(to_lon), np.radians(to_lat)
    out = np.empty(lon.shape[0])
    _nearest(lon, lat, np.cos(x) * np.cos(y), np.sin(x) * np.cos(y), np.sin(y), to_lon, to_lat, out)
    return out
