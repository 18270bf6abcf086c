"""Positions on Spark: cleaning and critical points over buckets of vessels, by the functions of `signals`.

Reports are packed by bucket, exchanged once, and each bucket is one call of `clean` and `tracks_events`. What comes out
is held packed, a few large values per table, and unpacked where it is used.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from eventide.errors import InputError
from eventide.signals.ais import Reports, described, joined, read_positions
from eventide.signals.cleaning import REJECTED, Cleaning, added, clean
from eventide.signals.critical import (
    BITS,
    SCHEMAS,
    Critical,
    Thresholds,
    coordinates,
    silences,
    tracks_events,
    velocities,
)
from eventide.signals.positions import POSITIONS, VESSELS, Tracks, tracks_of
from eventide.spark.failures import clear_error
from eventide.spark.parts import buckets_of
from eventide.spark.start import start as start_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SENT = "bucket int, place bigint, part binary"
_SENT_SCHEMA = pa.schema([("bucket", pa.int32()), ("place", pa.int64()), ("part", pa.binary())])
_HELD = "name string, part binary"
_HELD_SCHEMA = pa.schema([("name", pa.string()), ("part", pa.binary())])
_REPORTS = "positions"
_SLICE = 250_000  # rows of a table in one packed value
_TASK = 1_000_000  # rows of a Parquet file that one task reads, about
_TYPES = {pa.int64(): "bigint", pa.float64(): "double", pa.string(): "string"}
_LAST = pa.schema([("time", pa.int64()), ("vessel", pa.int64()), ("flags", pa.uint16())])
_SAMPLE = Tracks(np.array([201000002, 201000001, 201000002]), np.arange(3), *(np.ones(3) for _ in range(5))).table()
Numbers = dict[str, dict[str, int]]
Batches = Iterator[pa.RecordBatch]


class Step(Protocol):
    """A further step on the cleaned positions of a bucket of vessels: tables by name, with their schemas."""

    @property
    def schemas(self) -> Mapping[str, pa.Schema]:
        """The columns of each table that it gives."""

    def __call__(self, positions: pa.Table) -> Mapping[str, pa.Table]:
        """The tables for some of the vessels."""


def positions_on_spark(
    source: Any, *, cleaning: Cleaning | None = None, thresholds: Thresholds | None = None, steps: Sequence[Step] = (),
    until: int | None = None, buckets: int | None = None, spark: SparkSession | None = None, preset: str | None = None,
    mapping: Mapping[str, str] | str | os.PathLike[str] | None = None, bad_rows: str = "fail",
) -> SparkSignals:
    """Clean positions and find their critical points on Spark; computed at once, and held until `release`.

    `source` is a DataFrame with the columns of positions, or paths of files as `read_positions` takes them: each is
    read by one task, `.parquet` with the columns of positions in pieces and faster than through a DataFrame. `steps`
    are further functions of the cleaned positions, bucket by bucket. The facts are those of `clean` and
    `critical_points` on one machine.
    """
    session = spark or getattr(source, "sparkSession", None) or start_spark()
    number = buckets or int(session.conf.get("spark.sql.shuffle.partitions") or 1)
    job = _Bucket(cleaning or Cleaning(), thresholds or Thresholds(), tuple(steps))
    list(job.tables(_SAMPLE, VESSELS.empty_table()))  # compiles once what all workers need
    sent = _sent(session, source, number, {"preset": preset, "mapping": mapping, "bad_rows": bad_rows})
    from pyspark.sql import functions as f
    from pyspark.storagelevel import StorageLevel

    held = sent.repartitionById(number, f.col("bucket")).mapInArrow(job, _HELD).persist(StorageLevel.MEMORY_AND_DISK)
    schemas = {name: schema for step in steps for name, schema in step.schemas.items()}
    found = SparkSignals(session, held, job.thresholds, until, {name: SCHEMAS[name] for name in BITS} | schemas)
    try:
        found.numbers  # noqa: B018  # runs it, so that what is wrong shows here
    except Exception as error:
        held.unpersist()
        clear = clear_error(error)
        if clear is None:
            raise
        raise clear from error
    return found


@dataclass(eq=False)
class SparkSignals:
    """What came out of positions, held by Spark: `facts` for `ev.spark.run`, and the tables behind them."""

    spark: SparkSession
    held: DataFrame
    thresholds: Thresholds
    until: int | None
    schemas: Mapping[str, pa.Schema]

    @cached_property
    def facts(self) -> dict[str, DataFrame]:
        """The events by name, as DataFrames."""
        more = silences(self._last, self.thresholds, self.until)
        found = {name: self._frame(name, schema, more=more.get(name)) for name, schema in self.schemas.items()}
        return found | {name: self._frame(_REPORTS, SCHEMAS[name], _EACH[name]) for name in _EACH}

    @property
    def positions(self) -> DataFrame:
        """The cleaned positions; those of a bucket stand together, by vessel and time."""
        return self._frame(_REPORTS, POSITIONS, _own)

    @property
    def rejected(self) -> DataFrame:
        """The rejected reports with their reasons."""
        return self._frame("rejected", REJECTED)

    @property
    def vessels(self) -> DataFrame:
        """What is known of the vessels, if the source says it."""
        return self._frame("vessels", VESSELS)

    def packed(self, name: str) -> DataFrame:
        """A table as it is held: a column `part` of packed rows, for `unpacked_table`."""
        from pyspark.sql import functions as f

        return self.held.where(f.col("name") == name).select("part")

    @property
    def counts(self) -> dict[str, int]:
        """How many reports were rejected, by reason, most first; rows that could not be read are `unreadable`."""
        return dict(sorted(self.numbers["rejected"].items(), key=lambda item: (-item[1], item[0])))

    @property
    def unknown(self) -> dict[str, int]:
        """How many impossible courses and headings were made unknown."""
        return self.numbers["unknown"]

    @property
    def read(self) -> int:
        """How many reports there were."""
        return self.numbers["read"].get("reports", 0)

    @cached_property
    def numbers(self) -> Numbers:
        """What was counted."""
        sums: Numbers = {"read": {}, "rejected": {}, "unknown": {}}
        for row in self.packed("numbers").collect():
            for kind, numbers in json.loads(row.part).items():
                sums[kind] = added(sums[kind], numbers)
        return sums

    @cached_property
    def _last(self) -> pa.Table:
        parts = [unpacked_table(row.part) for row in self.packed("last").collect()]
        return pa.concat_tables([_LAST.empty_table(), *parts])

    def _frame(self, name: str, schema: pa.Schema, made: Callable[[pa.Table], pa.Table] | None = None,
               more: pa.Table | None = None) -> DataFrame:
        ddl = ", ".join(f"{field.name} {_TYPES[field.type]}" for field in schema)
        found = self.packed(name).mapInArrow(_Unpacking(made), ddl)
        return found if more is None else found.unionByName(self.spark.createDataFrame(more))

    def release(self) -> None:
        """Give the memory back; the DataFrames are then computed anew if they are used."""
        self.held.unpersist()


# -- reading and sending -----------------------------------------------------------------------------------------------


def _sent(spark: SparkSession, source: Any, number: int, options: Mapping[str, Any]) -> DataFrame:
    from pyspark.sql import functions as f

    if hasattr(source, "mapInArrow"):
        return _sending(source, number)
    listed = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    paths = [path if "://" in path else os.path.abspath(path) for path in (os.fspath(each) for each in listed)]
    if not paths:
        raise InputError("there are no files of positions")
    frames = [_sending(spark.read.parquet(path), number) for path in paths if _is_spread(path)]
    pieces = [piece for path in paths if not _is_spread(path) for piece in _pieces(path)]
    if pieces:
        rows = [(at, *piece) for at, piece in enumerate(pieces)]
        tasks = spark.createDataFrame(rows, "number int, path string, low int, high int")
        tasks = tasks.repartitionById(len(rows), f.col("number"))
        frames.append(tasks.mapInArrow(_Sender(number, _Files(options)), _SENT))
    return reduce(lambda a, b: a.unionByName(b), frames)


def _is_spread(path: str) -> bool:
    """Whether a path is one that Spark must read: a folder of Parquet files, or one that is not on this machine."""
    return path.endswith(".parquet") and ("://" in path or os.path.isdir(path))


def _pieces(path: str) -> list[tuple[str, int, int]]:
    """What one task reads of a file: some groups of rows of a Parquet file of positions, and all of any other."""
    if path.endswith(".parquet") and os.path.exists(path):
        with pq.ParquetFile(path) as file:
            if set(POSITIONS.names[:4]) <= set(file.schema_arrow.names):
                sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
                starts = np.flatnonzero(np.diff(np.cumsum([0, *sizes[:-1]]) // _TASK, prepend=-1)).tolist()
                return [(path, low, high) for low, high in pairwise([*starts, len(sizes)])]
    return [(path, -1, -1)]


def _sending(frame: DataFrame, number: int) -> DataFrame:
    from pyspark.sql import functions as f

    known = [name for name in dict.fromkeys((*POSITIONS.names, *VESSELS.names)) if name in frame.columns]
    for name in POSITIONS.names[:4]:
        if name not in known:
            tracks_of(pa.table({column: pa.nulls(0) for column in frame.columns}), "<DataFrame>")
    kinds = {**{field.name: field.type for field in VESSELS}, **{field.name: field.type for field in POSITIONS}}
    columns = (f.col(f"`{name}`").cast(_TYPES[kinds[name]]).alias(name) for name in known)
    return frame.select(*columns).mapInArrow(_Sender(number, _of_frame), _SENT)


Read = Callable[[Batches], Iterator[tuple[int, Reports]]]
"""Reports of a task, each with its place in the order of the input."""


def _of_frame(batches: Batches) -> Iterator[tuple[int, Reports]]:
    from pyspark import TaskContext

    context = TaskContext.get()
    place = (context.partitionId() if context else 0) << 32
    for batch in batches:
        table = pa.Table.from_batches([batch])
        yield place, Reports(table, described(table))
        place += 1


class _Files:
    """Reads pieces of files."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = dict(options)

    def __call__(self, batches: Batches) -> Iterator[tuple[int, Reports]]:
        for batch in batches:
            for number, path, low, high in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                found = self._groups(path, low, high) if low >= 0 else [read_positions(path, **self._options)]
                yield from ((number << 32 | at, reports) for at, reports in enumerate(found))

    def _groups(self, path: str, low: int, high: int) -> Iterator[Reports]:
        with pq.ParquetFile(path) as file:
            wanted = {*POSITIONS.names, *VESSELS.names}
            columns = [name for name in file.schema_arrow.names if name in wanted]
            for batch in file.iter_batches(_SLICE, row_groups=range(low, high), columns=columns, use_threads=False):
                table = pa.Table.from_batches([batch])
                yield Reports(table, described(table))


