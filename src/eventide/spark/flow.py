"""A program over a stream, bucket by bucket: units of facts in, changes out. Knows no Spark.

The stream comes in *units* (a file, a block of messages), each with a key that orders them and the first and last time
of its facts. Every bucket of every stage is told of every unit, and goes through them in the same order: it takes in
its facts, moves its clock, and advances through the query times that the clock has passed. So all buckets pass the
same query times, and what comes out does not depend on how the units are cut into batches.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from eventide.algebra.nodes import Plan
from eventide.analysis.patterns import leaf_count, name_of
from eventide.engine.session import Session
from eventide.errors import EventideError, InputError, RuleError
from eventide.formats.facts import Facts, FactTable
from eventide.program import Program
from eventide.results import emitted, listed
from eventide.spark.partitioning import READING, Partitioning, Send, Stage, partitioned
from eventide.spark.parts import Content, bare, buckets_of, column_at, joined, split
from eventide.spark.tasks import own, staged
from eventide.syntax.diagnostics import Diagnostic

CHANGES, LATE, COUNTS, BAD = range(4)
"""The kinds of results, in the place of the bucket."""
FlowEmit = Literal["changes", "final"]
EMITS = ("changes", "final")
COUNTED = pa.schema([("stage", pa.int32()), ("bucket", pa.int32()), *(
    (name, pa.int64()) for name in ("events", "late", "before_start", "changes", "query_time", "clock", "state_rows"))])
Row = tuple[int, int, bytes]


class Unit(NamedTuple):
    """Facts that come together: a key that orders units as text, and the first and last time of the facts."""

    key: str
    first: int | None
    last: int | None


@dataclass(frozen=True)
class Flow:
    """A program, its stages, and how it is to be run over a stream: everything that the buckets share."""

    program: Program
    partitioning: Partitioning
    buckets: int
    window: int
    step: int
    delay: int = 0
    start: int | None = None
    tick: int = 1
    ties: str = "termination"
    initially_at: int = 0
    horizon: int | None = None
    emit: FlowEmit = "changes"
    fluents: tuple[str, ...] | None = None
    options: tuple[tuple[str, object], ...] = ()

    @property
    def last(self) -> int:
        """The number of the last stage."""
        return len(self.partitioning.stages) - 1

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What could not be spread, with the reasons."""
        return self.partitioning.diagnostics

    # -- reading ------------------------------------------------------------------------------------------------------

    def facts(self, source: object) -> Facts:
        """The facts of a batch of rows."""
        return source if isinstance(source, Facts) else self.program.read(source, **dict(self.options))

    def read(self, facts: Facts, unit: Unit) -> Iterator[Row]:
        """The facts of a unit in the buckets that need them; every bucket of every stage hears of the unit."""
        content: dict[tuple[int, int], dict[str, list[FactTable]]] = {}
        for send in self._sends:
            table = facts.tables.get((name_of(send.relation), leaf_count(send.relation)))
            if table is not None and len(table):
                for bucket, part in self._parts(bare(table), send):
                    content.setdefault((send.to, bucket), {}).setdefault(send.relation, []).append(part)
        for stage in range(1, self.last + 1):
            for bucket in range(self.buckets):
                found = {name: joined(tables) for name, tables in content.get((stage, bucket), {}).items()}
                yield stage, bucket, pickle.dumps((unit, found), protocol=5)

    @cached_property
    def _sends(self) -> tuple[Send, ...]:
        return self.partitioning.stages[READING].sends

    def _parts(self, table: FactTable, send: Send) -> Iterator[tuple[int, FactTable]]:
        if send.how == "key" and self.buckets > 1:
            yield from split(table, buckets_of(column_at(table, send.column), self.buckets))
        else:
            for bucket in range(self.buckets if send.how == "all" else 1):
                yield bucket, table

    # -- buckets ------------------------------------------------------------------------------------------------------

    def bucket(self, stage: int, number: int) -> Bucket:
        """A bucket that has seen nothing yet."""
        wanted = [name for name in self._program(stage, number).fluents if self.fluents is None or name in self.fluents]
        session = self._program(stage, number).session(
            window=self.window, start=self.start, tick=self.tick, initially_at=self.initially_at, ties=self.ties,
            horizon=self.horizon, fluents=wanted)
        return Bucket(self, stage, number, session, Clock(start=self.start))

    def restored(self, stage: int, number: int, state: bytes) -> Bucket:
        """The bucket that `Bucket.save` gave as bytes."""
        clock, saved = pickle.loads(state)
        return Bucket(self, stage, number, self._program(stage, number).restore(saved), clock)

    def _program(self, stage: int, number: int) -> Program:
        known: dict[tuple[int, bool], Program] = self._programs
        key = stage, number == 0
        if key not in known:
            known[key] = staged(self.program, self.partitioning.stages[stage], first=number == 0)
        return known[key]

    @cached_property
    def _programs(self) -> dict[tuple[int, bool], Program]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}


