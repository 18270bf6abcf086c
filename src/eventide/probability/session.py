"""Sessions over uncertain facts: at each query time the window is evaluated again, after what is known of its past.

What a window knows of the time before it are marginal probabilities: those of simple fluents at its first time-point.
With the history `marginal` nothing more is needed, so that facts in order give what a run without windows gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.algebra import nodes as n
from eventide.engine.loading import Store
from eventide.engine.recognition import MOST_TIME, Counts, Extent, Settings, clipped
from eventide.engine.relation import Rows, first_point, start_before, unpack
from eventide.engine.session import LATE, whole_number
from eventide.errors import EventideError, InputError, RangeError, RuleError
from eventide.formats.facts import Facts, chosen
from eventide.kernels.arrays import Mask
from eventide.notebook import changes_html
from eventide.probability.events import Past, UncertainExecutor
from eventide.probability.intervals import Recogniser
from eventide.probability.online import Online
from eventide.probability.recognition import UncertainRecognition, Uncertainty
from eventide.probability.retained import Input
from eventide.probability.segments import Segments
from eventide.probability.stretches import Book, Stretches

Floats = npt.NDArray[np.float64]


class Rules(Protocol):
    """What a session must know of a program."""

    @property
    def input_names(self) -> Mapping[tuple[str, int], str]:
        """The inputs by name and number of arguments."""

    @property
    def fingerprint(self) -> str:
        """What makes two programs the same."""

    def counts(self, template: str) -> bool:
        """Whether rules count the facts of an input."""

    def read(self, events: object, **options: Any) -> Facts:
        """The facts of files or tables."""

    def uncertain_recognition(self, events: object, settings: Settings, uncertainty: Uncertainty, *,
                              fluents: Sequence[str] | None = None, **options: Any) -> UncertainRecognition:
        """Facts loaded and ready to be evaluated."""


@dataclass(frozen=True)
class UncertainChanges:
    """What is new at a query time: rows that came and rows that went, and facts that were too late to count."""

    query_time: int
    added: pa.Table
    removed: pa.Table
    late: pa.Table
    find_settled: Callable[[], pa.Table] = field(repr=False)

    @cached_property
    def settled(self) -> pa.Table:
        """The rows that can change no more, each once: stretches that were over before the window began."""
        return self.find_settled()

    def _repr_html_(self) -> str:
        return changes_html(self)


@dataclass
class Carried:
    """What is known of the time before a window: what holds at its edge, and who was mentioned."""

    edge: int | None = None
    held: dict[str, tuple[Rows, Floats]] = field(default_factory=dict)
    known: dict[int, Rows] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows these are."""
        return sum(rows.length for rows, _ in self.held.values()) + sum(rows.length for rows in self.known.values())


