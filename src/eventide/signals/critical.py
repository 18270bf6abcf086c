"""Critical points: the few reports of a track at which something happens, as the events that rules speak of.

The events, after the literature on trajectory synopses:

| event | at a report |
|---|---|
| `gap_start`, `gap_end` | after, before which the vessel is silent for longer than `gap` |
| `stop_start`, `stop_end` | the first with at most `stop_speed`, the first with more than `stop_leave` after it |
| `slow_motion_start`, `slow_motion_end` | the first with at most `slow_speed` that is no stop; the first above `slow_leave` or of a stop |
| `change_in_speed_start`, `change_in_speed_end` | whose speed leaves the recent mean by more than `speed_ratio`; that is near it again |
| `change_in_heading` | whose course is more than `turn` away from that of the last such report, at `turn_speed` or more |
| `velocity`, `coord` | each one: speed, course and heading; longitude and latitude |

A gap ends all that goes on, at the report before it; what still goes on after the gap begins anew at the report that ends it.
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa

from eventide.errors import InputError
from eventide.kernels import trajectories as kernels
from eventide.signals.positions import NO_HEADING, Floats, Tracks, tracks_of

BITS = {
    "gap_start": kernels.GAP_START, "gap_end": kernels.GAP_END, "stop_start": kernels.STOP_START,
    "stop_end": kernels.STOP_END, "slow_motion_start": kernels.SLOW_START, "slow_motion_end": kernels.SLOW_END,
    "change_in_speed_start": kernels.SPEED_START, "change_in_speed_end": kernels.SPEED_END,
    "change_in_heading": kernels.TURN,
}
_EVENT = pa.schema([("time", pa.int64()), ("vessel", pa.int64())])


def _with(*names: str) -> pa.Schema:
    return pa.schema([*_EVENT, *((name, pa.float64()) for name in names)])


SCHEMAS: dict[str, pa.Schema] = {
    **dict.fromkeys(BITS, _EVENT), "velocity": _with("speed", "course", "heading"), "coord": _with("lon", "lat"),
}


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """When something counts as happening. The defaults suit AIS reports every few seconds to every few minutes.

    gap: seconds of silence; 10 minutes, three times the longest interval at which AIS reports (3 minutes, at anchor).
    stop_speed, stop_leave: knots; a stop begins at half a knot and lasts up to one, so that swinging at anchor is one
        stop and not many.
    slow_speed, slow_leave: knots, in the same way.
    speed_ratio: how far the speed must be from the recent mean, as a share of it; the change ends within half of that.
    speed_step: knots by which it must differ at least; noise at low speeds is no change.
    speed_memory: seconds; how fast older speeds fade from the recent mean.
    turn: degrees between the courses before and after; slow turns add up.
    turn_speed: knots; below it the course is noise.

    >>> Thresholds(gap=900).stop_speed
    0.5
    """

    gap: int = 600
    stop_speed: float = 0.5
    stop_leave: float = 1.0
    slow_speed: float = 5.0
    slow_leave: float = 5.5
    speed_ratio: float = 0.25
    speed_step: float = 1.0
    speed_memory: float = 120.0
    turn: float = 15.0
    turn_speed: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 < value < np.inf:
                raise InputError(f"{field.name} is {value!r}; expected a number above 0")
        for low, high in (("stop_speed", "stop_leave"), ("slow_speed", "slow_leave"), ("stop_leave", "slow_leave")):
            if getattr(self, low) > getattr(self, high):
                raise InputError(f"{low} is {getattr(self, low)!r}, above {high}, {getattr(self, high)!r}")


@dataclass(frozen=True, slots=True)
class Critical:
    """The critical points of tracks by event, the last report of each vessel (`time`, `vessel`, `flags`), and the speed
    and course at each report as far as they can be known."""

    facts: dict[str, pa.Table]
    last: pa.Table
    speed: Floats
    course: Floats


def critical_points(positions: pa.Table, thresholds: Thresholds | None = None, *, until: int | None = None,
                    ) -> dict[str, pa.Table]:
    """The events of cleaned positions: by name, tables of `time`, `vessel` and further arguments.

    A vessel whose last report is more than the gap before `until` (by default the last report of all) is silent from
    there on: its last gap has a start and no end. An unknown speed or course is the one since the report before. Where
    that does not help, there is no `velocity` without a speed, and the heading, or 0, stands for its course.

    >>> track = pa.table({"vessel": [7] * 4, "time": [0, 60, 120, 1200], "lon": [1.0] * 4, "lat": [2.0] * 4,
    ...                   "speed": [9.0, 0.1, 0.2, 0.1], "course": [90.0] * 4})
    >>> found = critical_points(track)
    >>> [found[name]["time"].to_pylist() for name in ("stop_start", "stop_end", "gap_start", "gap_end")]
    [[60, 1200], [120], [120], [1200]]
    """
    settings = thresholds or Thresholds()
    found = tracks_events(positions, settings)
    more = silences(found.last, settings, until)
    facts = {name: pa.concat_tables([table, more[name]]).combine_chunks() if name in more else table
             for name, table in found.facts.items()}
    tracks = tracks_of(positions)
    return facts | {"velocity": velocities(tracks, found.speed, found.course), "coord": coordinates(tracks)}


def tracks_events(positions: pa.Table, thresholds: Thresholds) -> Critical:
    """The critical points of some vessels of many; what follows from their last reports is left to `silences`."""
    tracks = tracks_of(positions)
    wrong = _first_unsorted(tracks)
    if wrong is not None:
        raise InputError(f"row {wrong + 1} of the positions is out of order; `clean` sorts them by vessel and time")
    speed, course = tracks.speed.copy(), tracks.course.copy()
    kernels.fill(tracks.vessel, tracks.time, tracks.lon, tracks.lat, thresholds.gap, speed, course)
    flags = kernels.critical(
        tracks.vessel, tracks.time, speed, course, gap=thresholds.gap, stop=thresholds.stop_speed,
        stop_leave=thresholds.stop_leave, slow=thresholds.slow_speed, slow_leave=thresholds.slow_leave,
        ratio=thresholds.speed_ratio, step=thresholds.speed_step, memory=thresholds.speed_memory,
        turn=thresholds.turn, turn_speed=thresholds.turn_speed)
    facts = {name: _events(tracks, flags, bit) for name, bit in BITS.items()}
    rows = np.flatnonzero(flags & kernels.LAST)
    last = pa.table({"time": tracks.time[rows], "vessel": tracks.vessel[rows], "flags": flags[rows]})
    return Critical(facts, last, speed, course)


def velocities(tracks: Tracks, speed: Floats, course: Floats) -> pa.Table:
    """The events `velocity` of reports with these speeds and courses; none where the speed is unknown."""
    heading = np.where(tracks.heading == NO_HEADING, 0.0, tracks.heading)
    columns = [tracks.time, tracks.vessel, speed, np.where(np.isnan(course), heading, course), tracks.heading]
    known = ~np.isnan(speed)
    return _table("velocity", *(columns if known.all() else [column[known] for column in columns]))


def coordinates(tracks: Tracks) -> pa.Table:
    """The events `coord` of reports."""
    return _table("coord", tracks.time, tracks.vessel, tracks.lon, tracks.lat)


def silences(last: pa.Table, thresholds: Thresholds, until: int | None = None) -> dict[str, pa.Table]:
    """What ends at the last reports of vessels that have been silent for longer than the gap, by name."""
    time, vessel = (last[name].to_numpy() for name in ("time", "vessel"))
    end = until if until is not None else int(time.max()) if time.shape[0] else 0
    silent = end - time > thresholds.gap
    flags = kernels.silenced(last["flags"].to_numpy().astype(np.uint16)[silent])
    found = {name: np.flatnonzero(flags & bit) for name, bit in BITS.items()}
    return {name: _table(name, time[silent][rows], vessel[silent][rows]) for name, rows in found.items() if len(rows)}


def _events(tracks: Tracks, flags: kernels.Flags, bit: int) -> pa.Table:
    rows = np.flatnonzero(flags & np.uint16(bit))
    return pa.table([pa.array(tracks.time[rows]), pa.array(tracks.vessel[rows])], schema=_EVENT)


def _table(name: str, *columns: np.ndarray[tuple[int], np.dtype[np.generic]]) -> pa.Table:
    return pa.table([pa.array(column) for column in columns], schema=SCHEMAS[name])


def _first_unsorted(tracks: Tracks) -> int | None:
    """The first row that is not behind the one before it, by vessel and time."""
    vessel, time = tracks.vessel, tracks.time
    wrong = (vessel[1:] < vessel[:-1]) | ((vessel[1:] == vessel[:-1]) & (time[1:] <= time[:-1]))
    return int(wrong.argmax()) + 1 if wrong.any() else None
