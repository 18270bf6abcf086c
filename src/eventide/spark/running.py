"""A stream that runs by its configuration: source, rules, sinks, checkpoint; started, watched, stopped."""

from __future__ import annotations

import os
import re
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eventide.errors import EventideError
from eventide.program import Program, load
from eventide.spark.config import FileSource, KafkaSource, SocketSource, StreamConfig
from eventide.spark.failures import ServiceError, clear_error
from eventide.spark.flow import Flow, flow_of
from eventide.spark.identity import (
    SPARK,
    broken_checkpoint,
    change_rules,
    check_identity,
    claim,
    has_other_rules,
    identity_of,
    known_stream,
)
from eventide.spark.operations import Batch, Figures, Reporter, count_of
from eventide.spark.operator import READ, STATE, Shipped
from eventide.spark.partitioning import to_text
from eventide.spark.remembered import (
    begin_again,
    is_pending,
    keep_flow,
    known_flow,
    last_batch,
    last_flow,
    without_past,
)
from eventide.spark.sinks import Sink, open_sink
from eventide.spark.sources import check_source, open_source
from eventide.spark.start import start
from eventide.spark.streaming import (
    BAD_COLUMNS,
    LATE_COLUMNS,
    SETTINGS,
    columns_of,
    partitions_for,
    piece_rows,
    staged,
    unpacked,
)
from eventide.spark.swap import following
from eventide.spark.units import BAD, CHANGES, COUNTS, LATE, table_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MORE = {
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.pollingDelay": "200ms",
    "spark.sql.streaming.numRecentProgressUpdates": "2",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.metricsEnabled": "false",
}
_SMALL = 4 << 20
"""Results of fewer bytes are written by one task."""
_WAIT_FOR_LOCK = 30.0
_POLL = 0.2
_LOCAL = re.compile(r"local(?:\[(\*|\d+)\])?")
_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_BROKEN = re.compile(
    r"CANNOT_LOAD_STATE_STORE|CANNOT_READ_STATE|STATE_STORE_\w+|malformed|Incomplete log file|Failed to read log file|"
    r"doesn't exist|does not exist|CHECKPOINT|Invalid changelog|checksum|Checksum|metadata")


@dataclass(frozen=True)
class Prepared:
    """A stream before Spark: its program, how it flows, and what its checkpoint must be of."""

    config: StreamConfig
    program: Program
    flow: Flow
    identity: Mapping[str, Any]

    def plan(self) -> str:
        """The stream for people: where facts come from, how the rules are spread, where rows go."""
        config, window = self.config, self.flow
        start_at = "the first facts" if window.start is None else str(window.start)
        lines = [
            f"source      {_place(config.source)}",
            f"rules       {config.rules.program}, {count_of(len(self.program.fluents), 'result')}",
            f"window      {window.window} every {window.step}, {window.delay} of delay, from {start_at}",
            *(f"sink        {_place(sink)}, {window.emit}" for sink in config.sink),
            *(f"{name:<11} {_place(sink)}" for name, sink in (("late", config.late), ("quarantine", config.quarantine))
              if sink is not None),
            f"checkpoint  {config.checkpoint.path}",
            f"spark       {config.spark.master}, {count_of(window.buckets, 'bucket')}",
        ]
        return "\n".join([*lines, to_text(window.partitioning)])


def prepare(config: StreamConfig) -> Prepared:
    """Load the rules and plan the stream; every problem is an error."""
    program = load(config.rules.program, background=config.rules.background)
    window = config.window
    flow = flow_of(program, buckets=config.spark.buckets or cores_of(config.spark.master), window=window.window,
                   step=window.step, delay=window.delay, start=window.start, tick=window.tick, horizon=window.horizon,
                   emit=window.emit, fluents=config.rules.fluents or None,
                   probabilistic=config.rules.probabilistic, threshold=config.rules.threshold,
                   history=config.rules.history, memory=config.rules.memory, durations=config.rules.durations)
    return Prepared(config, program, flow, identity_of(flow, _source_of(config)))