class _Sender:
    """Packs the reports of a task by bucket, with their place in the order of the input."""

    def __init__(self, number: int, read: Read) -> None:
        self._number, self._read = number, read

    def __call__(self, batches: Batches) -> Batches:
        for place, reports in self._read(batches):
            for bucket, part in self._parts(reports).items():
                yield pa.record_batch([pa.array([bucket], pa.int32()), pa.array([place], pa.int64()),
                                       pa.array([pickle.dumps(part, protocol=5)], pa.binary())], schema=_SENT_SCHEMA)

    def _parts(self, reports: Reports) -> dict[int, dict[str, Any]]:
        """What each bucket gets."""
        parts: dict[int, dict[str, Any]] = {}
        tracks = tracks_of(reports.positions)
        for bucket, rows in _split(buckets_of(tracks.vessel, self._number)):
            parts[bucket] = {"positions": tuple(getattr(tracks, name)[rows] for name in POSITIONS.names)}
        if reports.vessels.num_rows:
            owners = buckets_of(reports.vessels["vessel"].to_numpy(), self._number)
            for bucket, rows in _split(owners):
                parts.setdefault(bucket, {})["vessels"] = packed_table(reports.vessels.take(pa.array(rows)))
        if reports.bad:
            parts.setdefault(0, {})["bad"] = reports.bad
        return parts


