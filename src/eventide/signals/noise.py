"""Confidence in reports by distance from the nearest base station, as in Mantenoglou's thesis (§7.1). Knows no rules.

A report is believed with the probability P_c(x) = 1 - x / (x + c), x metres from the nearest base station on the
coast, after Zocholl et al. (2019). The thesis has c = 10,000 m ("smooth noise") and c = 5,000 m ("strong noise").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eventide.errors import InputError
from eventide.kernels.spatial import nearest
from eventide.kernels.trajectories import RADIUS
from eventide.signals.coast import Box, coast_lines
from eventide.signals.positions import Floats, Ints, tracks_of

SMOOTH, STRONG = 10_000.0, 5_000.0


@dataclass(frozen=True, eq=False)
class Stations:
    """Base stations by their places, in degrees.

    >>> Stations(np.array([10.0]), np.array([55.0])).lat.tolist()
    [55.0]
    """

    lon: Floats
    lat: Floats

    def __post_init__(self) -> None:
        if not len(self.lon) or len(self.lon) != len(self.lat):
            raise InputError("expected at least one base station, each with a longitude and a latitude")
        if not ((np.abs(self.lon) <= 180) & (np.abs(self.lat) <= 90)).all():
            raise InputError("a base station is not on the globe; expected longitudes and latitudes in degrees")


def confidence(metres: Floats, c: float) -> Floats:
    """P_c of the thesis: how far a report from so many metres away is believed.

    >>> confidence(np.array([0.0, 10_000.0, 30_000.0]), SMOOTH)
    array([1.  , 0.5 , 0.25])
    """
    if not 0 < c < np.inf:
        raise InputError(f"c is {c!r}; expected metres above 0, such as 10000 (smooth noise) or 5000 (strong noise)")
    return 1.0 - metres / (metres + c)


def with_confidence(facts: Mapping[str, pa.Table], positions: pa.Table, stations: Stations, c: float = SMOOTH,
                    ) -> dict[str, pa.Table]:
    """The facts with a column `probability`: the confidence in the report that the fact is from.

    That is the last report of the fact's vessel up to the fact's time, or its first one if there is none before. A fact
    of two vessels is as sure as the less sure one of the two. Vessels stand in columns `vessel`, `vessel1`, `vessel2`.

    >>> track = pa.table({"vessel": [7, 7], "time": [0, 60], "lon": [0.0, 0.0], "lat": [0.0, 0.27]})
    >>> facts = {"gap_start": pa.table({"time": [0, 60], "vessel": [7, 7]})}
    >>> found = with_confidence(facts, track, Stations(np.zeros(1), np.zeros(1)))
    >>> found["gap_start"]["probability"].to_numpy().round(2)
    array([1.  , 0.25])
    """
    tracks = tracks_of(positions)
    order = np.lexsort((tracks.time, tracks.vessel))
    sure = confidence(nearest(tracks.lon[order], tracks.lat[order], stations.lon, stations.lat), c)
    reports = _Reports(tracks.vessel[order], tracks.time[order], sure)
    return {name: _with_probability(name, table, reports) for name, table in facts.items()}


def stations_along(box: Box, *, apart: float = 50_000.0, seed: int = 1) -> Stations:
    """Stations on the coast in a box, at least so many metres apart, at random places; equal seeds give equal ones.

    >>> len(stations_along((-5.0, 48.0, -4.0, 49.0), seed=1).lon)
    2
    """
    if not 0 < apart < np.inf:
        raise InputError(f"apart is {apart!r}; expected metres above 0")
    west, south, east, north = box
    points = np.concatenate([np.zeros((0, 2)), *coast_lines(box)])
    points = points[((points >= (west, south)) & (points <= (east, north))).all(axis=1)]
    if not len(points):
        raise InputError(f"no coast in the box {box}; give the places of the stations")
    points = np.random.default_rng(seed).permutation(points)
    lon, lat = np.radians(points).T
    space = np.column_stack([np.cos(lon) * np.cos(lat), np.sin(lon) * np.cos(lat), np.sin(lat)])
    free, chosen = np.ones(len(points), np.bool_), []
    chord = 2 * np.sin(min(apart / RADIUS, np.pi) / 2)
    while free.any():
        chosen.append(int(free.argmax()))
        free &= ((space - space[chosen[-1]]) ** 2).sum(axis=1) >= chord**2
        free[chosen[-1]] = False
    return Stations(points[chosen, 0].copy(), points[chosen, 1].copy())


@dataclass(frozen=True, eq=False)
class _Reports:
    """Reports by vessel and time, with the confidence in each."""

    vessel: Ints
    time: Ints
    sure: Floats

    def last(self, vessel: Ints, time: Ints) -> Ints:
        """The row of a vessel's last report up to a time, or of its first one; -1 for vessels without reports."""
        begin, end = np.searchsorted(self.vessel, vessel, "left"), np.searchsorted(self.vessel, vessel, "right")
        low, high = begin.copy(), end.copy()
        while (open_ := low < high).any():  # all searches at once, each in its vessel's rows
            middle = (low + high) // 2
            below = open_ & (self.time[np.minimum(middle, len(self.time) - 1)] <= time)
            low = np.where(below, middle + 1, low)
            high = np.where(open_ & ~below, middle, high)
        return np.where(begin < end, np.maximum(low - 1, begin), -1)


def _with_probability(name: str, table: pa.Table, reports: _Reports) -> pa.Table:
    columns = [column for column in ("vessel", "vessel1", "vessel2") if column in table.column_names]
    if not columns:
        raise InputError(f"the facts of {name} have no column vessel, vessel1 or vessel2")
    time, found = table["time"].to_numpy(), np.ones(table.num_rows)
    for column in columns:
        vessel = table[column].to_numpy()
        row = reports.last(vessel, time)
        if (row < 0).any():
            unknown = vessel[(row < 0).argmax()]
            raise InputError(f"vessel {unknown} of {name} has no report; give the positions that the facts are from")
        found = np.minimum(found, reports.sure[row])
    return table.append_column("probability", pa.array(found))
