"""Pieces of tracks for many buckets, so that each finds the meetings in its part of space and time. Knows no Spark."""

from __future__ import annotations

import math

import numpy as np

from eventide.kernels.arrays import Array, jit
from eventide.kernels.meetings import GUESSED, KNOWN, METRES_PER_DEGREE, SLACK, Codes, Floats, turned


@jit
def _bucket(chunk: int, row: int, column: int, number: int) -> int:
    mixed = np.uint64(chunk) * np.uint64(0x9E37_79B9_7F4A_7C15)
    mixed ^= np.uint64(row) * np.uint64(0xC2B2_AE3D_27D4_EB4F)
    mixed ^= np.uint64(column) * np.uint64(0x1656_67B1_9E37_79F9)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return np.int64((mixed ^ (mixed >> np.uint64(31))) % np.uint64(number))


@jit
def _spread(time, lon, lat, codes, metres, chunk, degrees, number, counts, places, rows, out_codes, fill):  # type: ignore[no-untyped-def]
    """Count, or fill in, what each bucket needs: the ends of every piece whose box meets one of its cells."""
    latest = np.full(number, np.int64(-1))  # the piece that a bucket got last
    held = np.full(number, np.int64(-1))  # the report that a bucket got last
    columns = np.int64(math.ceil(360.0 / degrees))
    up = metres / 2 / METRES_PER_DEGREE * SLACK
    for i in range(time.shape[0]):
        code = codes[i]
        if code == 0:
            continue
        to = i + 1 if code & (KNOWN | GUESSED) else i
        end = lon[i] + turned(lon[to] - lon[i])
        south = min(lat[i], lat[to])
        north = max(lat[i], lat[to])
        pole = min(90.0, max(abs(south), abs(north)))
        across = up / max(math.cos(pole * math.pi / 180.0), 1e-6)
        west = np.int64(math.floor((min(lon[i], end) - across + 180.0) / degrees))
        east = np.int64(math.floor((max(lon[i], end) + across + 180.0) / degrees))
        east = min(east, west + columns)
        for when in range(time[i] // chunk, time[to] // chunk + 1):
            for row in range(np.int64(math.floor((south - up + 90.0) / degrees)),
                             np.int64(math.floor((north + up + 90.0) / degrees)) + 1):
                for column in range(west, east + 1):
                    bucket = _bucket(when, row, column % columns, number)
                    if latest[bucket] == i:
                        continue
                    latest[bucket] = i
                    if held[bucket] == i:  # the end of the piece before
                        if fill:
                            out_codes[places[bucket] - 1] = code
                    else:
                        if fill:
                            rows[places[bucket]] = i
                            out_codes[places[bucket]] = code
                            places[bucket] += 1
                        else:
                            counts[bucket] += 1
                    if to > i:
                        if fill:
                            rows[places[bucket]] = to
                            out_codes[places[bucket]] = 0
                            places[bucket] += 1
                        else:
                            counts[bucket] += 1
                    held[bucket] = to


def spread(time: Array, lon: Floats, lat: Floats, codes: Codes, metres: float, number: int, *, chunk: int = 3600,
           degrees: float = 0.25) -> tuple[Array, Array, Codes]:
    """Which reports which buckets need to find all meetings: where each bucket begins, rows of reports, their codes.

    Time is cut into chunks, the globe into cells of so many degrees; each cell and chunk belongs to a bucket. A piece
    goes wherever it, widened by half the distance, may be: two vessels that are near have a point between them, and
    the bucket of that point's cell gets both pieces. Several buckets may find the same meeting; `whole_meetings` makes
    one of it.
    """
    counts, places = np.zeros(number, np.int64), np.zeros(number, np.int64)
    degrees = 360.0 / math.floor(360.0 / degrees)  # a whole number of columns
    nothing, none = np.zeros(0, np.int64), np.zeros(0, np.uint8)
    _spread(time, lon, lat, codes, metres, chunk, degrees, number, counts, places, nothing, none, False)
    offsets = np.concatenate([np.zeros(1, np.int64), counts.cumsum()])
    places = offsets[:-1].copy()
    rows, out = np.empty(int(offsets[-1]), np.int64), np.empty(int(offsets[-1]), np.uint8)
    _spread(time, lon, lat, codes, metres, chunk, degrees, number, counts, places, rows, out, True)
    return offsets, rows, out