class UncertainSession:
    """A program over a stream of uncertain facts. Make one with `program.session(probabilistic=True, ...)`."""

    def __init__(self, program: Rules, settings: Settings, uncertainty: Uncertainty, fluents: Sequence[str] | None,
                 memory: int | None = None, durations: object = None) -> None:
        if settings.tick < 1:
            raise EventideError(f"the tick is {settings.tick}; it must be at least 1")
        if settings.window is not None and settings.window < 1:
            raise EventideError(f"the window is {settings.window}; it must be at least 1")
        if uncertainty.history == "exact":
            raise InputError("the history exact keeps the whole past together, which windows and sessions forget; use "
                             "the history marginal")
        if uncertainty.threshold is None and (memory is not None or durations is not None):
            raise InputError("memory and durations are about maximal intervals; give a threshold")
        self.program, self.settings, self.uncertainty, self.fluents = program, settings, uncertainty, fluents
        self._run = program.uncertain_recognition(Facts(), replace(settings, window=None, step=None, end=None),
                                                  Uncertainty(), fluents=fluents)
        _check(self._run.plan)
        self.store, self.wanted = self._run.store, self._run.wanted
        self.prepare: Callable[[Store], None] | None = None
        """Fills tables of the store before each evaluation, for whoever runs the session."""
        self.counts = Counts()
        self.start = settings.start
        self.query_time: int | None = None
        self.inputs = {name: Input(name, stream.kind, stream.fields, program.counts(name))
                       for name, stream in self.store.streams.items()}
        bodies = {d.name: d.body for s in self._run.plan.strata for d in s.definitions}
        self.domains = [node for body in bodies.values() for node in n.nodes_in(body)
                        if isinstance(node, n.Keys | n.Timeless)]
        """The nodes that say whom the input mentions."""
        shown = [bodies[each.definition] for each in self.wanted]
        self.book = Book(self.wanted, [body.fields for body in shown], [body.sort == "points" for body in shown])
        self.maximal = None if uncertainty.threshold is None else Online(
            Recogniser(uncertainty.threshold, memory, durations, step=settings.tick, gaps="zero",
                       forget=durations is not None))
        self.past = Carried()
        self.stretches = self.shown = Stretches.nothing()

    # -- facts --------------------------------------------------------------------------------------------------------

    def insert(self, batch: object) -> None:
        """Hand in facts; they take part at the next query time that is not before they occur and arrive."""
        self._hand_in(batch, retract=False)

    def retract(self, batch: object) -> None:
        """Take facts back, each as it was inserted, whatever its probability was."""
        self._hand_in(batch, retract=True)

    def _hand_in(self, batch: object, *, retract: bool) -> None:
        self.accept(batch if isinstance(batch, Facts) else self.program.read(batch), {}, retract=retract)

    def accept(self, facts: Facts, copies: Mapping[str, Mask], *, retract: bool = False) -> int:
        """Take facts, of some inputs `copies`, which another session counts; how many are counted here."""
        for domain in self.store.domains.values():
            domain.open()
        counted = 0
        for key, name in self.program.input_names.items():
            table = facts.tables.get(key)
            if table is None or not len(table):
                continue
            times = [t for t in (table.time, table.end, table.arrival) if t is not None]
            if max(abs(int(edge)) for t in times for edge in (t.min(), t.max())) >= MOST_TIME:
                raise RangeError("times need less than 62 bits; declare a coarser unit of time")
            batch = self.inputs[name].coded(self.store, table, copies.get(name), retract=retract)
            counted += batch.counted()
            self.inputs[name] = self.inputs[name].handed(batch)
        self.counts.facts += counted
        return counted

    # -- query times --------------------------------------------------------------------------------------------------

    def advance(self, to: int) -> UncertainChanges:
        """Bring everything up to date at a query time; say what changed since the last one."""
        query = whole_number("to", to)
        if self.query_time is not None and query < self.query_time:
            raise EventideError(f"cannot advance to {query}: the session is at {self.query_time} already")
        if self.maximal is not None and not self.maximal.whole:
            raise EventideError("the session was interrupted while it looked for intervals; restore a saved one")
        if self.settings.start is not None and query < self.settings.start:
            raise EventideError(f"cannot advance to {query}: the session starts at {self.settings.start}")
        first = self._beginning(query)
        before = (self.start, self.inputs, self.counts, self.book)
        self.start = first
        self.inputs = dict(self.inputs)
        self.counts = replace(self.counts, late_by_name=dict(self.counts.late_by_name))
        self.book = self.book.copy()
        try:
            return self._advance(query)
        except BaseException:  # nothing half-done
            self.start, self.inputs, self.counts, self.book = before
            raise

    def _beginning(self, query: int) -> int:
        """Where time begins at a query time: without a start, early enough for all that counts (see `Session`)."""
        known, window = self.start, self.settings.window
        if known is not None and (self.settings.start is not None or window is not None):
            return known
        if window is not None:
            return start_before(query - window + 1, self.settings.tick)
        waiting = [int(each.batch.time.min()) for kept in self.inputs.values() for each in kept.waiting]
        first = start_before(min([*waiting, query]), self.settings.tick)
        return first if known is None else min(known, first)

    @property
    def _start(self) -> int:
        assert self.start is not None
        return self.start

    def _low(self, query: int) -> int:
        """The first time of the window."""
        window = self.settings.window
        return self._start + 1 if window is None else max(query - window + 1, self._start + 1)

    def _advance(self, query: int) -> UncertainChanges:
        low, tick = self._low(query), self.settings.tick
        late = pa.concat_tables([LATE.empty_table(), *(
            listed for name in self.inputs if (listed := self._take_in(name, query, low)) is not None)])
        executor = self._evaluated(query)
        assert executor.past is not None
        now = self.book.numbered(executor.space, self._run.found(executor))
        is_event = self.book.is_event
        stretches = self.stretches.followed_by(now, self.past.edge, is_event)
        edge, carried = low // tick * tick - tick, self.past
        if edge > self._start and self.settings.window is not None:
            carried = self._carried(executor, executor.past, edge)
        shown = stretches if self.maximal is None else self.maximal.shown(
            stretches, is_event, self.past.edge, query, self.uncertainty.least)
        book, domains = self.book, self.store.domains
        over = stretches.end < (-MOST_TIME if carried.edge is None else carried.edge)
        settled = stretches.take(over)
        added, removed = self.shown.changes_to(shown)
        changes = UncertainChanges(query, book.table(domains, added), book.table(domains, removed), late,
                                   lambda: book.table(domains, settled))
        # everything is known: become it
        self.counts.queries += 1
        self.query_time, self.stretches = query, stretches.take(~over)
        if self.maximal is None:
            self.book, (self.stretches,) = book.kept(self.stretches)
            self.shown = self.stretches
        else:
            self.maximal.take(stretches, is_event, self.past.edge, carried.edge)
            self.shown = self.maximal.held(shown, carried.edge, is_event)
        self.past = carried
        if carried.edge is not None:
            self.inputs = {name: kept.since(carried.edge) for name, kept in self.inputs.items()}
        return changes

    def _take_in(self, name: str, query: int, low: int) -> pa.Table | None:
        """Let the facts of an input take part whose time has come; those that came too late are listed."""
        kept, rows = self.inputs[name].due(query)
        if rows is None:
            return None
        last = rows.last
        before = np.zeros(len(rows), np.bool_) if self.settings.start is None else last <= self._start
        too_late = np.zeros(len(rows), np.bool_) if self.settings.window is None else ~before & ~rows.reaching(
            query - self.settings.window + 1, self.settings.tick)
        listed = None
        self.counts.before_start += rows.counted(before)
        if number := rows.counted(too_late):
            self.counts.too_late += number
            self.counts.late_by_name[name] = self.counts.late_by_name.get(name, 0) + number
            own = too_late if rows.copies is None else too_late & ~rows.copies
            listed = kept.listed(rows.take(own), self.store)
        if (before | too_late).any():
            rows = rows.take(~before & ~too_late)
        if len(rows):
            if rows.end is not None:
                low = first_point(low, self.settings.tick)
                rows = replace(rows, time=np.maximum(rows.time, low))
            kept, unmatched = kept.applied(rows, low)
            self.counts.unmatched += unmatched
        self.inputs[name] = kept
        return listed

    def _evaluated(self, query: int) -> UncertainExecutor:
        settings, edge, seen = self.settings, self.past.edge, self.query_time
        streams = {name: stream for name, kept in self.inputs.items() if (stream := kept.stream()) is not None}
        late = self._start > settings.initially_at
        begin = first_point(self._start + 1, settings.tick) if late else settings.initially_at
        initial = edge is None or seen is None or begin > seen or begin - settings.tick >= edge
        known = {id(node): self.past.known[number] for number, node in enumerate(self.domains)
                 if number in self.past.known}
        if self.prepare is not None:
            self.prepare(self.store)
        self._run.past = lambda: Past(edge, initial, self.past.held, dict(known))
        return self._run.evaluated(streams, self._start if edge is None else edge - 1, query)

    def _carried(self, executor: UncertainExecutor, past: Past, edge: int) -> Carried:
        held = {name: rows for name, segments in past.held.items()
                if (rows := _at(executor, name, segments, edge))[0].length}
        known = {number: _plain(past.known[id(node)]) for number, node in enumerate(self.domains)
                 if id(node) in past.known and past.known[id(node)].length}
        return Carried(edge, held, known)

    # -- answers ------------------------------------------------------------------------------------------------------

    def answer(self) -> pa.Table:
        """The rows that are held: open ones, those that may still change, those in the window."""
        return self.book.table(self.store.domains, self.shown)

    def window_answer(self) -> pa.Table:
        """The answer within the window, an open interval ending with it."""
        if self.query_time is None:
            return self.answer()
        return clipped(self.answer(), self._low(self.query_time), self.query_time + 1)

    def save(self) -> bytes:
        """The session as bytes: `program.restore` goes on from them as if nothing had been."""
        from eventide.probability.checkpoint import to_bytes

        return to_bytes(self)

    @cached_property
    def fingerprint(self) -> str:
        """What a saved session must have been made of to be restored here."""
        return self.program.fingerprint

    @property
    def rows(self) -> int:
        """How many facts and results are held."""
        facts = sum(map(len, self.inputs.values()))
        return facts + self.past.rows + len(self.stretches) + (0 if self.maximal is None else len(self.shown))


