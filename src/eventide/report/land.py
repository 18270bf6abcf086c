"""Land and coast for the part of the world that a map shows: outlines to draw, shapes to fill."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from eventide.signals.coast import Box, Line, coast_lines


def box_around(lon: npt.NDArray[np.float64], lat: npt.NDArray[np.float64], margin: float = 1.5) -> Box:
    """A box around points with room on all sides, at least half a degree.

    >>> box_around(np.array([0.0, 2.0]), np.array([50.0, 51.0]))
    (-3.0, 47.0, 5.0, 54.0)
    """
    west, east, south, north = float(lon.min()), float(lon.max()), float(lat.min()), float(lat.max())
    room = max(east - west, north - south, 0.5) * margin
    return (max(-180.0, west - room), max(-85.0, south - room), min(180.0, east + room), min(85.0, north + room))


def land_shapes(box: Box) -> list[Line]:
    """The land inside a box as closed shapes, which follow the edge of the box where the land goes on."""
    found = []
    for ring in _closed(coast_lines()):
        low, high = ring.min(axis=0), ring.max(axis=0)
        if low[0] <= box[2] and high[0] >= box[0] and low[1] <= box[3] and high[1] >= box[1]:
            inside = _clipped(ring, box)
            if len(inside) > 2:
                found.append(inside)
    return found


def _closed(lines: list[Line]) -> list[Line]:
    """Lines that go on where another one begins, joined: a ring that was cut at the edge of the world has two parts."""
    begins = {tuple(line[0]): i for i, line in enumerate(lines) if tuple(line[0]) != tuple(line[-1])}
    used: set[int] = set()
    found = []
    for i, line in enumerate(lines):
        after = begins.get(tuple(line[-1]))
        if i not in used and after is not None and after != i and after not in used:
            used |= {i, after}
            found.append(np.concatenate([line, lines[after]]))
    return [*found, *(line for i, line in enumerate(lines) if i not in used)]


def _clipped(ring: Line, box: Box) -> Line:
    """A closed shape cut off at the four sides of a box, one after the other (Sutherland and Hodgman, 1974)."""
    for axis, limit, sign in ((0, box[0], 1.0), (0, box[2], -1.0), (1, box[1], 1.0), (1, box[3], -1.0)):
        if len(ring) < 3:
            return ring[:0]
        inside = sign * (ring[:, axis] - limit) >= 0
        after, next_inside = np.roll(ring, -1, axis=0), np.roll(inside, -1)
        crossing = inside != next_inside
        span = np.where(crossing, after[:, axis] - ring[:, axis], 1.0)
        share = ((limit - ring[:, axis]) / span)[:, None]
        pairs = np.stack([ring, ring + share * (after - ring)], axis=1)
        ring = pairs[np.stack([inside, crossing], axis=1)]
    return ring
