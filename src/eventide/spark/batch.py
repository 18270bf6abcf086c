"""Batch runs on Spark: a DataFrame of facts in, a DataFrame of maximal intervals out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from eventide.engine.recognition import Extent, Settings
from eventide.errors import InputError
from eventide.formats.events import split_name, tables_in
from eventide.formats.facts import Facts
from eventide.program import Emit, Program, uncertainty_of
from eventide.results import EMITS
from eventide.spark.copies import apart
from eventide.spark.failures import carrying, clear_failures
from eventide.spark.partitioning import Partitioning, partitioned
from eventide.spark.parts import DDL
from eventide.spark.start import start as start_spark
from eventide.spark.tally import Tally, new_run
from eventide.spark.tasks import Job, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from eventide.probability.events import History
    from eventide.probability.intervals import Threshold


class Reader(Protocol):
    """A program of any language, as far as its input goes."""

    def reads(self, name: str) -> bool:
        """Whether an event or predicate is an input."""

    def read(self, events: object, **options: Any) -> Any:
        """The facts of files or tables."""


def run(program: Program, events: object, *, window: int | None = None, step: int | None = None,
        start: int | None = None, end: int | None = None, tick: int = 1, emit: Emit = "timeline",
        fluents: Sequence[str] | None = None, initially_at: int = 0, ties: str = "termination",
        horizon: int | None = None, probabilistic: bool = False, threshold: Threshold | None = None,
        history: History | None = None, buckets: int | None = None, spark: SparkSession | None = None,
        tally: Tally | None = None, **options: Any) -> DataFrame:
    """Recognise on Spark: the rows of `program.run`, as a DataFrame that is computed when it is used.

    `events` is a Spark DataFrame (columns `time`, `event`, arguments), a dict of DataFrames by event name, a path, or
    a list of these. Without `start` or `end` the times of the facts are looked at first. `buckets` is into how many
    parts the entities are spread (by default `spark.sql.shuffle.partitions`). A `tally` counts what is read and what
    is left out.

    >>> import eventide as ev
    >>> from eventide.spark.start import start
    >>> spark = start("local[2]", buckets=2)
    >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
    >>> events = spark.createDataFrame([(3, "win", "ann")], "time long, event string, who string")
    >>> ev.spark.run(program, events, start=0, end=9).collect()
    [Row(fluent='rich', args='ann', value='true', start=4, end=None)]
    """
    if not isinstance(program, Program):
        return _of_other_language(program, events, {
            "window": window, "step": step, "start": start, "end": end}, emit, horizon=horizon, fluents=fluents,
            buckets=buckets, spark=spark, tally=tally, **options)
    program.require_sound()
    program.wanted(fluents)
    if emit not in EMITS:
        raise InputError(f"emit is {emit!r}; known are {', '.join(EMITS[:-1])} and {EMITS[-1]}")
    session = spark or session_of(events) or start_spark()
    number = buckets or int(session.conf.get("spark.sql.shuffle.partitions") or 1)
    settings = Settings(window, step, start, end, tick, initially_at, ties)
    windows = window is not None or step is not None or horizon is not None
    uncertainty = uncertainty_of(probabilistic, threshold, history)
    if uncertainty is None:
        program.require_certain()
        spread = partitioning_of(program, windows=windows)
    else:
        if horizon is not None:
            raise InputError("Allen relations have no probabilities yet; leave out the horizon")
        spread = uncertain_partitioning_of(program, fluents)
        if windows:
            program.uncertain_windows(Facts(), settings, uncertainty, fluents)  # says what cannot be in windows
    for problem in spread.diagnostics:
        warnings.warn(problem.message, stacklevel=2)
    job = Job(program, spread, number, settings, emit, None if fluents is None else tuple(fluents), horizon,
              tuple(options.items()), tally, new_run(), uncertainty)
    with clear_failures():
        inputs = inputs_of(session, events, program, options)
        job = replace(job, settings=_settled(program, settings, inputs, options))
    return spread_over(session, job, inputs)


def _of_other_language(program: Any, events: object, given: Mapping[str, object], emit: str,
                       **options: Any) -> DataFrame:
    """A run of a DatalogMTL or LARS program: over all facts at once."""
    from eventide.mtl.program import MtlProgram
    from eventide.spark import lars, mtl

    if not isinstance(program, MtlProgram):
        return lars.run_with(program, events, given, emit, **options)
    windows = [name for name, value in given.items() if value is not None]
    if windows or emit != "timeline":
        raise InputError("on Spark a DatalogMTL program runs over all facts at once; leave out "
                         f"{', '.join(windows) or 'emit'}")
    return mtl.run(program, events, **options)


def settled(program: Program, events: object, settings: Settings, *, spark: SparkSession, **options: Any) -> Settings:
    """The settings of a run with its start and end; the times of all facts are looked at if they are not given."""
    with clear_failures():
        return _settled(program, settings, inputs_of(spark, events, program, options), options)


def partitioning_of(program: Program, *, windows: bool = False) -> Partitioning:
    """The stages of a program; with windows only the last of them evaluates."""
    program.require_sound()
    plan, computed = program.model.plan, frozenset(program.model.open_types)
    return apart(plan, computed) if windows else partitioned(plan, computed)


def uncertain_partitioning_of(program: Program, fluents: Sequence[str] | None = None) -> Partitioning:
    """The same for probabilities: what rows owe to facts cannot be sent on, so every bucket is a run of its own."""
    return apart(program.uncertain_plan(fluents), frozenset(program.model.open_types), "probabilities")


# -- inputs ------------------------------------------------------------------------------------------------------------


def session_of(events: object) -> SparkSession | None:
    """The session of a DataFrame, wherever it is among the inputs."""
    if isinstance(events, Mapping):
        events = list(events.values())
    for item in events if isinstance(events, list | tuple) else (events,):
        found: SparkSession | None = getattr(item, "sparkSession", None)
        if found is not None:
            return found
    return None


def inputs_of(spark: SparkSession, events: object, program: Reader,
              options: Mapping[str, Any]) -> list[tuple[DataFrame, Table]]:
    """The inputs as DataFrames with the columns that they need, each with how a batch of it is read."""
    found = list(_inputs(spark, events, program))
    for frame, source in found:
        if not isinstance(source, _File):
            with clear_failures(source.names):
                program.read(source(frame.limit(0).toArrow()), **options)
    return found


def _inputs(spark: SparkSession, events: object, program: Reader) -> Iterator[tuple[DataFrame, Table]]:
    """The inputs as DataFrames, each with how a batch of it is read."""
    if isinstance(events, Mapping):
        for name, table in events.items():
            yield _frame(spark, table, str(name))
    elif isinstance(events, list | tuple):
        for item in events:
            yield from _inputs(spark, item, program)
    elif isinstance(events, str | os.PathLike) and os.path.isdir(events) and not os.fspath(events).endswith(".parquet"):
        yield from _inputs(spark, tables_in(events, program.reads), program)
    else:
        yield _frame(spark, events, None)


def _frame(spark: SparkSession, table: object, name: str | None) -> tuple[DataFrame, Table]:
    if isinstance(table, str | os.PathLike):
        own, path = split_name(os.fspath(table))
        name = name or own
        there = path if "://" in path else os.path.abspath(path)  # workers may stand in other folders
        if path.endswith(".parquet"):
            with clear_failures({there: path}):
                return spark.read.parquet(there), Table(name, path)
        # other files are read whole by a task, as on one machine: their types and problems are those of the file
        return spark.createDataFrame([(there,)], "path string"), _File(name, path)
    if hasattr(table, "mapInArrow"):
        return table, Table(name)  # type: ignore[return-value]
    raise InputError(f"a {type(table).__name__} is no input of a run on Spark; give a Spark DataFrame or a path")


class Table:
    """A batch of a table, of one event or with a column that names it; `path` is what the user called its file."""

    def __init__(self, name: str | None, path: str | None = None) -> None:
        self._name, self.path = name, path

    @property
    def in_pieces(self) -> bool:
        """Whether it is files of which tasks read pieces."""
        return self.path is not None

    @property
    def names(self) -> dict[str, str]:
        """What messages call the table, by what a reader of its batches calls it."""
        own = f"<{self._name or 'Table'}>"
        return {own: self.path or f"<{self._name or 'DataFrame'}>"}

    def __call__(self, batch: pa.RecordBatch | pa.Table) -> object:
        table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        return table if self._name is None else {self._name: table}


class _File(Table):
    """A batch of paths, whose files are read."""

    in_pieces = False

    def __call__(self, batch: pa.RecordBatch) -> object:
        paths = batch.column(0).to_pylist()
        return paths if self._name is None else [f"{self._name}={path}" for path in paths]


def _settled(program: Program, settings: Settings, inputs: Iterable[tuple[DataFrame, Source]],
             options: Mapping[str, Any]) -> Settings:
    if settings.start is not None and settings.end is not None:
        Extent.of(settings, None, None)
        return settings
    found = [_span(frame, _Spans(program, source, options)) for frame, source in inputs]
    spans = [span for span in found if span is not None]
    low, high = (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else (0, 0)
    extent = Extent.of(settings, (low, high), high if spans else None)
    return replace(settings, start=extent.start, end=extent.end)


def _span(frame: DataFrame, reading: _Spans) -> tuple[int, int] | None:
    """The first time of facts, and the last at which one occurs or arrives."""
    from pyspark.sql import functions as f

    kinds = dict(frame.dtypes)
    times = [c for c in ("time", "arrival") if c in kinds]
    if times and times[0] == "time" and all(kinds[c] in ("bigint", "int") for c in times):
        last = f.greatest(*(f.max(c) for c in times)) if len(times) > 1 else f.max("time")
        found = frame.agg(f.min("time"), last).first()
    else:
        found = frame.mapInArrow(reading, "first bigint, last bigint").agg(f.min("first"), f.max("last")).first()
    return None if found is None or found[0] is None else (int(found[0]), int(found[1]))


class _Spans:
    def __init__(self, program: Program, source: Source, options: Mapping[str, Any]) -> None:
        self._program, self._source, self._options = program, source, options

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return carrying(self._spans(batches))

    def _spans(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            tables = [table for table in self._program.read(self._source(batch), **self._options) if len(table)]
            if tables:
                first = min(int(t.time.min()) for t in tables)
                last = max(int(c.max()) for t in tables for c in (t.time, t.arrival) if c is not None)
                yield pa.record_batch({"first": pa.array([first], pa.int64()), "last": pa.array([last], pa.int64())})


# -- stages ------------------------------------------------------------------------------------------------------------


def spread_over(spark: SparkSession, job: Job, inputs: Iterable[tuple[DataFrame, Source]]) -> DataFrame:
    """The rows of a job over its inputs: read, exchanged between the stages, evaluated."""
    rows = reduce(lambda a, b: a.unionByName(b), [_marked(spark, job), *(_read(job, *found) for found in inputs)])
    for stage in range(1, job.last):
        rows = _exchanged(rows, job.buckets).mapInArrow(_Staging(job, stage), DDL)
    return _exchanged(rows, job.buckets).mapInArrow(_Finishing(job), job.columns)


def _marked(spark: SparkSession, job: Job) -> DataFrame:
    """One empty row per stage and bucket: a bucket without facts is evaluated too."""
    total = job.last * job.buckets
    return spark.range(total, numPartitions=1).selectExpr(
        f"cast(id div {job.buckets} + 1 as int) as stage", f"cast(id % {job.buckets} as int) as bucket",
        "cast('' as binary) as part")


def _read(job: Job, frame: DataFrame, source: Source) -> DataFrame:
    return frame.mapInArrow(_Reading(job, source), DDL)


def _exchanged(rows: DataFrame, number: int) -> DataFrame:
    from pyspark.sql import functions as f

    return rows.repartitionById(number, f.col("bucket"))


class _Reading:
    def __init__(self, job: Job, source: Source) -> None:
        self._job, self._source = job, source

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return carrying(self._job.reading(batches, self._source))


class _Staging:
    def __init__(self, job: Job, stage: int) -> None:
        self._job, self._stage = job, stage

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return carrying(self._job.staging(batches, self._stage))


class _Finishing:
    def __init__(self, job: Job) -> None:
        self._job = job

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return carrying(self._job.finishing(batches))
