"""Programs over streaming DataFrames: facts in, changes out. Every stage is a stateful operator of one query.

Facts are read into packed rows, one per stage and bucket; each operator takes the rows of its stage and lets all others
pass. What a bucket has seen is in the state store of its operator (`eventide.spark.state`).
"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from eventide.errors import InputError
from eventide.formats.facts import Facts
from eventide.program import Program
from eventide.spark.flow import Flow, FlowEmit, flow_of
from eventide.spark.operator import READ, Shipped, Stage, labels
from eventide.spark.records import Read, bad_records, piece_facts, pieces_of
from eventide.spark.units import BAD, CHANGES, LATE, Unit, table_of, written
from eventide.spark.units import Row as Packed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from eventide.probability.events import History
    from eventide.probability.intervals import Threshold

DDL = "key int, stage int, bucket int, part binary"
SCHEMA = pa.schema([("key", pa.int32()), ("stage", pa.int32()), ("bucket", pa.int32()), ("part", pa.binary())])
_ROWS = "fluent string, args string, value string, start bigint, end bigint"
_COLUMNS = {"changes": f"query_time bigint, change string, {_ROWS}", "final": f"query_time bigint, {_ROWS}"}
LATE_COLUMNS = ("fact string, args string, value string, start bigint, end bigint, change string, query_time bigint")
BAD_COLUMNS = "source string, line bigint, problem string, text string"
SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass":
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
}
"""What Spark's state must be like; everything else about a session is free."""


def stream(program: Program, events: object, *, window: int, step: int | None = None, delay: int = 0,
           start: int | None = None, tick: int = 1, emit: FlowEmit = "changes", fluents: Sequence[str] | None = None,
           initially_at: int = 0, ties: str = "termination", horizon: int | None = None, buckets: int | None = None,
           late: bool = False, probabilistic: bool = False, threshold: Threshold | None = None,
           history: History | None = None, memory: int | None = None, durations: tuple[float, float] | None = None,
           **options: Any) -> DataFrame:
    """Recognise over a stream: a streaming DataFrame of the changes at each query time.

    `events` is a streaming DataFrame (columns `time`, `event`, arguments), or a dict of them by event name. A query
    time is answered when a fact has come that is more than `delay` later. With `probabilistic`, facts count with their
    probabilities, and rows have one, as in `program.session`. With `late` there are also rows for facts
    that came too late for the window, with `late` in the place of `+` or `-`. Write the result in append mode, with a
    checkpoint; the state needs the settings of `eventide.spark.streaming.SETTINGS`, which are made here.

    >>> import eventide as ev
    >>> from eventide.spark.start import start
    >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
    >>> numbers = start("local[2]", buckets=2).readStream.format("rate").load()
    >>> events = numbers.selectExpr("value as time", "'win' as event", "'ann' as who")
    >>> changes = ev.spark.stream(program, events, window=20, step=10, delay=5)
    >>> changes.isStreaming, changes.columns
    (True, ['query_time', 'change', 'fluent', 'args', 'value', 'start', 'end'])
    """
    if late and emit != "changes":
        raise InputError(f"late facts are listed among changes; with emit={emit!r} there is no column for them")
    frames: Mapping[Any, Any] = events if isinstance(events, Mapping) else {None: events}
    session = _session_of(frames)
    flow = flow_of(program, buckets=buckets or int(session.conf.get("spark.sql.shuffle.partitions") or 1),
                   window=window, step=step, delay=delay, start=start, tick=tick, emit=emit, fluents=fluents,
                   initially_at=initially_at, ties=ties, horizon=horizon, probabilistic=probabilistic,
                   threshold=threshold, history=history, memory=memory, durations=durations, **options)
    for problem in flow.diagnostics:
        warnings.warn(problem.message, stacklevel=2)
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    shipped = Shipped(flow)
    rows = [frame.mapInArrow(_TableReading(shipped, name), DDL) for name, frame in frames.items()]
    found = staged(reduce(lambda a, b: a.unionByName(b), rows), shipped, uuid4().hex)
    if not late:
        return unpacked(found, CHANGES, columns_of(flow))
    kinds = found.where(found.bucket.isin(CHANGES, LATE)).select("bucket", "part")
    return kinds.mapInArrow(_WithLate(columns_of(flow)), columns_of(flow))


def columns_of(flow: Flow) -> str:
    """The columns of the answers of a stream."""
    return _COLUMNS[flow.emit] + ("" if flow.uncertainty is None else ", probability double")