def check(prepared: Prepared) -> None:
    """EventideError if the checkpoint is of another stream, or the source or a sink cannot be reached."""
    config = prepared.config
    name = check_identity(config.checkpoint.path, prepared.identity)
    check_source(config.source)
    for sink in _sinks(config, name):
        sink.check()


def cores_of(master: str) -> int:
    """How many tasks Spark runs at a time, as far as the name of a master tells.

    >>> cores_of("local[3]"), cores_of("local")
    (3, 1)
    """
    found = _LOCAL.fullmatch(master)
    if found is None:
        return 8
    return 1 if found[1] is None else (os.cpu_count() or 1) if found[1] == "*" else int(found[1])


def _source_of(config: StreamConfig) -> dict[str, object]:
    source = config.source
    return {"source": source.kind, "source.place": str(source.path) if isinstance(source, FileSource) else
            ", ".join(sorted(source.topics)) if isinstance(source, KafkaSource) else source.host}


def _place(section: Any) -> str:
    """A source or sink in a few words."""
    where = [str(getattr(section, name)) for name in ("path", "servers", "host", "table", "topic") if
             getattr(section, name, None)]
    topics = getattr(section, "topics", None)
    return " ".join([section.kind, *where, *([", ".join(topics)] if topics else [])])


def _sinks(config: StreamConfig, stream: str | None) -> list[Sink]:
    """All sinks, those for answers first."""
    found = [open_sink(sink, stream, f"sink {number}") for number, sink in enumerate(config.sink, 1)]
    return found + [open_sink(sink, stream, name) for name, sink in (("late", config.late),
                                                                    ("quarantine", config.quarantine)) if sink]