@dataclass(frozen=True)
class Clock:
    """How far a bucket is: the start of the run, the greatest time it was told of, how many query times are behind."""

    start: int | None = None
    time: int | None = None
    queries: int = 0

    def after(self, unit: Unit, flow: Flow) -> Clock:
        """The clock when a unit has been seen."""
        if unit.first is None or unit.last is None:
            return self
        start = unit.first - flow.tick - flow.delay if self.start is None else self.start
        return replace(self, start=start, time=unit.last if self.time is None else max(self.time, unit.last))

    def query(self, flow: Flow) -> int | None:
        """The next query time, if the clock has passed it by the delay."""
        if self.start is None or self.time is None:
            return None
        query = self.start + (self.queries + 1) * flow.step
        return query if self.time > query + flow.delay else None


class Bucket:
    """A stage of a flow on one bucket: a session, and how far it is."""

    def __init__(self, flow: Flow, stage: int, number: int, session: Session, clock: Clock) -> None:
        self.flow, self.stage, self.number = flow, stage, number
        self.session, self.clock = session, clock
        self._stage = flow.partitioning.stages[stage]

    def process(self, parts: Sequence[bytes]) -> list[Row]:
        """Go through the parts of one batch; what comes out, by stage and bucket or kind of result."""
        out = _Out(self.flow, self.stage, self.number)
        try:
            for unit, content in _units(parts):
                self._take_in(content, out)
                self._tell(unit)
                while (query := self.clock.query(self.flow)) is not None:
                    self.clock = replace(self.clock, queries=self.clock.queries + 1)
                    self._advance(query, out)
        except RuleError as error:
            raise self.flow.program.placed(error) from error
        return out.rows(self)

    def _tell(self, unit: Unit) -> None:
        self.clock = self.clock.after(unit, self.flow)
        if self.session.start is None:
            self.session.start = self.clock.start

    def _take_in(self, content: Content, out: _Out) -> None:
        facts = Facts({(name_of(name), leaf_count(name)): table for name, table in content.items()})
        out.events += len(facts)
        self.session.accept(self.session.coded(facts))

    def _advance(self, query: int, out: _Out) -> None:
        own(self.session.store, self._stage, frozenset((self.number,)), self.flow.buckets)
        changes = self.session.advance(query)
        out.query_time = query
        if changes.late.num_rows:
            out.late.append(listed(changes.late, query))
        if self.session.wanted and self.flow.emit == "changes":
            table = emitted(self.session, changes, "changes")
            if table.num_rows:
                out.changes.append(table)

    def save(self) -> bytes:
        """Everything the bucket is, as bytes."""
        return pickle.dumps((self.clock, self.session.save()), protocol=5)


def _units(parts: Sequence[bytes]) -> Iterator[tuple[Unit, Content]]:
    """The units of a batch in order; what came of one unit in several parts is one."""
    found: dict[str, list[tuple[Unit, Content]]] = {}
    for part in sorted(parts):
        unit, content = pickle.loads(part)
        found.setdefault(unit.key, []).append((unit, content))
    for key in sorted(found):
        same = found[key]
        firsts = [unit.first for unit, _ in same if unit.first is not None]
        lasts = [unit.last for unit, _ in same if unit.last is not None]
        names = dict.fromkeys(name for _, content in same for name in content)
        yield (Unit(key, min(firsts, default=None), max(lasts, default=None)),
               {name: joined([content[name] for _, content in same if name in content]) for name in names})


