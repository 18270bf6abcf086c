"""Reports that cannot be true are taken out of a table of positions, each with its reason. Nothing goes in silence.

The checks, in this order; a report has the first fault that is found:

| reason | the report |
|---|---|
| `vessel` | has a number that no vessel can have |
| `station` | comes from an aid to navigation, a station ashore, an aircraft, a distress beacon |
| `time` | has no time, or one before `earliest` or after `latest`, or its clock was wrong: in the order of the rows the vessel's time goes back by more than `disorder` seconds, or far ahead and then back |
| `no_place` | has no place (91 and 181 degrees mean: not available) |
| `place` | has a place that is not on the globe, or is 0/0, where receivers without a fix are |
| `speed` | has a speed below 0 or above `max_speed` (102.3 means: not available, and is no fault) |
| `duplicate` | has the vessel and the time of another one, which is kept |
| `jump` | is where the vessel cannot be: the speed between it and the vessel's other reports is above `max_speed` |
"""  # noqa: E501

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eventide.errors import InputError
from eventide.kernels import trajectories as kernels
from eventide.kernels.joins import factorize
from eventide.signals.positions import POSITIONS, Ints, Tracks, tracks_of

REASONS = {kernels.NO_VESSEL: "vessel", kernels.OTHER_STATION: "station", kernels.CLOCK: "time",
           kernels.NO_PLACE: "no_place", kernels.PLACE: "place", kernels.SPEED: "speed",
           kernels.DUPLICATE: "duplicate", kernels.JUMP: "jump"}
REJECTED = POSITIONS.append(pa.field("reason", pa.string()))
_DAY = 86_400


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """Limits of what a report may say.

    max_speed: knots; faster than any ship on the water. It bounds the reported speed and the one between reports.
    slack: metres by which a place may be wrong before it counts as a jump.
    disorder: seconds by which a vessel's reports may be out of order in the file; more is a wrong clock, if at least
        nine tenths of the vessel's reports are in order. None: the order of the rows means nothing.
    earliest, latest: seconds since 1970; without `latest`, a day from now.
    any_vessel: accept every positive number as a vessel, not only those of ships.

    >>> Cleaning(max_speed=60).any_vessel
    False
    """

    max_speed: float = 80.0
    slack: float = 500.0
    disorder: int | None = 600
    earliest: int = 0
    latest: int | None = None
    any_vessel: bool = False

    def __post_init__(self) -> None:
        for name in ("max_speed", "slack"):
            if not 0 < getattr(self, name) < np.inf:
                raise InputError(f"{name} is {getattr(self, name)!r}; expected a number above 0")
        if self.disorder is not None and self.disorder < 0:
            raise InputError(f"disorder is {self.disorder!r}; expected seconds from 0 on, or None")
        if self.latest is not None and self.latest < self.earliest:
            raise InputError(f"latest is {self.latest!r}, before earliest, {self.earliest!r}")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The good reports by vessel and time, the others with their `reason`, in the order they came, and numbers.

    `counts` has the number of rejected reports by reason, `unknown` how many impossible courses and headings of good
    and bad reports were made unknown.

    >>> table = pa.table({"vessel": [219014000] * 2, "time": [0, 0], "lon": [10.0] * 2, "lat": [55.0] * 2})
    >>> clean(table).rejected["reason"].to_pylist()
    ['duplicate']
    """

    positions: pa.Table
    rejected: pa.Table
    counts: dict[str, int]
    unknown: dict[str, int]

    @property
    def read(self) -> int:
        """How many reports there were."""
        return int(self.positions.num_rows + self.rejected.num_rows)


def clean(positions: pa.Table, settings: Cleaning | None = None, *, source: str = "<positions>") -> Cleaned:
    """Take out what cannot be true; see above for the reasons. O(n), except for vessels with many jumps.

    Of a vessel whose reports contradict each other, the track with most reports that can be sailed is kept: a spoofed
    piece goes, and so does the other one of two vessels that share a number.

    >>> table = pa.table({"vessel": [219014000] * 4, "time": [0, 60, 60, 120], "lon": [10.0, 10.01, 10.01, 30.0],
    ...                   "lat": [55.0, 55.0, 55.0, 91.0]})
    >>> found = clean(table)
    >>> found.positions["time"].to_pylist(), found.counts
    ([0, 60], {'duplicate': 1, 'no_place': 1})
    """
    tracks, unknown = _plain(tracks_of(positions, source))
    order, faults = _faults(tracks, settings or Cleaning())
    good = _taken(tracks, order).table()
    bad = np.flatnonzero(faults)
    reasons = pa.array([REASONS.get(code, "") for code in range(max(REASONS) + 1)])
    rejected = _taken(tracks, bad).table().append_column("reason", reasons.take(pa.array(faults[bad])))
    return Cleaned(good, rejected, reason_counts(faults), unknown)


def reason_counts(faults: kernels.Codes) -> dict[str, int]:
    """How many reports have each fault, by the name of the reason, most first."""
    numbers = np.bincount(faults, minlength=max(REASONS) + 1)
    found = {name: int(numbers[code]) for code, name in REASONS.items() if numbers[code]}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Two counts by name as one.

    >>> added({"jump": 1}, {"jump": 2, "time": 1})
    {'jump': 3, 'time': 1}
    """
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def _plain(tracks: Tracks) -> tuple[Tracks, dict[str, int]]:
    speed, course, heading = tracks.speed.copy(), tracks.course.copy(), tracks.heading.copy()
    courses, headings = kernels.unknowns(speed, course, heading)
    unknown = {name: number for name, number in (("course", courses), ("heading", headings)) if number}
    return Tracks(tracks.vessel, tracks.time, tracks.lon, tracks.lat, speed, course, heading), unknown


def _faults(tracks: Tracks, settings: Cleaning) -> tuple[Ints, kernels.Codes]:
    """The good rows by vessel and time, and the fault of every row."""
    latest = int(clock.time()) + _DAY if settings.latest is None else settings.latest
    faults = kernels.row_faults(tracks.vessel, tracks.time, tracks.lon, tracks.lat, tracks.speed,
                                any_vessel=settings.any_vessel, earliest=settings.earliest, latest=latest,
                                fastest=settings.max_speed)
    codes, vessels = factorize(tracks.vessel)
    ranks = np.empty(vessels.shape[0], np.int64)
    ranks[np.argsort(vessels)] = np.arange(vessels.shape[0])
    order, starts = kernels.grouped(ranks[codes], vessels.shape[0], faults)
    order = kernels.settle(order, starts, tracks.time, tracks.lon, tracks.lat, faults,
                           disorder=-1 if settings.disorder is None else settings.disorder, least=0.9,
                           fastest=settings.max_speed, slack=settings.slack)
    return order, faults


def _taken(tracks: Tracks, rows: Ints) -> Tracks:
    return Tracks(*(getattr(tracks, name)[rows] for name in POSITIONS.names))