class Stream:
    """One stream, from its start to its end."""

    def __init__(self, prepared: Prepared, reporter: Reporter, figures: Figures, *,
                 spark: SparkSession | None = None, reload: bool = False) -> None:
        self._config = prepared.config
        self._reporter, self._figures = reporter, figures
        self._folder = self._config.checkpoint.path
        self._stopping = threading.Event()
        self._pausing = threading.Event()
        self._failure: BaseException | None = None
        self._next: Prepared | None = None
        if reload and has_other_rules(self._folder, prepared.identity):
            self._flow, self._next = last_flow(self._folder), prepared
            following(self._flow, prepared.flow)
            self._name = known_stream(self._folder) or ""
        else:
            self._name = claim(self._folder, prepared.identity)
            self._flow = known_flow(self._folder, prepared.flow)
        self._open_sinks()
        if not isinstance(self._config.source, SocketSource):  # a server may take one connection only
            check_source(self._config.source)
        self._spark = self._session(spark)
        self._lock = _locked(self._spark, self._folder)
        self._query: Any = None

    def stop(self) -> None:
        """Let the batch at hand finish, then end; may be called from a signal handler or another thread."""
        self._stopping.set()

    def run(self, *, once: bool = False, changed: Callable[[], Prepared | None] = lambda: None) -> None:
        """Go on from the checkpoint: for ever, or with `once` until what is there now has been processed.

        `changed` is asked again and again whether the rules are others now; from the next batch on, these count.
        """
        try:
            if self._next is not None:
                if is_pending(self._folder):  # its rows may be with the sinks already: it belongs to the old rules
                    self._query = self._started(once=False)
                    self._one_batch()
                self._change_rules(self._next)
            self._query = self._started(once)
            while self._query.isActive and not self._stopping.wait(_POLL):
                new = changed()
                if new is not None and self._can_follow(new):
                    self._pausing.set()
                    self._end_of_batch()
                    self._change_rules(new)
                    self._query = self._started(once)
            self._finish()
        except Exception as error:
            if not isinstance(self._failure, _Stopping):
                raise self._clear(self._failure or error) from None
        finally:
            if self._lock is not None:
                self._lock.close()

    # -- other rules --------------------------------------------------------------------------------------------------

    def _can_follow(self, new: Prepared) -> bool:
        """Whether the stream can go on with other rules; if not, it says why, and goes on as it is."""
        try:
            check_identity(self._folder, {**new.identity, "rules": self._rules[0], "background": self._rules[1]})
            following(without_past(self._folder, self._flow), new.flow)
        except EventideError as error:
            self._reporter.warn(f"the changed rules are not taken over, the old ones stay: {error}")
            return False
        return True

    @property
    def _rules(self) -> tuple[Any, Any]:
        known = identity_of(self._flow, {})
        return known["rules"], known["background"]

    def _change_rules(self, new: Prepared) -> None:
        """Between two batches: from now on the checkpoint belongs to the new rules."""
        flow = following(without_past(self._folder, self._flow), new.flow)
        keep_flow(self._folder, flow)
        change_rules(self._folder, new.identity, flow.epoch, last_batch(self._folder))
        self._flow, self._next = flow, None
        self._reporter.say("the stream goes on with changed rules", epoch=flow.epoch)

    def _one_batch(self) -> None:
        """Let the batch that was begun be finished, and no other one."""
        while self._query.isActive and is_pending(self._folder) and not self._stopping.wait(_POLL / 4):
            pass
        self._pausing.set()
        self._end_of_batch()

    def _end_of_batch(self) -> None:
        """Stop the query when its batch is done; the next one ends itself before it does anything."""
        try:
            self._finish()
        except Exception:
            if not isinstance(self._failure, _Stopping):
                raise
        self._failure = None
        self._pausing.clear()

    def _finish(self) -> None:
        """Wait for the end of the batch; the next one stops itself."""
        while self._query.isActive:
            if not self._query.status["isTriggerActive"]:
                self._query.stop()
            time.sleep(_POLL / 4)
        self._query.awaitTermination()

    # -- setting up ---------------------------------------------------------------------------------------------------

    def _open_sinks(self) -> None:
        config = self._config
        sinks = _sinks(config, self._name)
        for sink in sinks:
            sink.check()
        self._answers = sinks[:len(config.sink)]
        rest = iter(sinks[len(config.sink):])
        self._late = next(rest) if config.late else None
        self._quarantine = next(rest) if config.quarantine else None

    def _session(self, spark: SparkSession | None) -> SparkSession:
        config = self._config.spark
        if spark is None:
            local = _LOCAL.fullmatch(config.master)
            # tasks are tried again when a worker dies, also on one machine
            master = config.master if local is None else f"local[{local[1] or 1},4]"
            spark = start(master, name=f"eventide {self._config.rules.program.name}",
                          options={"spark.driver.memory": "2g", **config.options})
        session = spark.newSession()
        partitions = partitions_for(self._flow.buckets, spark.sparkContext.defaultParallelism)
        for name, value in {**SETTINGS, **_MORE, "spark.sql.shuffle.partitions": str(partitions)}.items():
            session.conf.set(name, value)
        return session

    def _started(self, once: bool) -> Any:
        source, shipped = self._config.source, Shipped(self._flow)
        options = {"time_unit": source.time_unit, "column_types": source.column_types}
        begin_again(self._folder)
        rows = piece_rows(open_source(self._spark, source), shipped, options)
        answers = staged(rows, shipped, self._name, self._config.limits.model_dump())
        writer = answers.writeStream.outputMode("append").foreachBatch(self._batch).option(
            "checkpointLocation", str(self._folder / SPARK))
        if once:
            writer = writer.trigger(availableNow=True)
        elif self._config.spark.trigger is not None:
            writer = writer.trigger(processingTime=f"{self._config.spark.trigger} seconds")
        return writer.start()

    # -- a batch ------------------------------------------------------------------------------------------------------

    def _batch(self, frame: DataFrame, number: int) -> None:
        """Called by Spark, in a thread of its own."""
        try:
            if self._stopping.is_set() or self._pausing.is_set():
                raise _Stopping
            begun = time.monotonic()
            found = replace(self._written(frame, number), seconds=time.monotonic() - begun)
            found.added_to(self._figures)
            self._reporter.batch(found, self._figures)
        except BaseException as error:
            self._failure = error
            raise

    def _written(self, frame: DataFrame, number: int) -> Batch:
        frame.persist()
        try:
            rows = frame.selectExpr(
                "bucket", "length(part) AS size",
                f"CASE WHEN bucket IN ({COUNTS}, {STATE}, {READ}) THEN part END AS part").collect()
            sizes = {kind: sum(row["size"] for row in rows if row["bucket"] == kind) for kind in (CHANGES, LATE, BAD)}
            found = _gathered(number, {kind: [bytes(row["part"]) for row in rows if row["bucket"] == kind]
                                       for kind in (COUNTS, STATE, READ)})
            self._write(frame, CHANGES, sizes, columns_of(self._flow), self._answers, number)
            self._write(frame, LATE, sizes, LATE_COLUMNS, [self._late] if self._late else [], number)
            self._write(frame, BAD, sizes, BAD_COLUMNS, [self._quarantine] if self._quarantine else [], number)
        finally:
            frame.unpersist()
        self._tell(found)
        return found

    def _write(self, frame: DataFrame, kind: int, sizes: Mapping[int, int], columns: str, sinks: Sequence[Sink],
               number: int) -> None:
        if sizes[kind]:
            few = frame.coalesce(1) if sizes[kind] < _SMALL else frame
            for sink in sinks:
                sink.write(unpacked(few, kind, columns), number)

    def _tell(self, batch: Batch) -> None:
        for number, what, happened, section in (
                (batch.late, "fact", "came too late for the window", "late"),
                (batch.bad, "record", "could not be read", "quarantine")):
            if number:
                kept = getattr(self._config, section) is not None
                one = number == 1
                where = f"{'it is' if one else 'they are'} in {section}" if kept else (
                    f"add a table [{section}] to keep {'it' if one else 'them'}")
                self._reporter.warn(f"batch {batch.number}: {count_of(number, what)} {happened}; {where}",
                                    batch=batch.number)

    # -- failures -----------------------------------------------------------------------------------------------------

    def _clear(self, error: BaseException) -> EventideError | BaseException:
        """What went wrong, in one message."""
        known = clear_error(error)
        if known is not None:
            return known
        text = str(error)
        full = _FULL.search(text)
        if full:
            return ServiceError(f"{full[0]}: the batch could not be written to the checkpoint {self._folder} or to a "
                                "sink. Make room and start again; the stream goes on where it was")
        broken = _BROKEN.search(text)
        if broken and (str(self._folder) in text or "STATE" in broken[0]):
            line = next((line for line in text.splitlines() if broken[0] in line), broken[0])
            return broken_checkpoint(self._folder, line.strip()[:300])
        return error