def _split(buckets: Any) -> Iterator[tuple[int, Any]]:
    """The rows of each bucket, in their order."""
    order = np.argsort(buckets.astype(np.uint16) if buckets.max(initial=0) < 65536 else buckets, kind="stable")
    found, firsts = np.unique(buckets[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, firsts[1:]), strict=False)


# -- buckets -----------------------------------------------------------------------------------------------------------


class _Bucket:
    """All that is done with the reports of a bucket of vessels."""

    def __init__(self, cleaning: Cleaning, thresholds: Thresholds, steps: tuple[Step, ...]) -> None:
        self.cleaning, self.thresholds, self.steps = cleaning, thresholds, steps

    def __call__(self, batches: Batches) -> Batches:
        by_bucket: dict[int, list[tuple[int, bytes]]] = {}
        for batch in batches:
            for bucket, place, part in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                by_bucket.setdefault(bucket, []).append((place, part))
        for parts in by_bucket.values():
            parts.sort(key=lambda each: each[0])
            contents: list[dict[str, Any]] = [pickle.loads(part) for _, part in parts]
            parts.clear()
            yield from self._of(contents)

    def _of(self, contents: list[dict[str, Any]]) -> Batches:
        tracks = [content["positions"] for content in contents if "positions" in content]
        table = _together(tracks).table() if tracks else POSITIONS.empty_table()
        vessels = [unpacked_table(content["vessels"]) for content in contents if "vessels" in content]
        known = joined([Reports(POSITIONS.empty_table(), each) for each in vessels]).vessels
        bad = sum(content.get("bad", 0) for content in contents)
        for name, part in self.tables(table, known, bad):
            yield pa.record_batch([pa.array([name]), pa.array([part], pa.binary())], schema=_HELD_SCHEMA)

    def tables(self, reports: pa.Table, vessels: pa.Table, bad: int = 0) -> Iterator[tuple[str, bytes]]:
        """Everything that comes out of the reports of some vessels, packed, by name."""
        cleaned = clean(reports, self.cleaning)
        critical = tracks_events(cleaned.positions, self.thresholds)
        found: dict[str, pa.Table] = {_REPORTS: _with_known(cleaned.positions, critical), "last": critical.last,
                                      "rejected": cleaned.rejected, "vessels": vessels, **critical.facts}
        for step in self.steps:
            found |= step(cleaned.positions)
        rejected = cleaned.counts | ({"unreadable": bad} if bad else {})
        numbers: Numbers = {"read": {"reports": reports.num_rows}, "rejected": rejected, "unknown": cleaned.unknown}
        yield "numbers", json.dumps(numbers).encode()
        for name, table in found.items():
            for low in range(0, table.num_rows, _SLICE):
                yield name, packed_table(table.slice(low, _SLICE))


