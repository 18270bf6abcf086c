"""What receivers hear of scripted tracks: AIS reports at their usual intervals, with noise, losses and faults.

A report is one row of the columns `COLUMNS`. Faulty rows come on top of the good ones: rows sent twice, places far
from the vessel, places and speeds that mean "not available", numbers that no vessel has, wrong clocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.applications.maritime.region import Region
from eventide.applications.maritime.staging import HORIZON, Vessel
from eventide.applications.maritime.tracks import Floats

COLUMNS = ("time", "mmsi", "lat", "lon", "sog", "cog", "heading", "status", "ship_type", "length", "width", "draught")
CODES = {"cargo": 70, "tanker": 80, "passenger": 60, "fishing": 30, "tug": 52, "pilotvessel": 50, "sar": 51,
         "pleasurecraft": 37, "sailingvessel": 36}
SIZES = {"cargo": 160, "tanker": 180, "passenger": 120, "fishing": 24, "tug": 30, "pilotvessel": 16, "sar": 22,
         "pleasurecraft": 11, "sailingvessel": 12}
GRID = 30
AT_REST = 180.0
HEARD, HEARD_AT_REST = {"A": 0.6, "B": 0.85}, 0.9
PLACE_NOISE, SPEED_NOISE = 0.006, 0.1
FAULTS = {"twice": 0.004, "nowhere": 0.001, "number": 0.001, "clock": 0.0005, "speed": 0.0005}
SPOOFED = 0.004
Ints = npt.NDArray[np.int64]
Rows = dict[str, npt.NDArray[Any]]


def interval(reporting: str, knots: Floats) -> Floats:
    """Seconds between two reports of a vessel of class A or B, by its speed (ITU-R M.1371, tables 1 and 2).

    >>> interval("A", np.array([0.0, 10.0, 20.0])).tolist(), interval("B", np.array([1.0, 8.0])).tolist()
    ([180.0, 10.0, 6.0], [180.0, 30.0])
    """
    if reporting == "B":
        return np.select([knots <= 1.5, knots <= 14], [AT_REST, 30.0], 15.0)
    return np.select([knots <= 0.5, knots <= 14], [AT_REST, 10.0], 6.0)


def reports(vessel: Vessel, region: Region, epoch: int, rng: np.random.Generator) -> Rows:
    """The reports of one vessel that are heard, in order of time."""
    time = _times(vessel, rng)
    places, velocity = vessel.track.eased(time)
    knots = np.hypot(*velocity.T)
    course = np.degrees(np.arctan2(velocity[:, 0], velocity[:, 1]))
    heading = vessel.track.heading(time, course) + rng.normal(0, 1, time.size)
    if knots.max() < 0.5:
        heading = np.full(time.size, rng.uniform(0, 360)) + rng.normal(0, 1, time.size)
    wander = rng.normal(0, 1, time.size) * (1 + 3 / np.maximum(knots, 0.3))
    course = np.where(knots < 0.3, rng.uniform(0, 360, time.size), course + wander)
    places = places + rng.normal(0, PLACE_NOISE, places.shape)
    if vessel.spoofed:
        places = _spoof(places, knots, rng)
    lon, lat = region.degrees(places)
    shown = np.round(np.abs(knots + rng.normal(0, SPEED_NOISE, time.size) * np.where(knots < 0.3, 0.7, 1.0)), 1)
    silent = np.full(time.size, 511.0)
    length = SIZES[vessel.kind]
    return {
        "time": (time + epoch).astype(np.int64),
        "mmsi": np.full(time.size, vessel.mmsi),
        "lat": np.round(lat, 6),
        "lon": np.round(lon, 6),
        "sog": shown,
        "cog": np.round(course % 360, 1) % 360,
        "heading": (silent if vessel.reporting == "B" else np.round(heading) % 360).astype(np.int64),
        "status": np.where(knots < 0.3, 5 if region.port_of(vessel.track.start) is not None else 1, 0),
        "ship_type": np.full(time.size, CODES[vessel.kind]),
        "length": np.full(time.size, length),
        "width": np.full(time.size, max(4, length // 6)),
        "draught": np.full(time.size, vessel.draught),
    }


def _times(vessel: Vessel, rng: np.random.Generator) -> Floats:
    """Whole seconds at which a report is heard: the rate of reports is integrated over time, some are lost."""
    grid = np.arange(0, HORIZON + 1, GRID, dtype=float)
    _, velocity = vessel.track.eased(grid)
    every = interval(vessel.reporting, np.hypot(*velocity.T))
    count = np.concatenate([[0.0], np.cumsum(GRID / every[:-1])])
    number = np.arange(rng.uniform(0, 1), count[-1], 1.0)
    number += rng.uniform(-0.3, 0.3, number.size) * (np.interp(number, count, every) < AT_REST)
    time = np.interp(number, count, grid)
    moves = np.interp(time, grid, every) < AT_REST
    heard = rng.random(time.size) < np.where(moves, HEARD[vessel.reporting], HEARD_AT_REST)
    heard[::2] |= ~moves[::2]  # at rest never two in a row are lost
    for start, end in vessel.track.silences:
        heard &= (time < start) | (time >= end)
    found: Floats = np.unique(np.floor(np.clip(time[heard], 0, HORIZON - 1)))
    return found


def _spoof(places: Floats, knots: Floats, rng: np.random.Generator) -> Floats:
    """Now and then a place lies tens of kilometres away; of a vessel that moves, up to three in a row."""
    found = places.copy()
    for first in np.flatnonzero(rng.random(len(places)) < SPOOFED):
        number = rng.integers(1, 4 if knots[first] > 1 else 2)
        found[first : first + number] += rng.uniform(30, 80, 2) * rng.choice((-1, 1), 2)
    return found


def faulty(rows: Rows, rng: np.random.Generator) -> tuple[Rows, Ints]:
    """Copies of some rows with something wrong with them, and when they are heard."""
    size, parts, heard = len(rows["time"]), [], []
    for fault, share in FAULTS.items():
        chosen = rng.integers(0, size, round(share * size))
        part = {name: column[chosen].copy() for name, column in rows.items()}
        heard.append(rows["time"][chosen])
        if fault == "nowhere":
            part["lat"][:], part["lon"][:] = 91.0, 181.0
        elif fault == "number":
            part["mmsi"] = rng.choice([0, 1, 123_456, 1_193_046], chosen.size)
        elif fault == "clock":
            part["time"] = rng.integers(0, 86_400, chosen.size)
        elif fault == "speed":
            part["time"], part["sog"] = part["time"] + 1, np.full(chosen.size, 99.5)
        parts.append(part)
    return {name: np.concatenate([part[name] for part in parts]) for name in rows}, np.concatenate(heard)