def _check(plan: n.Plan) -> None:
    """Refuse what needs to know how things were before the window."""
    for stratum in plan.strata:
        for definition in stratum.definitions:
            for node in n.nodes_in(definition.body):
                if isinstance(node, n.Boundaries) and node.kind == "startI":
                    raise RuleError("not-probabilistic", f"{definition.name} reads startI, which has no probabilities "
                                    "in windows yet", "use start, or leave out the window", [definition.name])
                if isinstance(node, n.Inertia) and node.initial and _is_filled(node):
                    raise RuleError("not-probabilistic", f"{definition.name} has initial values for everyone that the "
                                    "input mentions, which have no probabilities in windows yet",
                                    "list the domain in the background, or leave out the window", [definition.name])


def _is_filled(node: n.Inertia) -> bool:
    """Whether the input says who has initial values."""
    parts = [*node.initial, *([] if node.domain is None else [node.domain])]
    return any(isinstance(each, n.Keys | n.Timeless) for part in parts for each in n.nodes_in(part))


def _at(executor: UncertainExecutor, name: str, segments: Segments, edge: int) -> tuple[Rows, Floats]:
    """The values of a simple fluent at a time-point, with their probabilities."""
    timeline = executor.space.timeline
    mask, at = np.int64(timeline.mask), timeline.inside(edge)
    there = segments.take(np.flatnonzero(((segments.starts & mask) <= at) & (at < (segments.ends & mask))))
    columns = unpack(executor.space, there.fields, there.starts)
    return Rows(there.fields, columns, len(there), timed=False), executor.probabilities(there.literal, name)