class _Stopping(Exception):
    """A batch that does not begin, because the stream is to end."""


def _gathered(number: int, parts: Mapping[int, Sequence[bytes]]) -> Batch:
    """What a batch was, from what its buckets say."""
    counts = [row for part in parts[COUNTS] for row in table_of(part).to_pylist()]

    def total(name: str) -> int:
        return sum(row[name] or 0 for row in counts)

    def latest(name: str) -> int | None:
        return max((row[name] for row in counts if row[name] is not None), default=None)

    read = [struct.unpack("<qq", part) for part in parts[READ]]
    return Batch(number, events=sum(events for events, _ in read), bad=sum(bad for _, bad in read), late=total("late"),
                 before_start=total("before_start"), changes=total("changes"), query_time=latest("query_time"),
                 clock=latest("clock"), state_rows=total("state_rows"),
                 state_bytes=sum(int.from_bytes(part, "little") for part in parts[STATE]))


def _locked(spark: SparkSession, folder: Path) -> Any:
    """The lock of a checkpoint. Java holds it: of a driver that was killed, Java may live a moment longer."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    jvm: Any = spark.sparkContext._jvm
    until = time.monotonic() + _WAIT_FOR_LOCK
    while True:
        file = jvm.java.io.RandomAccessFile(str(folder / "lock"), "rw")
        try:
            if file.getChannel().tryLock() is not None:
                return file
        except Py4JJavaError as error:
            if "OverlappingFileLockException" not in str(error):
                raise
        file.close()
        if time.monotonic() > until:
            raise ServiceError(f"another stream uses the checkpoint {folder}; stop it, or give each its own")
        time.sleep(_POLL)
