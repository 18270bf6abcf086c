"""When two vessels are near each other, as maximal periods. Knows no rules.

Between two reports a vessel moves evenly from the one place to the other. `proximity(V1, V2)` holds at every whole
second at which both vessels are known and at most `metres` apart; V1 has the smaller number. A vessel is known from
report to report as long as none is more than `gap` seconds after the one before; dropouts up to that do not split a
period. The distance is that on a plane which touches the globe between the two: right to a thousandth where it matters.

A longer silence, up to `bridge`, is crossed by a guess: that the vessel went straight. A guess alone says nothing, it
never begins or ends a period. But where two vessels are seen together before a silence and after it, and the guess
keeps them together all the time, the period goes on: a vessel that falls silent beside another one is near it
throughout.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eventide.errors import InputError
from eventide.kernels import meetings as kernels
from eventide.kernels.meetings import Meetings
from eventide.signals.positions import Tracks, tracks_of

PROXIMITY = pa.schema([("time", pa.int64()), ("end", pa.int64()), ("value", pa.string()), ("vessel1", pa.int64()),
                       ("vessel2", pa.int64())])


@dataclass(frozen=True, kw_only=True)
class Nearness:
    """What counts as near.

    metres: the largest distance between the two antennas. Two large ships side by side can be 300 m apart by their
        antennas, and places are rounded and old by some seconds; 500 m leaves room for both.
    gap: seconds between reports up to which a vessel counts as known; as for the gaps of critical points.
    bridge: seconds of silence up to which a guess may join two periods.

    >>> Nearness(metres=300).gap
    600
    """

    metres: float = 500.0
    gap: int = 600
    bridge: int = 7200

    def __post_init__(self) -> None:
        if not 0 < self.metres <= 100_000:
            raise InputError(f"metres is {self.metres!r}; expected a distance above 0 and up to 100000 metres")
        if not 0 < self.gap <= self.bridge:
            raise InputError(f"gap is {self.gap!r} and bridge {self.bridge!r}; expected 0 < gap <= bridge, in seconds")


def proximity(positions: pa.Table, nearness: Nearness | None = None) -> pa.Table:
    """The periods in which two vessels are near: `time`, `end` (the first second that no longer belongs to it),
    `value` (true), `vessel1`, `vessel2`; by vessels and time. The positions are cleaned: sorted by vessel and time.

    >>> track = pa.table({"vessel": [1, 1, 2, 2], "time": [0, 100, 0, 100], "lon": [0.0, 0.0, 0.0, 0.02],
    ...                   "lat": [0.0, 0.0, 0.0, 0.0]})
    >>> proximity(track).to_pylist()
    [{'time': 0, 'end': 23, 'value': 'true', 'vessel1': 1, 'vessel2': 2}]
    """
    settings = nearness or Nearness()
    tracks = checked_tracks(positions)
    codes = kernels.pieces(tracks.vessel, tracks.time, settings.gap, settings.bridge)
    parts = kernels.meetings(tracks.vessel, tracks.time, tracks.lon, tracks.lat, codes, settings.metres)
    return proximity_table(kernels.whole_meetings(parts))


def proximity_table(meetings: Meetings) -> pa.Table:
    """Whole meetings as facts."""
    value = pa.DictionaryArray.from_arrays(np.zeros(len(meetings), np.int8), ["true"]).dictionary_decode()
    columns = [meetings.start, meetings.end, value, meetings.one, meetings.two]
    return pa.table([pa.array(column) for column in columns], schema=PROXIMITY)


def checked_tracks(positions: pa.Table) -> Tracks:
    """The columns of cleaned positions; InputError where they are out of order or a place is no number."""
    tracks = tracks_of(positions)
    same = tracks.vessel[1:] == tracks.vessel[:-1]
    wrong = (tracks.vessel[1:] < tracks.vessel[:-1]) | (same & (tracks.time[1:] <= tracks.time[:-1]))
    if wrong.any():
        row = int(wrong.argmax()) + 2
        raise InputError(f"row {row} of the positions is out of order; `clean` sorts them by vessel and time")
    lost = ~(np.isfinite(tracks.lon) & np.isfinite(tracks.lat))
    if lost.any():
        raise InputError(f"row {int(lost.argmax()) + 1} of the positions has no place; `clean` takes such reports out")
    return tracks
