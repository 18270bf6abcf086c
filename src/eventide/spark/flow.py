"""A program over a stream, bucket by bucket: units of facts in, changes out. Knows no Spark.

The stream comes in *units* (a file, a block of messages), each with a key that orders them and the first and last time
of its facts. Every bucket of every stage is told of every unit, and goes through them in the same order: it takes in
its facts, moves its clock, and advances through the query times that the clock has passed. So all buckets pass the
same query times, and what comes out does not depend on how the units are cut into batches.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.analysis.patterns import leaf_count, name_of
from eventide.engine.exchange import News
from eventide.engine.retained import Batch
from eventide.engine.session import Changes, Session
from eventide.engine.windowed import Queue
from eventide.errors import EventideError, InputError, RuleError
from eventide.formats.facts import Facts, FactTable
from eventide.program import Program
from eventide.results import emitted, listed, with_query
from eventide.spark.partitioning import FIRED, READING, Partitioning, Send
from eventide.spark.parts import bare, buckets_of, column_at, split
from eventide.spark.streams import in_one_bucket, streamed
from eventide.spark.tasks import Owned, staged
from eventide.syntax.diagnostics import Diagnostic

CHANGES, LATE, COUNTS, BAD = range(4)
"""The kinds of results, in the place of the bucket."""
FlowEmit = Literal["changes", "final"]
EMITS = ("changes", "final")
COUNTED = pa.schema([("stage", pa.int32()), ("bucket", pa.int32()), *(
    (name, pa.int64()) for name in ("events", "late", "before_start", "changes", "query_time", "clock", "state_rows"))])
Row = tuple[int, int, bytes]
Given = tuple[FactTable, bool | npt.NDArray[np.bool_]]
"""Facts, and which of them are counted elsewhere."""
Told = dict[str, list[News]]
"""What buckets of earlier stages say of their results."""
_FEW = 3  # a unit over more query times than this is sorted first


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
        content: dict[tuple[int, int], dict[str, Given]] = {}
        for (relation, stage), sends in self._sends.items():
            table = facts.tables.get((name_of(relation), leaf_count(relation)))
            if table is not None and len(table):
                for bucket, given in self._given(bare(table), sends):
                    if stage != self._counting[relation]:
                        given = given[0], True
                    content.setdefault((stage, bucket), {})[relation] = given
        for stage in range(1, self.last + 1):
            for bucket in range(self.buckets):
                yield stage, bucket, _packed(_Facts(unit, content.get((stage, bucket), {})))

    @cached_property
    def _sends(self) -> dict[tuple[str, int], list[Send]]:
        """What of the input is sent where."""
        found: dict[tuple[str, int], list[Send]] = {}
        for send in self.partitioning.stages[READING].sends:
            found.setdefault((send.relation, send.to), []).append(send)
        return found

    @cached_property
    def _counting(self) -> dict[str, int]:
        """The stage at which the facts of each input are counted; elsewhere they are copies."""
        found: dict[str, int] = {}
        for relation, stage in self._sends:
            found.setdefault(relation, stage)
        return found

    def _given(self, table: FactTable, sends: Sequence[Send]) -> Iterator[tuple[int, Given]]:
        """The facts for each bucket; each is counted in one of them."""
        if self.buckets == 1:
            yield 0, (table, False)
            return
        if sends[0].how == "all":
            yield from ((bucket, (table, bucket > 0)) for bucket in range(self.buckets))
            return
        keys = [np.zeros(len(table), np.int64) if send.how == "one"
                else buckets_of(column_at(table, send.column), self.buckets) for send in sends]
        if len(keys) == 1:
            yield from ((bucket, (part, False)) for bucket, part in split(table, keys[0]))
            return
        pairs = np.unique(np.concatenate([key * len(table) + np.arange(len(table)) for key in keys]))
        buckets, rows = np.divmod(pairs, len(table))
        for bucket, part in split(table, buckets, rows):
            yield bucket, (part, keys[0][rows[buckets == bucket]] != bucket)

    # -- buckets ------------------------------------------------------------------------------------------------------

    def bucket(self, stage: int, number: int) -> Bucket:
        """A bucket that has seen nothing yet."""
        wanted = [name for name in self._program(stage, number).fluents if self.fluents is None or name in self.fluents]
        session = self._program(stage, number).session(
            window=self.window, start=self.start, tick=self.tick, initially_at=self.initially_at, ties=self.ties,
            horizon=self.horizon, fluents=wanted)
        return Bucket(self, stage, number, session, Clock(start=self.start), {})

    def restored(self, stage: int, number: int, state: bytes) -> Bucket:
        """The bucket that `Bucket.save` gave as bytes."""
        clock, settled, saved = pickle.loads(state)
        return Bucket(self, stage, number, self._program(stage, number).restore(saved), clock, settled)

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
        return self.coming(flow) if self.left(flow) > 0 else None

    def coming(self, flow: Flow) -> int:
        """The next query time."""
        assert self.start is not None
        return self.start + (self.queries + 1) * flow.step

    def left(self, flow: Flow) -> int:
        """How many query times the clock has passed and the bucket has not."""
        if self.start is None or self.time is None:
            return 0
        return max(-((self.start - self.time + flow.delay) // flow.step) - 1 - self.queries, 0)


class _Facts(NamedTuple):
    """A part: the facts of a unit for a bucket."""

    unit: Unit
    content: dict[str, Given]


class _News(NamedTuple):
    """A part: what came and went in one bucket of a stage, query time by query time."""

    stage: int
    bucket: int
    content: list[tuple[int, Told]]


class Bucket:
    """A stage of a flow on one bucket: a session, how far it is, and which results it has said to be final."""

    def __init__(self, flow: Flow, stage: int, number: int, session: Session, clock: Clock,
                 settled: dict[str, int]) -> None:
        self.flow, self.stage, self.number = flow, stage, number
        self.session, self.clock, self._settled = session, clock, settled
        self._sends = flow.partitioning.stages[stage].sends
        self._owned = Owned(flow.partitioning.stages[stage], frozenset((number,)), flow.buckets)

    def process(self, parts: Sequence[bytes]) -> list[Row]:
        """Go through the parts of one batch; what comes out, by stage and bucket or kind of result."""
        out = _Out(self.flow, self.stage, self.number, self.session.counts.before_start)
        found = [_unpacked(part) for part in sorted(parts)]
        news = _by_query(part for part in found if isinstance(part, _News))
        try:
            for unit, contents in _units(part for part in found if isinstance(part, _Facts)):
                self._go_through(unit, contents, news, out)
        except RuleError as error:
            raise self.flow.program.placed(error) from error
        return out.rows(self)

    def _go_through(self, unit: Unit, contents: Sequence[Mapping[str, Given]],
                    news: Mapping[int, Told], out: _Out) -> None:
        batches = [self._coded(content, out) for content in contents if content]
        self.clock = self.clock.after(unit, self.flow)
        if self.session.start is None:
            self.session.start = self.clock.start
        queues = []
        for found in batches:
            if self.clock.left(self.flow) > _FEW:
                queues.append(Queue(found))
            else:
                self.session.accept(found)
        while (query := self.clock.query(self.flow)) is not None:
            self._accept(queues, query)
            self._advance(query, news.get(query, {}), out)
            self.clock = replace(self.clock, queries=self.clock.queries + 1)
        self._accept(queues, None)

    def _accept(self, queues: Iterable[Queue], query: int | None) -> None:
        for queue in queues:
            for batches in queue.until(query):
                self.session.accept(batches)

    def _coded(self, content: Mapping[str, Given], out: _Out) -> dict[str, Batch]:
        facts = Facts({(name_of(name), leaf_count(name)): table for name, (table, _) in content.items()})
        batches = self.session.coded(facts)
        for name, (table, copies) in content.items():
            if copies is not False:
                mask = np.ones(len(table), np.bool_) if copies is True else copies
                batches[name] = replace(batches[name], copies=mask)
            out.events += batches[name].counted()
        return batches

    def _advance(self, query: int, news: Told, out: _Out) -> None:
        session, flow = self.session, self.flow
        arrived = session.arrived(news)
        self._owned.fill(session.store)  # with what the news brought
        changes = session.advance(query, arrived)
        out.query_time = query
        if changes.late.num_rows:
            out.late.append(listed(changes.late, query))
        settled = session.settled(query + flow.step, _settled(news)) if flow.emit == "final" else {}
        if session.wanted:
            table = self._final(query, settled) if flow.emit == "final" else emitted(session, changes, "changes")
            if table.num_rows:
                out.changes.append(table)
        self._send(query, changes, settled, out)

    def _final(self, query: int, settled: Mapping[str, int]) -> pa.Table:
        """The rows that have become final: they end before what is settled now, and did not before."""
        names = [wanted.definition for wanted in self.session.wanted]
        table = self.session.answer({name: (self._settled.get(name), settled[name]) for name in names})
        self._settled.update((name, settled[name]) for name in names)
        return with_query(table, query)

    def _send(self, query: int, changes: Changes, settled: Mapping[str, int], out: _Out) -> None:
        """Tell later stages what came and went."""
        known: dict[str, News] = {}
        for send in self._sends:
            relation = send.relation
            if relation.removeprefix(FIRED) not in self.session.plan.bodies:
                continue  # it runs in one bucket, another one
            if relation not in known:
                known[relation] = replace(changes.news(relation), settled=settled.get(relation))
            for bucket, news in self._told(known[relation], send):
                out.tell(send.to, bucket, query, relation, news)

    def _told(self, news: News, send: Send) -> Iterator[tuple[int, News]]:
        number = self.flow.buckets
        if send.how != "key" or number == 1:
            yield from ((bucket, news) for bucket in range(number if send.how == "all" else 1))
            return
        came, went = ({} if table is None else dict(split(table, buckets_of(column_at(table, send.column), number)))
                      for table in (news.came, news.went))
        for bucket in range(number):
            yield bucket, replace(news, came=came.get(bucket), went=went.get(bucket))

    def save(self) -> bytes:
        """Everything the bucket is, as bytes."""
        return pickle.dumps((self.clock, self._settled, self.session.save()), protocol=5)


def _packed(part: _Facts | _News) -> bytes:
    return pickle.dumps(part, protocol=5)


def _unpacked(part: bytes) -> _Facts | _News:
    found: _Facts | _News = pickle.loads(part)
    return found


def _units(parts: Iterable[_Facts]) -> Iterator[tuple[Unit, list[dict[str, Given]]]]:
    """The units of a batch in order; what came of one unit in several parts is one."""
    found: dict[str, list[_Facts]] = {}
    for part in parts:
        found.setdefault(part.unit.key, []).append(part)
    for key in sorted(found):
        firsts = [part.unit.first for part in found[key] if part.unit.first is not None]
        lasts = [part.unit.last for part in found[key] if part.unit.last is not None]
        yield (Unit(key, min(firsts, default=None), max(lasts, default=None)), [part.content for part in found[key]])


def _by_query(parts: Iterable[_News]) -> dict[int, Told]:
    """What earlier stages tell, by query time and relation."""
    found: dict[int, Told] = {}
    for part in parts:
        for query, content in part.content:
            for name, news in content.items():
                found.setdefault(query, {}).setdefault(name, []).extend(news)
    return found


def _settled(news: Told) -> dict[str, int]:
    """Before which time what earlier stages tell can never change again."""
    return {name: min(found.settled for found in told if found.settled is not None) for name, told in news.items()}


@dataclass
class _Out:
    """What a batch gives."""

    flow: Flow
    stage: int
    number: int
    before_start: int
    events: int = 0
    query_time: int | None = None
    changes: list[pa.Table] = field(default_factory=list)
    late: list[pa.Table] = field(default_factory=list)
    news: dict[tuple[int, int], dict[int, Told]] = field(default_factory=dict)

    def tell(self, stage: int, bucket: int, query: int, relation: str, news: News) -> None:
        """Send news on."""
        self.news.setdefault((stage, bucket), {}).setdefault(query, {}).setdefault(relation, []).append(news)

    def rows(self, bucket: Bucket) -> list[Row]:
        """The packed rows."""
        rows: list[Row] = [(*to, _packed(_News(self.stage, self.number, list(told.items()))))
                           for to, told in self.news.items()]
        results = self.flow.last + 1
        for kind, tables in (CHANGES, self.changes), (LATE, self.late):
            if tables:
                rows.append((results, kind, written(pa.concat_tables(tables).unify_dictionaries())))
        counts = pa.table({
            "stage": [self.stage], "bucket": [self.number], "events": [self.events],
            "late": [sum(table.num_rows for table in self.late)],
            "before_start": [bucket.session.counts.before_start - self.before_start],
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
    if not {"probabilistic", "threshold", "history"}.isdisjoint(options):
        raise InputError("streams on Spark know certain facts only; ev.spark.run and program.session take "
                         "probabilistic=True")
    program.require_certain()
    program.wanted(fluents)
    step = window if step is None else step
    if emit not in EMITS:
        raise InputError(f"emit is {emit!r}; known are {', '.join(EMITS[:-1])} and {EMITS[-1]}")
    for name, number, least in (("buckets", buckets, 1), ("window", window, 1), ("step", step, 1), ("delay", delay, 0),
                                ("tick", tick, 1)):
        if number < least:
            raise EventideError(f"{name} is {number}; it must be at least {least}")
    model = program.model
    found = in_one_bucket(model.plan, model.inputs) if buckets == 1 else streamed(
        model.plan, tuple(model.inputs), frozenset(model.open_types))
    if found.one_bucket:
        buckets = 1
    return Flow(program, found, buckets, window, step, delay, start, tick, ties, initially_at, horizon, emit,
                None if fluents is None else tuple(fluents), tuple(options.items()))
