"""What runs inside Spark's tasks: reading facts into buckets, and one stage of a program on a bucket."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from eventide.algebra import nodes as n
from eventide.analysis.patterns import leaf_count, name_of
from eventide.engine.exchange import OPEN, as_facts, received
from eventide.engine.executor import Executor
from eventide.engine.loading import Store, Stream, encode, encode_all
from eventide.engine.recognition import Recognition, Settings
from eventide.engine.relation import Rows, Space
from eventide.engine.windowed import WindowedRun
from eventide.formats.facts import Coded, Facts, FactTable, chosen
from eventide.program import Emit, Program
from eventide.results import Answers
from eventide.spark.partitioning import FIRED, OWNED, READING, Guard, Partitioning, Send, Stage
from eventide.spark.parts import (
    Content,
    Ints,
    Outbox,
    bare,
    buckets_of,
    buckets_of_values,
    column_at,
    numbered,
    packed,
    split,
    unpacked,
    without_copies,
)
from eventide.spark.tally import Tally, counted, task_number

if TYPE_CHECKING:
    from eventide.probability.recognition import Uncertainty

_ROWS = "fluent string, args string, value string, start bigint, end bigint"
_COLUMNS = {"timeline": _ROWS, "windows": f"query_time bigint, {_ROWS}",
            "changes": f"query_time bigint, change string, {_ROWS}"}
Batches = Iterator[pa.RecordBatch]
Source = Callable[[pa.RecordBatch], object]
_FACTS_OF_TASK = 1 << 40


@dataclass(frozen=True)
class Job:
    """A program, its stages, and how it is to be run: everything that the tasks share."""

    program: Program
    partitioning: Partitioning
    buckets: int
    settings: Settings
    emit: Emit = "timeline"
    fluents: tuple[str, ...] | None = None
    horizon: int | None = None
    options: tuple[tuple[str, object], ...] = ()
    tally: Tally | None = None
    run: int = 0
    uncertainty: Uncertainty | None = None

    @property
    def last(self) -> int:
        """The number of the last stage."""
        return len(self.partitioning.stages) - 1

    @property
    def columns(self) -> str:
        """The columns of the result."""
        return _COLUMNS[self.emit] + ("" if self.uncertainty is None else ", probability double")

    # -- reading ------------------------------------------------------------------------------------------------------

    def facts(self, source: object) -> Facts:
        """The facts of a batch."""
        return source if isinstance(source, Facts) else self.program.read(source, **dict(self.options))

    def reading(self, batches: Batches, source: Source) -> Batches:
        """Batches of a table to packed rows in the buckets that need them."""
        numbers: Counter[str] = Counter()
        first = task_number() * _FACTS_OF_TASK
        for batch in batches:
            facts = self.facts(source(batch))
            tables = by_template(self.program, facts)
            if self.tally is not None:
                numbers += counted(tables, facts.bad_count, self.settings)
            yield from self._sent(READING, {name: self._read(name, table, first) for name, table in tables.items()})
            first += max(map(len, tables.values()), default=0)
        if self.tally is not None:
            self.tally.put(self.run, dict(numbers))

    def _read(self, template: str, table: FactTable, first: int) -> FactTable:
        """The facts of an input, without columns that no rule looks at; uncertain ones are numbered."""
        if table.op is None and template not in self.program.model.counted:
            table = with_read_columns(self.program, template, table)
        return bare(table) if self.uncertainty is None else numbered(table, first)

    # -- sending ------------------------------------------------------------------------------------------------------

    def _sent(self, number: int, content: Content) -> Batches:
        """What goes on from a stage: rows to later stages, questions of pairs, answers to such questions."""
        stage, outbox = self.partitioning.stages[number], Outbox()
        for send in stage.sends:
            if send.relation in content:
                for bucket, part in self._parts(content[send.relation], send):
                    outbox.add(send.to, bucket, send.relation, part)
        for ask in stage.asks:
            if ask.guard.relation in content:
                questions = _questions(content[ask.guard.relation], ask.guard, self.buckets)
                for bucket, part in split(questions, buckets_of(questions.args[0], self.buckets)):
                    outbox.add(ask.at, bucket, _asked(ask.guard), part)
        for relay in stage.relays:
            table, asked = content.get(relay.relation), content.get(_asked(relay.guard))
            if table is not None and asked is not None:
                rows, buckets = _answers(table, relay.column, asked, self.buckets)
                for bucket, part in split(table, buckets, rows):
                    outbox.add(relay.to, bucket, relay.relation, part)
        yield from outbox.batches()

    def _parts(self, table: FactTable, send: Send) -> Iterable[tuple[int, FactTable]]:
        if send.how == "key":
            return split(table, buckets_of(column_at(table, send.column), self.buckets))
        return ((bucket, table) for bucket in range(self.buckets if send.how == "all" else 1))

    # -- stages -------------------------------------------------------------------------------------------------------

    def staging(self, batches: Batches, number: int) -> Batches:
        """One stage on the buckets of a task; rows of later stages pass."""
        owned, parts = set(), []
        for batch in batches:
            for stage, bucket, part in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if stage != number:
                    yield packed(stage, bucket, part)
                elif part:
                    parts.append(part)
                else:
                    owned.add(bucket)
        if owned:
            evaluated = self._evaluated(number, frozenset(owned), unpacked(parts))
            yield from self._sent(number, evaluated.content)
            for table in evaluated.tables:
                yield packed(self.last + 1, min(owned), pickle.dumps(table, protocol=5))

    def finishing(self, batches: Batches) -> Batches:
        """The last stage, whose results are rows of the interface; those of earlier stages join them."""
        for batch in self.staging(batches, self.last):
            for stage, part in zip(batch["stage"].to_pylist(), batch["part"].to_pylist(), strict=True):
                if stage > self.last:
                    table: pa.Table = pickle.loads(part)
                    place = table.column_names.index("fluent")
                    yield from table.set_column(place, "fluent", table["fluent"].cast(pa.string())).to_batches()

    def _evaluated(self, number: int, owned: frozenset[int], content: Content) -> Evaluated:
        stage = self.partitioning.stages[number]
        if not stage.strata:
            return Evaluated(content, [])
        program = staged(self.program, stage, first=0 in owned)
        inputs = Facts({(name_of(name), leaf_count(name)): table for name, table in content.items()
                        if name in program.model.inputs})
        wanted = [name for name in program.fluents if self.fluents is None or name in self.fluents]
        if self.uncertainty is not None:
            facts = Facts({key: without_copies(table) for key, table in inputs.tables.items()})
            if self.settings.window is not None or self.settings.step is not None:
                windows = program.uncertain_windows(facts, self.settings, self.uncertainty, wanted)
                windows.session.prepare = lambda store: Owned(stage, owned, self.buckets).fill(store)
                return Evaluated(content, [answer.table for answer in Answers(windows, self.emit, program.placed)])
            uncertain = program.uncertain_recognition(facts, self.settings, self.uncertainty, fluents=wanted)
            Owned(stage, owned, self.buckets).fill(uncertain.store)
            return Evaluated(content, [answer.table for answer in Answers(uncertain, self.emit, program.placed)])
        if self.settings.window is None and self.settings.step is None and self.horizon is None:
            base = program.recognition(inputs, self.settings, fluents=wanted)
            run = _Bucket(base, {name: table for name, table in content.items() if name not in program.model.inputs},
                          self.program.model.plan)
            Owned(stage, owned, self.buckets).fill(run.store)
            tables = [answer.table for answer in Answers(run, self.emit, program.placed)]
            return Evaluated(content | _results(run.executor, stage), tables)
        settings = self.settings
        session = program.session(window=settings.window, start=settings.start, tick=settings.tick,
                                  initially_at=settings.initially_at, ties=settings.ties, horizon=self.horizon,
                                  fluents=wanted)
        windowed = WindowedRun(session, inputs, settings)
        Owned(stage, owned, self.buckets).fill(session.store)
        return Evaluated(content, [answer.table for answer in Answers(windowed, self.emit, program.placed)])


def by_template(program: Program, facts: Facts) -> Content:
    """The facts of each input of a program that has any."""
    found = {template: facts.tables.get((name_of(template), leaf_count(template))) for template in program.model.inputs}
    return {template: table for template, table in found.items() if table is not None}


def with_read_columns(program: Program, template: str, table: FactTable) -> FactTable:
    """The facts of an input, with the same value in all columns that no rule looks at."""
    model = program.model
    kind = "e" if model.inputs[template] == "event" else "f"
    nothing = Coded(np.zeros(len(table), np.int8), ("_",))  # type: ignore[arg-type]
    return replace(table, args=tuple(
        nothing if model.types.get((kind, template, i), n.UNUSED) == n.UNUSED else column
        for i, column in enumerate(table.args)))


@dataclass(frozen=True)
class Evaluated:
    """The relations that are there after a stage, and the rows to report."""

    content: Content
    tables: list[pa.Table]


class _Bucket(Recognition):
    """A stage on a bucket: results of earlier stages are there from the beginning."""

    def __init__(self, base: Recognition, imported: Content, plan: n.Plan) -> None:
        super().__init__(base.plan, base.wanted, base.store, base.built, base.open_types, base.settings)
        self.executor: Executor
        bodies = {d.name: d.body for s in plan.strata for d in s.definitions}
        self._imported = {}
        for name, table in imported.items():
            body = bodies.get(name.removeprefix(FIRED))
            if body is not None:
                self._imported[name] = (body.fields, encode_all(self.store, body.fields, table.args), table)
        times = [t[t != OPEN] for *_, table in self._imported.values() for t in (table.time, table.end)
                 if t is not None]
        edges = [int(edge) for t in times for edge in (t.min(initial=self.start), t.max(initial=self.start))]
        edges.append(self.start)
        known = [self._low, self._high] if any(map(len, self.store.streams.values())) else []
        self._low, self._high = min([*edges, *known]), max([*edges, *known])

    def run(self) -> Executor:
        self.executor = super().run()
        return self.executor

    def executor_over(self, space: Space, streams: Mapping[str, Stream]) -> Executor:
        executor = super().executor_over(space, streams)
        for name, (fields, columns, table) in self._imported.items():
            result = received(space, fields, columns, table.time, table.end)
            if name.startswith(FIRED):
                assert isinstance(result, Rows)
                executor.fired[name.removeprefix(FIRED)] = result
            else:
                executor.results[name] = result
        return executor


def staged(program: Program, stage: Stage, *, first: bool) -> Program:
    """The program with the plan and the outputs of one stage; what runs in one bucket only where that is."""
    strata = []
    for stratum in stage.strata:
        kept = tuple(d for d in stratum.definitions if first or stage.owners.get(d.name, 0) is not None)
        if kept:
            strata.append(replace(stratum, definitions=kept))
    there = {d.name for stratum in strata for d in stratum.definitions}
    reported = {name.removeprefix(OWNED): name for name in stage.owners if name in there}
    outputs = [replace(o, definition=reported[o.definition]) for o in program.model.outputs if o.definition in reported]
    found = copy.copy(program)
    found.model = replace(program.model, plan=n.Plan(tuple(strata)), outputs=outputs)
    return found


class Owned:
    """The tables of the entities that a task owns."""

    def __init__(self, stage: Stage, owned: frozenset[int], number: int) -> None:
        bodies = {d.name: d.body for stratum in stage.strata for d in stratum.definitions}
        self._types = {bodies[name].fields[owner].type for name, owner in stage.owners.items() if owner is not None}
        self._owned, self._number = list(owned), number
        self._seen = dict.fromkeys(self._types, 0)

    def fill(self, store: Store) -> None:
        """Add the entities that the domains have got since the last time."""
        for type_ in self._types:
            name, values, seen = OWNED + type_, store.domain(type_).values, self._seen[type_]
            if len(values) == seen and name in store.given:
                continue
            new = np.flatnonzero(np.isin(buckets_of_values(values[seen:], self._number), self._owned)) + seen
            column = f"{name}.0"
            codes = np.concatenate((store.given[name].column(column), new)) if seen else new
            store.given[name] = Rows((n.Field(column, type_),), {column: codes}, len(codes), timed=False)
            self._seen[type_] = len(values)


def _results(executor: Executor, stage: Stage) -> Content:
    """The results of a stage that are sent on, as facts."""
    wanted = {send.relation for send in stage.sends} | {relay.relation for relay in stage.relays}
    wanted |= {ask.guard.relation for ask in stage.asks}
    found: Content = {}
    for name in wanted:
        own = name.removeprefix(FIRED)
        if own in stage.owners:
            result = executor.fired.get(own) if name.startswith(FIRED) else executor.results.get(own)
            if result is not None:
                found[name] = as_facts(name, result, executor.space)
    return found


# -- pairs -------------------------------------------------------------------------------------------------------------


def _asked(guard: Guard) -> str:
    """The name under which the questions of a guard travel."""
    return f"asked {guard.relation} {guard.key} {guard.partner}"


def _questions(table: FactTable, guard: Guard, number: int) -> FactTable:
    """The distinct pairs of a partner and the bucket that needs it, as facts whose times are the buckets."""
    partners, buckets = column_at(table, guard.partner), buckets_of(column_at(table, guard.key), number)
    codes = partners.codes.astype(np.int64) if isinstance(partners, Coded) else partners.view(np.int64)
    order = np.lexsort((buckets, codes))
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(codes[order]) != 0) | (np.diff(buckets[order]) != 0)
    rows = order[new]
    return chosen(FactTable(_asked(guard), "event", buckets, (partners,)), rows)


def _answers(table: FactTable, column: int, questions: FactTable, number: int) -> tuple[Ints, Ints]:
    """Which rows go to which buckets: those whose value in a column was asked for."""
    store = Store()
    ours, theirs = (encode(c, "value", store) for c in (column_at(table, column), questions.args[0]))
    assert ours is not None and theirs is not None
    pairs = np.unique(theirs * number + questions.time)
    values = pairs // number
    low, high = np.searchsorted(values, ours, "left"), np.searchsorted(values, ours, "right")
    sizes = high - low
    rows = np.repeat(np.arange(len(table)), sizes)
    offsets = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rows, pairs[low[rows] + offsets] % number
