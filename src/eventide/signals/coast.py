"""The coasts of the world as polylines, for maps and for areas near the coast. Not for navigation.

The outline is Natural Earth's land at 1:10 million, simplified to 0.01 degrees and rounded to 0.002 degrees (about
200 m); islands below 3 km² are left out. Natural Earth is in the public domain; see `data/README.md`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.errors import InputError

Line = npt.NDArray[np.float64]
"""Points as rows of longitude and latitude."""
Box = tuple[float, float, float, float]
"""West, south, east, north, in degrees."""
FILE = Path(__file__).parent / "data" / "coast.bin"
PER_DEGREE = 500


def coast_lines(bbox: Box | None = None) -> list[Line]:
    """The coast lines, or those in a box: arrays of points, longitude first. Islands come back to their first point.

    A line that leaves the box ends with its first point outside, so that it can be drawn up to the edge.

    >>> [(len(line), line.mean(axis=0).round(1).tolist()) for line in coast_lines((-5.2, 48.4, -5.0, 48.5))]
    [(9, [-5.1, 48.5])]
    """
    if bbox is not None:
        _check(bbox)
    return [piece for ring in _rings() for piece in _pieces(ring, bbox)]


def land_rings() -> list[Line]:
    """The edges of all land, each back to its first point; longitudes go on beyond 180 across the date line.

    Antarctica is the one exception: its ring goes once around the pole and ends 360 degrees from where it began.
    """
    return [np.column_stack([np.unwrap(ring[:, 0], period=360.0), ring[:, 1]]) for ring in _rings()]


def packed_rings(rings: Iterable[Line]) -> bytes:
    """Rings as the bytes of the file: steps between points, as whole numbers whose bytes lie in four planes.

    Rings follow each other without a mark: one ends when it comes back to its first point.
    """
    whole = [_without_repetitions(np.rint(ring * PER_DEGREE).astype(np.int64)) for ring in rings]
    points = np.concatenate([ring for ring in whole if len(ring) > 3])
    steps = np.diff(points, axis=0, prepend=np.zeros((1, 2), np.int64)).T.ravel()
    numbers = ((steps << 1) ^ (steps >> 63)).astype("<u4")  # the sign in the lowest bit: small steps, small numbers
    return zlib.compress(numbers.view(np.uint8).reshape(-1, 4).T.tobytes(), 9)


def _without_repetitions(ring: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The ring without points that rounding made equal, up to where it first comes back to its first point."""
    kept: npt.NDArray[np.int64] = ring[np.concatenate([[True], (np.diff(ring, axis=0) != 0).any(axis=1)])]
    back = np.flatnonzero((kept[1:] == kept[0]).all(axis=1))
    return kept[: back[0] + 2] if len(back) else kept[:0]


@lru_cache(maxsize=1)
def _rings() -> tuple[Line, ...]:
    planes = np.frombuffer(zlib.decompress(FILE.read_bytes()), np.uint8).reshape(4, -1)
    numbers = np.ascontiguousarray(planes.T).view("<u4").ravel().astype(np.int64)
    points = ((numbers >> 1) ^ -(numbers & 1)).reshape(2, -1).cumsum(axis=1).T
    return tuple(_split(points))


def _split(points: npt.NDArray[np.int64]) -> Iterator[Line]:
    codes = points[:, 0] << 32 | points[:, 1] & 0xFFFF_FFFF
    degrees = points / PER_DEGREE
    degrees.setflags(write=False)
    low, first = 0, int(codes[0])
    for i, code in enumerate(codes.tolist()):
        if i > low and code == first:
            yield degrees[low : i + 1]
            low, first = i + 1, int(codes[i + 1]) if i + 1 < len(codes) else 0


def _pieces(ring: Line, bbox: Box | None) -> Iterator[Line]:
    """The ring without the edges along or across the date line, in the box."""
    lon, lat = ring[:, 0], ring[:, 1]
    if bbox is not None and not _meets(lon.min(), lat.min(), lon.max(), lat.max(), bbox):
        return
    a, b = ring[:-1], ring[1:]
    seam = (np.abs(a[:, 0]) > 179.99) & (np.abs(b[:, 0]) > 179.99) | (np.abs(a[:, 0] - b[:, 0]) > 180)
    shown = ~seam
    if bbox is not None:
        low, high = np.minimum(a, b), np.maximum(a, b)
        shown &= _meets(low[:, 0], low[:, 1], high[:, 0], high[:, 1], bbox)
    if shown.all():
        yield ring
        return
    changes = np.flatnonzero(np.diff(np.concatenate([[0], shown.astype(np.int8), [0]])))
    for begin, end in changes.reshape(-1, 2).tolist():
        yield ring[begin : end + 1]


def _meets(west: Any, south: Any, east: Any, north: Any, bbox: Box) -> Any:
    return (west <= bbox[2]) & (east >= bbox[0]) & (south <= bbox[3]) & (north >= bbox[1])


def _check(bbox: Box) -> None:
    west, south, east, north = bbox
    if not (-180 <= west < east <= 180 and -90 <= south < north <= 90):
        raise InputError(f"the box {bbox} is none; expected west, south, east, north in degrees, west below east")
