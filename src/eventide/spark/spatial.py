"""Areas and proximity on Spark: by buckets of vessels, then by parts of space and time, by the functions of `signals`.

What a vessel enters and leaves follows from its own track. Who is near whom does not: pieces of tracks go to the
buckets of the cells and hours that they touch (`kernels.spreading`), each bucket finds its meetings, and those of a
pair come together and become whole periods. The answers are those of one machine.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from eventide.kernels import meetings as kernels
from eventide.kernels.meetings import Meetings
from eventide.kernels.sorting import order
from eventide.kernels.spreading import spread
from eventide.signals.areas import CROSSING, Areas, area_events
from eventide.signals.positions import Ints, tracks_of
from eventide.signals.proximity import Nearness, checked_tracks, proximity, proximity_table
from eventide.spark.parts import buckets_of, packed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PIECES = "pieces"
"""The name of the table of packed pieces of tracks, which is no table of facts."""
_COLUMNS = ("vessel", "time", "lon", "lat")
_SENT = "stage int, bucket int, part binary"
_CROSSINGS = "event string, time bigint, vessel bigint, area string"
_PERIODS = "time bigint, end bigint, value string, vessel1 bigint, vessel2 bigint"
_MEETING = ("one", "two", "start", "end", "sure")
_PIECE = pa.schema([("bucket", pa.int32()), ("vessel", pa.int64()), ("time", pa.int64()), ("lon", pa.float64()),
                    ("lat", pa.float64()), ("mark", pa.int64())])
_SAMPLE = pa.table({"vessel": [1, 1, 2, 2], "time": [0, 9, 0, 9], "lon": [0.0] * 4, "lat": [0.0] * 4})
_CODE_BITS = 4
_NO_VESSEL = np.iinfo(np.int64).max
_SLICE = 250_000  # rows of pieces that are packed together
Batches = Iterator[pa.RecordBatch]


# -- steps on the positions of a bucket of vessels ---------------------------------------------------------------------


class AreaStep:
    """`entersArea` and `leavesArea` of some vessels, as a step of `positions_on_spark`."""

    def __init__(self, areas: Areas, gap: int = 600) -> None:
        self._areas, self._gap = areas, gap
        areas.grid  # noqa: B018  # made here, once, and sent to the tasks

    @property
    def schemas(self) -> Mapping[str, pa.Schema]:
        """The two tables of facts."""
        return {"entersArea": CROSSING, "leavesArea": CROSSING}

    def __call__(self, positions: pa.Table) -> Mapping[str, pa.Table]:
        """The events of some vessels."""
        return area_events(positions, self._areas, gap=self._gap)


class PieceStep:
    """Pieces of the tracks of some vessels for all buckets of space and time, as a step of `positions_on_spark`.

    They are held under the name `PIECES`; `periods_of(signals.packed(PIECES), …)` makes proximity of them.
    """

    def __init__(self, nearness: Nearness, buckets: int) -> None:
        self._nearness, self._buckets = nearness, buckets

    @property
    def schemas(self) -> Mapping[str, pa.Schema]:
        """None: pieces are no facts."""
        return {}

    def __call__(self, positions: pa.Table) -> Mapping[str, pa.Table]:
        """The reports that each bucket needs, bucket by bucket.

        A piece goes from one row to the next, which may be in another slice of the table: `mark` has the row's number
        beside its code, and the smallest vessel, which no other task has, tells where the table is from.
        """
        tracks = checked_tracks(positions)
        codes = kernels.pieces(tracks.vessel, tracks.time, self._nearness.gap, self._nearness.bridge)
        offsets, rows, own = spread(tracks.time, tracks.lon, tracks.lat, codes, self._nearness.metres, self._buckets)
        bucket = np.repeat(np.arange(self._buckets, dtype=np.int32), np.diff(offsets))
        mark = np.arange(len(rows)) << _CODE_BITS | own
        columns = [bucket, *(getattr(tracks, name)[rows] for name in _COLUMNS), mark]
        source = {"source": str(tracks.vessel.min(initial=_NO_VESSEL))}
        return {PIECES: pa.table([pa.array(column) for column in columns],
                                 pa.schema(_PIECE, metadata=source))}


def _piece_parts(table: pa.Table) -> Batches:
    """A slice of a table of pieces, packed by bucket: where it is from, its first row, its columns."""
    columns = [table[name].to_numpy() for name in _PIECE.names]
    source = int(table.schema.metadata[b"source"])
    cuts = [0, *(np.flatnonzero(np.diff(columns[0])) + 1).tolist(), table.num_rows]
    for low, high in pairwise(cuts):
        if low < high:
            *own, mark = (column[low:high] for column in columns[1:])
            codes = (mark & ((1 << _CODE_BITS) - 1)).astype(np.uint8)
            part = (source, int(mark[0]) >> _CODE_BITS, (*own, codes))
            yield packed(1, int(columns[0][low]), pickle.dumps(part, protocol=5))


# -- transformations of DataFrames -------------------------------------------------------------------------------------


def areas_on_spark(positions: DataFrame, areas: Areas, *, gap: int = 600, buckets: int | None = None) -> DataFrame:
    """The events of `area_events` for cleaned positions, in any order: columns `event`, `time`, `vessel`, `area`."""
    step = AreaStep(areas, gap)
    return _by_vessel(positions, _number(positions, buckets)).mapInArrow(_Crossings(step), _CROSSINGS)


def proximity_on_spark(positions: DataFrame, nearness: Nearness | None = None, *, buckets: int | None = None,
                       ) -> DataFrame:
    """The periods of `proximity` for cleaned positions, in any order; the rows come in no order."""
    settings, number = nearness or Nearness(), _number(positions, buckets)
    pieces = _by_vessel(positions, number).mapInArrow(_Spreading(PieceStep(settings, number)), _SENT)
    return _periods(pieces, settings, number)


def periods_of(pieces: DataFrame, nearness: Nearness, buckets: int) -> DataFrame:
    """The periods of proximity from held pieces: packed tables, which a `PieceStep` with the same settings has made."""
    return _periods(pieces.mapInArrow(_unpacked_pieces, _SENT), nearness, buckets)


def _periods(pieces: DataFrame, nearness: Nearness, number: int) -> DataFrame:
    proximity(_SAMPLE)  # compiles once what all workers need
    found = _exchanged(pieces, number).mapInArrow(_Finding(nearness.metres, number), _SENT)
    return _exchanged(found, number).mapInArrow(_joining, _PERIODS)


def _number(frame: DataFrame, buckets: int | None) -> int:
    return buckets or int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)


def _exchanged(rows: DataFrame, number: int) -> DataFrame:
    from pyspark.sql import functions as f

    return rows.repartitionById(number, f.col("bucket"))


def _by_vessel(positions: DataFrame, number: int) -> DataFrame:
    """The reports packed by buckets of vessels."""
    for name in _COLUMNS:
        if name not in positions.columns:
            tracks_of(pa.table({column: pa.nulls(0) for column in positions.columns}), "<DataFrame>")  # tells it
    return _exchanged(positions.select(*_COLUMNS).mapInArrow(_Packing(number), _SENT), number)


# -- tasks -------------------------------------------------------------------------------------------------------------


class _Packing:
    """Packs reports by bucket."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            if batch.num_rows:
                tracks = tracks_of(pa.Table.from_batches([batch]))
                yield from _sent(buckets_of(tracks.vessel, self._number),
                                 [getattr(tracks, name) for name in _COLUMNS])