def _session_of(frames: Mapping[Any, Any]) -> SparkSession:
    """The session of streaming DataFrames that have what facts need."""
    for name, frame in frames.items():
        if not getattr(frame, "isStreaming", False):
            raise InputError(f"a {type(frame).__name__} is no stream; give a streaming DataFrame (spark.readStream), "
                             "or use ev.spark.run")
        needed = ("time", "event") if name is None else ("time",)
        absent = [column for column in needed if column not in frame.columns]
        if absent:
            raise InputError(f"the stream{'' if name is None else f' of {name}'} has no column {absent[0]}; its "
                             f"columns are {', '.join(frame.columns)}")
    if not frames:
        raise InputError("there is no stream to read")
    session: SparkSession = next(iter(frames.values())).sparkSession
    return session


def piece_rows(pieces: DataFrame, shipped: Shipped, options: Mapping[str, object]) -> DataFrame:
    """The pieces of a source (`eventide.spark.sources`) as packed rows; what cannot be read is among the results."""
    return pieces.mapInArrow(_PieceReading(shipped, options), DDL)


def staged(rows: DataFrame, shipped: Shipped, stream_id: str, limits: Mapping[str, Any] = {}) -> DataFrame:
    """Packed rows through all stages; what is left are results. `limits` are those of `eventide.engine.budget`."""
    for stage in range(1, shipped.flow.last + 1):
        rows = rows.groupBy("key").transformWithState(
            Stage(shipped, stage, stream_id, limits), outputStructType=DDL, outputMode="append", timeMode="none")
    return rows


def unpacked(results: DataFrame, kind: int, columns: str) -> DataFrame:
    """The rows of one kind of results."""
    return results.where(results.bucket == kind).select("part").mapInArrow(_tables, columns)


def _tables(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for part in batch.column(0).to_pylist():
            yield from table_of(part).to_batches()


class _WithLate:
    """Changes, and late facts as rows among them."""

    def __init__(self, columns: str) -> None:
        self._names = [column.split()[0] for column in columns.split(", ")]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for kind, part in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                table = table_of(part)
                if kind == LATE:
                    table = table.drop_columns("change").rename_columns({"fact": "fluent"})
                    table = table.append_column("change", pa.repeat("late", len(table)))
                    table = table.append_column("probability", pa.nulls(len(table), pa.float64())).select(self._names)
                yield from table.to_batches()


# -- buckets in Spark --------------------------------------------------------------------------------------------------


def partitions_for(buckets: int, cores: int) -> int:
    """Over how many partitions buckets are spread evenly, with at most one per core.

    >>> partitions_for(8, 3), partitions_for(2, 16)
    (2, 2)
    """
    return max(number for number in range(1, buckets + 1) if buckets % number == 0 and number <= max(cores, 1))


def _record_batch(flow: Flow, rows: Sequence[Packed], own: int) -> pa.RecordBatch:
    """Packed rows for Spark: those for a bucket go there, results stay where they are."""
    names = labels(flow.buckets)
    keys = [names[bucket] if stage <= flow.last else own for stage, bucket, _ in rows]
    stages, buckets, parts = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.record_batch([pa.array(column, kind.type) for column, kind in zip(
        (keys, stages, buckets, parts), SCHEMA, strict=True)], schema=SCHEMA)


class _TableReading:
    """Batches of a table: what one batch of the stream has is one unit."""

    def __init__(self, shipped: Shipped, name: str | None) -> None:
        self._shipped, self._name = shipped, name

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        flow = self._shipped.flow
        for batch in batches:
            table = pa.Table.from_batches([batch])
            facts = flow.facts(table if self._name is None else {self._name: table})
            yield _read(flow, facts, "")


class _PieceReading:
    """Pieces of a source: each is a unit."""

    def __init__(self, shipped: Shipped, options: Mapping[str, object]) -> None:
        self._shipped, self._options = shipped, dict(options)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        flow = self._shipped.flow
        read: Read = lambda source: flow.program.read(source, bad_rows="skip", **self._options)  # noqa: E731
        for batch in batches:
            for piece in pieces_of(batch):
                yield _read(flow, piece_facts(piece, read), piece.rank or f"{piece.source} {piece.first:020d}")


def _read(flow: Flow, facts: Facts, key: str) -> pa.RecordBatch:
    times = [table.time if table.arrival is None else table.arrival for table in facts if len(table)]
    unit = Unit(key, min((int(t.min()) for t in times), default=None), max((int(t.max()) for t in times), default=None))
    rows = list(flow.read(facts, unit))
    rows.append((flow.last + 1, READ, struct.pack("<qq", len(facts), facts.bad_count)))
    if facts.bad:
        rows.append((flow.last + 1, BAD, written(bad_records(facts).select([c.split()[0] for c in
                                                                           BAD_COLUMNS.split(", ")]))))
    return _record_batch(flow, rows, labels(flow.buckets)[0])