def _together(parts: Sequence[tuple[Any, ...]]) -> Tracks:
    return Tracks(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def packed_table(table: pa.Table) -> bytes:
    """A table as one value."""
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return bytes(out.getvalue())


def unpacked_table(part: bytes) -> pa.Table:
    """The table of a packed value.

    >>> unpacked_table(packed_table(pa.table({"time": [1, 2]})))["time"].to_pylist()
    [1, 2]
    """
    return pa.ipc.open_stream(part).read_all()


class _Unpacking:
    """Unpacks tables, and makes others of them."""

    def __init__(self, made: Callable[[pa.Table], pa.Table] | None) -> None:
        self._made = made

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            for part in batch.column(0):
                table = unpacked_table(part.as_buffer())
                yield from (self._made(table) if self._made else table).to_batches(max_chunksize=100_000)


# -- what has a row per report is held once ----------------------------------------------------------------------------


def _with_known(positions: pa.Table, critical: Critical) -> pa.Table:
    """Positions with the speeds and courses that follow from others, if there are any."""
    columns = {"known_speed": ("speed", critical.speed), "known_course": ("course", critical.course)}
    for name, (own, known) in columns.items():
        if not np.array_equal(positions[own].to_numpy(), known, equal_nan=True):
            positions = positions.append_column(name, pa.array(known))
    return positions


def _own(table: pa.Table) -> pa.Table:
    return table.select(POSITIONS.names)


def _velocity(table: pa.Table) -> pa.Table:
    tracks = tracks_of(table)
    speed, course = (np.asarray(table[name].to_numpy()) if name in table.column_names else own
                     for name, own in (("known_speed", tracks.speed), ("known_course", tracks.course)))
    return velocities(tracks, speed, course)


def _coord(table: pa.Table) -> pa.Table:
    return coordinates(tracks_of(table))


_EACH = {"velocity": _velocity, "coord": _coord}