def _sent(buckets: Ints, columns: Sequence[Any]) -> Batches:
    """Columns packed by bucket."""
    by_bucket = np.argsort(buckets.astype(np.int16) if buckets.max(initial=0) < 1 << 15 else buckets, kind="stable")
    found, firsts = np.unique(buckets[by_bucket], return_index=True)
    for bucket, rows in zip(found.tolist(), np.split(by_bucket, firsts[1:]), strict=False):
        yield packed(1, bucket, pickle.dumps(tuple(column[rows] for column in columns), protocol=5))


def _received(batches: Batches) -> list[Any]:
    """The columns of all packed values of a task, one behind the other; none if there is no value."""
    parts = [pickle.loads(part) for batch in batches for part in batch.column(2).to_pylist()]
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]


def _received_tracks(batches: Batches) -> pa.Table | None:
    """The reports of a task, sorted by vessel and time."""
    columns = _received(batches)
    if not columns:
        return None
    rows = _order(columns[0], columns[1])
    return pa.table([pa.array(column[rows]) for column in columns], names=_COLUMNS)


def _order(vessel: Ints, time: Ints) -> Ints:
    """The order of reports by vessel and time: one radix sort where both fit one word."""
    low, first = int(vessel.min()), int(time.min())
    wide, long = (int(vessel.max()) - low).bit_length(), (int(time.max()) - first).bit_length()
    if wide + long > 62:
        return np.lexsort((time, vessel))
    return order((vessel - low) << max(long, 1) | (time - first))


class _Crossings:
    def __init__(self, step: AreaStep) -> None:
        self._step = step

    def __call__(self, batches: Batches) -> Batches:
        table = _received_tracks(batches)
        if table is not None:
            for name, found in self._step(table).items():
                events = pa.DictionaryArray.from_arrays(np.zeros(found.num_rows, np.int8), [name]).dictionary_decode()
                yield from found.add_column(0, "event", events).to_batches(max_chunksize=100_000)


class _Spreading:
    def __init__(self, step: PieceStep) -> None:
        self._step = step

    def __call__(self, batches: Batches) -> Batches:
        table = _received_tracks(batches)
        if table is not None:
            pieces = self._step(table)[PIECES]
            for low in range(0, pieces.num_rows, _SLICE):
                yield from _piece_parts(pieces.slice(low, _SLICE))


def _unpacked_pieces(batches: Batches) -> Batches:
    for batch in batches:
        for held in batch.column(0):
            yield from _piece_parts(pa.ipc.open_stream(held.as_buffer()).read_all())


class _Finding:
    """Finds the meetings in a bucket of space and time, and sends them on by pair."""

    def __init__(self, metres: float, number: int) -> None:
        self._metres, self._number = metres, number

    def __call__(self, batches: Batches) -> Batches:
        parts = [pickle.loads(part) for batch in batches for part in batch.column(2).to_pylist()]
        parts.sort(key=lambda part: part[:2])  # a piece may begin in one part and end in the next
        if parts:
            vessel, time, lon, lat, codes = (np.concatenate(each) for each in zip(*(p[2] for p in parts), strict=True))
            found = kernels.meetings(vessel, time, lon, lat, codes, self._metres)
            yield from _sent(buckets_of(found.one * 0x1_0000_0001 + found.two, self._number),
                             [getattr(found, name) for name in _MEETING])


def _joining(batches: Batches) -> Batches:
    columns = _received(batches)
    if columns:
        yield from proximity_table(kernels.whole_meetings(Meetings(*columns))).to_batches(max_chunksize=100_000)
