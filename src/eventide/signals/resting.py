"""Where vessels rest by the shore, and proximity without the time in which both do: berths side by side are no news."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.signals.areas import Areas
from eventide.signals.critical import Thresholds
from eventide.signals.positions import Ints, tracks_of
from eventide.signals.proximity import PROXIMITY

RESTS = pa.schema([("vessel", pa.int64()), ("time", pa.int64()), ("end", pa.int64())])


def rests(positions: pa.Table, areas: Areas, speed: float = Thresholds().stop_leave) -> pa.Table:
    """The periods from the first to the last of a vessel's successive reports in an area with at most this speed:
    `vessel`, `time`, `end` (a second behind the last report). A silence between two such reports belongs to them."""
    tracks = tracks_of(positions)
    row, _ = areas.grid.locate(tracks.lon, tracks.lat)
    inside = np.zeros(tracks.time.shape[0], np.bool_)
    inside[row] = True
    rows = np.flatnonzero(inside & (tracks.speed <= speed))
    new = np.ones(rows.shape[0], np.bool_)
    new[1:] = (np.diff(rows) > 1) | (np.diff(tracks.vessel[rows]) != 0)
    firsts = np.flatnonzero(new)
    lasts = np.append(firsts[1:], rows.shape[0])[: firsts.shape[0]] - 1
    columns = [tracks.vessel[rows[firsts]], tracks.time[rows[firsts]], tracks.time[rows[lasts]] + 1]
    return pa.table([pa.array(column) for column in columns], schema=RESTS)


def without_rests(proximity: pa.Table, resting: pa.Table) -> pa.Table:
    """Periods of proximity without the time in which both vessels rest.

    >>> near = pa.table([[0], [100], ["true"], [1], [2]], schema=PROXIMITY)
    >>> resting = pa.table([[1, 2], [0, 40], [90, 100]], schema=RESTS)
    >>> [(row["time"], row["end"]) for row in without_rests(near, resting).to_pylist()]
    [(0, 40), (90, 100)]
    """
    start, end, one, two = (np.asarray(proximity[name].to_numpy(), np.int64)
                            for name in ("time", "end", "vessel1", "vessel2"))
    resting = resting.sort_by([("vessel", "ascending"), ("time", "ascending")])
    row, low, high = _overlaps(np.arange(start.shape[0]), one, start, end, resting)
    row, low, high = _overlaps(row, two[row], low, high, resting)
    order = np.lexsort((low, row))
    row, low, high = row[order], low[order], high[order]
    every = np.arange(start.shape[0])
    rows = np.concatenate([every, row])  # what is left begins with the period and behind each rest
    begins = np.concatenate([start, high])
    ends = np.concatenate([end, low])[np.lexsort((np.concatenate([end, low]), rows))]
    order = np.lexsort((begins, rows))
    rows, begins = rows[order], begins[order]
    kept = begins < ends
    columns = [begins[kept], ends[kept], proximity["value"].take(pa.array(rows[kept])), one[rows[kept]],
               two[rows[kept]]]
    return pa.table(columns, schema=PROXIMITY)


def _overlaps(row: Ints, vessel: Ints, start: Ints, end: Ints, resting: pa.Table) -> tuple[Ints, Ints, Ints]:
    """The parts of periods in which their vessel rests: the rows they are of, starts and ends."""
    who, begins, stops = (np.asarray(resting[name].to_numpy(), np.int64) for name in RESTS.names)
    low, high = _search(who, stops, vessel, start, "right"), _search(who, begins, vessel, end, "left")
    number = np.maximum(high - low, 0)
    period = np.repeat(np.arange(row.shape[0]), number)
    rest = np.arange(period.shape[0]) - np.repeat(np.cumsum(number) - number, number) + low[period]
    return row[period], np.maximum(start[period], begins[rest]), np.minimum(end[period], stops[rest])


def _search(who: Ints, times: Ints, vessel: Ints, time: Ints, side: str) -> Ints:
    """Where pairs of vessel and time stand in sorted pairs."""
    names = np.unique(np.concatenate([who, vessel]))
    everything = np.concatenate([times, time])
    first = int(everything.min(initial=0))
    wide = int(everything.max(initial=0)) - first + 1
    keys, wanted = (np.searchsorted(names, each) * wide + (at - first) for each, at in ((who, times), (vessel, time)))
    found: npt.NDArray[np.int64] = np.searchsorted(keys, wanted, side="right" if side == "right" else "left")
    return found