def _plain(rows: Rows) -> Rows:
    """Rows that hold their columns, and nothing else."""
    return Rows(rows.fields, {f.name: rows.column(f.name) for f in rows.fields if f.type != n.UNUSED}, rows.length,
                timed=False)


class UncertainWindows:
    """A session over facts that are known from the beginning; going through it gives the changes at each query time."""

    def __init__(self, session: UncertainSession, facts: Facts, settings: Settings) -> None:
        self.session = session
        tables = {key: table for key, table in facts.tables.items() if len(table)}
        due = {key: t.time if t.arrival is None else np.maximum(t.time, t.arrival) for key, t in tables.items()}
        times = [t for table in tables.values() for t in (table.time, table.end) if t is not None]
        span = (min(int(t.min()) for t in times), max(int(t.max()) for t in times)) if times else None
        self.extent = Extent.of(settings, span, max((int(t.max()) for t in due.values()), default=None))
        session.start = self.extent.start
        inside = {key: due[key] <= self.extent.end for key in tables}
        session.insert(replace(facts, tables={key: chosen(table, inside[key]) for key, table in tables.items()}))
        self._after = sum(int((~mask).sum()) for mask in inside.values())

    @property
    def counts(self) -> Counts:
        """What was seen and left out so far."""
        counts = self.session.counts
        return replace(counts, facts=counts.facts + self._after, after_end=self._after)

    def __iter__(self) -> Iterator[UncertainChanges]:
        return (self.session.advance(to=query) for query in self.extent.query_times())