@dataclass
class _Out:
    """What a batch gives."""

    flow: Flow
    stage: int
    number: int
    events: int = 0
    query_time: int | None = None
    changes: list[pa.Table] = field(default_factory=list)
    late: list[pa.Table] = field(default_factory=list)

    def rows(self, bucket: Bucket) -> list[Row]:
        """The packed rows."""
        results = self.flow.last + 1
        rows: list[Row] = []
        for kind, tables in (CHANGES, self.changes), (LATE, self.late):
            if tables:
                rows.append((results, kind, written(pa.concat_tables(tables).unify_dictionaries())))
        counts = pa.table({
            "stage": [self.stage], "bucket": [self.number], "events": [self.events],
            "late": [sum(table.num_rows for table in self.late)], "before_start": [0],
            "changes": [sum(table.num_rows for table in self.changes)], "query_time": [self.query_time],
            "clock": [bucket.clock.time], "state_rows": [bucket.session.rows]}, schema=COUNTED)
        rows.append((results, COUNTS, written(counts)))
        return rows


def written(table: pa.Table) -> bytes:
    """A table as an Arrow stream, with plain texts."""
    for place, found in enumerate(table.schema):
        if pa.types.is_dictionary(found.type):
            table = table.set_column(place, found.name, table[found.name].cast(found.type.value_type))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    whole: bytes = sink.getvalue().to_pybytes()
    return whole


def table_of(part: bytes) -> pa.Table:
    """The table that `written` made a result of."""
    return pa.ipc.open_stream(part).read_all()


# -- planning ----------------------------------------------------------------------------------------------------------


def flow_of(program: Program, *, buckets: int, window: int, step: int | None = None, delay: int = 0,
            start: int | None = None, tick: int = 1, ties: str = "termination", initially_at: int = 0,
            horizon: int | None = None, emit: FlowEmit = "changes", fluents: Sequence[str] | None = None,
            **options: object) -> Flow:
    """How a program runs over a stream in so many buckets; `Flow.diagnostics` says what is not spread, and why.

    `delay` is how long the clock waits for late facts: a query time is passed when a fact comes that is later than it
    by more. `options` are those of reading.
    """
    program.require_sound()
    program.wanted(fluents)
    step = window if step is None else step
    if emit not in EMITS:
        raise InputError(f"emit is {emit!r}; known are {', '.join(EMITS[:-1])} and {EMITS[-1]}")
    for name, number, least in (("buckets", buckets, 1), ("window", window, 1), ("step", step, 1), ("delay", delay, 0),
                                ("tick", tick, 1)):
        if number < least:
            raise EventideError(f"the {name} is {number}; it must be at least {least}")
    return Flow(program, streamed(program), buckets, window, step, delay, start, tick, ties, initially_at, horizon,
                emit, None if fluents is None else tuple(fluents), tuple(options.items()))


def streamed(program: Program) -> Partitioning:
    """The stages of a program over a stream."""
    model = program.model
    found = partitioned(model.plan, frozenset(model.open_types))
    if not found.spread:
        problem = Diagnostic("warning", "one-bucket", "the program runs in one bucket: it combines entities", None,
                             "it is right, but no faster with more machines")
        found = _in_one_bucket(model.plan, tuple(model.inputs), (problem,))
    return _with_unread(program, found)


def _in_one_bucket(plan: Plan, inputs: Sequence[str], problems: tuple[Diagnostic, ...]) -> Partitioning:
    owners = {d.name: None for stratum in plan.strata for d in stratum.definitions}
    reading = Stage(READING, sends=tuple(Send(name, "one", -1, 1) for name in inputs))
    return Partitioning((reading, Stage(1, plan.strata, owners)), problems)


def _with_unread(program: Program, found: Partitioning) -> Partitioning:
    """The stages, where facts that no rule reads are sent too: they are counted, and listed if they are late."""
    reading, *others = found.stages
    missing = [name for name in program.model.inputs if name not in {send.relation for send in reading.sends}]
    sends = (*reading.sends, *(Send(name, "one", -1, 1) for name in missing))
    return replace(found, stages=(replace(reading, sends=sends), *others))
