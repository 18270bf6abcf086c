"""How data report: at which intervals, over which period, where. From it follow limits that suit the data.

A *usual* interval is one that nine in ten intervals between reports of a vessel do not exceed. Silence of three times
that is a gap, as ten minutes are for AIS as it is sent, every three minutes at the least. Where no vessel at all
reports for longer than the gap, the receivers were silent, not the vessels: what lies apart from the rest in this way
and has fewer than a hundredth of the reports is no part of the period.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eventide.signals.coast import Box
from eventide.signals.critical import Thresholds
from eventide.signals.positions import Ints, tracks_of

HABITS = pa.schema([("kind", pa.string()), ("key", pa.int64()), ("number", pa.int64())])
USUAL, TIMES, APART = 0.9, 3, 0.01
_PLACES, _MINUTE = 1_000_000, 60
_EDGES = ("west", "south", "east", "north")


@dataclass(frozen=True, eq=False)
class Habits:
    """Intervals between reports in seconds and how often each occurs; minutes and their reports; where all are."""

    intervals: Ints
    occurs: Ints
    minutes: Ints
    reports: Ints
    box: Box | None

    def usual(self, share: float = USUAL) -> int | None:
        """The interval that this share of the intervals does not exceed; None where there is none."""
        if not len(self.intervals):
            return None
        sums = np.cumsum(self.occurs)
        return int(self.intervals[np.searchsorted(sums, share * sums[-1])])

    def gap(self) -> int:
        """Seconds of silence that are a gap: three times the usual interval, in minutes; 10 minutes at the least."""
        usual = self.usual() or 0
        return max(Thresholds().gap, -(-TIMES * usual // _MINUTE) * _MINUTE)

    def period(self, gap: int) -> tuple[int, int] | None:
        """The first and the last second of the minutes with reports, without the few that lie apart."""
        if not len(self.minutes):
            return None
        cuts = np.flatnonzero(np.diff(self.minutes) > gap // _MINUTE + 1) + 1
        stretches = list(zip(np.split(self.minutes, cuts), np.split(self.reports, cuts), strict=True))
        kept = [minutes for minutes, reports in stretches if reports.sum() >= APART * self.reports.sum()]
        kept = kept or [minutes for minutes, _ in stretches]
        return int(kept[0][0]) * _MINUTE, int(kept[-1][-1]) * _MINUTE + _MINUTE - 1


def habits_table(positions: pa.Table) -> pa.Table:
    """The habits of some vessels, whose positions are cleaned, as a table that `habits` adds up."""
    tracks = tracks_of(positions)
    same = tracks.vessel[1:] == tracks.vessel[:-1]
    parts = [("interval", *np.unique(np.diff(tracks.time)[same], return_counts=True)),
             ("minute", *np.unique(tracks.time // _MINUTE, return_counts=True))]
    if tracks.time.shape[0]:
        edges = np.array([tracks.lon.min(), tracks.lat.min(), tracks.lon.max(), tracks.lat.max()])
        micro = np.rint(edges * _PLACES).astype(np.int64)
        parts += [(name, micro[i : i + 1], np.ones(1, np.int64)) for i, name in enumerate(_EDGES)]
    return pa.concat_tables([HABITS.empty_table(), *(
        pa.table([[name] * len(keys), keys.astype(np.int64), numbers.astype(np.int64)], schema=HABITS)
        for name, keys, numbers in parts)])


def habits(tables: Iterable[pa.Table]) -> Habits:
    """The habits of all vessels.

    >>> track = pa.table({"vessel": [7] * 4, "time": [0, 60, 120, 480], "lon": [1.0] * 4, "lat": [2.0] * 4})
    >>> found = habits([habits_table(track)])
    >>> found.usual(), found.gap(), found.period(600), found.box
    (360, 1080, (0, 539), (1.0, 2.0, 1.0, 2.0))
    """
    rows = pa.concat_tables([HABITS.empty_table(), *tables])
    summed = rows.group_by(["kind", "key"]).aggregate([("number", "sum")]).sort_by("key")
    kinds = summed["kind"].to_numpy(zero_copy_only=False)
    keys, numbers = (np.asarray(summed[name].to_numpy(), np.int64) for name in ("key", "number_sum"))
    found = {kind: (keys[kinds == kind], numbers[kinds == kind]) for kind in ("interval", "minute", *_EDGES)}
    edges = [found[name][0] / _PLACES for name in _EDGES]
    box = None if not len(edges[0]) else (
        float(edges[0][0]), float(edges[1][0]), float(edges[2][-1]), float(edges[3][-1]))
    return Habits(*found["interval"], *found["minute"], box)
