"""Sessions over uncertain facts: at each query time the window is evaluated again, after what is known of its past.

What a window knows of the time before it are marginal probabilities: those of simple fluents at its first time-point.
With the history `marginal` nothing more is needed, so that facts in order give what a run without windows gives.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eventide.algebra import nodes as n
from eventide.engine.exchange import as_facts
from eventide.engine.loading import Store, encode_all
from eventide.engine.recognition import MOST_TIME, Counts, Extent, Settings, clipped
from eventide.engine.relation import Rows, Space
from eventide.engine.session import LATE
from eventide.errors import EventideError, InputError, RangeError, RuleError
from eventide.formats.facts import Facts, FactTable, chosen, column_values, merged
from eventide.kernels.arrays import Array
from eventide.probability.events import Past, UncertainExecutor
from eventide.probability.intervals import Recogniser
from eventide.probability.points import Points
from eventide.probability.recognition import ROWS, UncertainRecognition, Uncertainty
from eventide.probability.segments import Segments

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Name = tuple[str, int]
KEY = ("fluent", "args", "value")


class Rules(Protocol):
    """What a session must know of a program."""

    @property
    def input_names(self) -> Mapping[Name, str]:
        """The inputs by name and number of arguments."""

    @property
    def fingerprint(self) -> str:
        """What makes two programs the same."""

    def read(self, events: object, **options: Any) -> Facts:
        """The facts of files or tables."""

    def wanted(self, fluents: Sequence[str] | None) -> list[n.Output]:
        """The results to report."""

    def uncertain_plan(self, fluents: Sequence[str] | None = None) -> n.Plan:
        """What of the plan these need."""

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
    settled: pa.Table
    """The rows that can change no more, once: those of stretches that ended before the window."""


@dataclass
class Carried:
    """What is known of the time before a window, in values: what holds at its edge, and who was mentioned."""

    edge: int | None = None
    held: dict[str, FactTable] = field(default_factory=dict)
    known: dict[int, FactTable] = field(default_factory=dict)


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
        plan = program.uncertain_plan(fluents)
        _check(plan)
        self.program, self.settings, self.uncertainty, self.fluents = program, settings, uncertainty, fluents
        self.wanted = program.wanted(fluents)
        self.prepare: Callable[[Store], None] | None = None
        """Fills tables of each evaluation, for whoever runs the session."""
        self.counts = Counts()
        self.start = settings.start
        self.query_time: int | None = None
        bodies = {d.name: d.body for s in plan.strata for d in s.definitions}
        self._bodies = bodies
        self._domains = [node for body in bodies.values() for node in n.nodes_in(body)
                         if isinstance(node, n.Keys | n.Timeless)]
        self._events = {each.template.partition("(")[0] for each in self.wanted
                        if bodies[each.definition].sort == "points"}
        self.maximal = None if uncertainty.threshold is None else Online(
            Recogniser(uncertainty.threshold, memory, durations, step=settings.tick, gaps="zero",
                       forget=durations is not None))
        self.waiting: dict[Name, list[FactTable]] = {}
        self.facts: dict[Name, Kept] = {}
        self.past = Carried()
        self.stretches = ROWS.empty_table()
        self.shown = ROWS.empty_table()

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
        counted = 0
        for key, name in self.program.input_names.items():
            table = facts.tables.get(key)
            if table is None or not len(table):
                continue
            times = [t for t in (table.time, table.end, table.arrival) if t is not None]
            if max(abs(int(edge)) for t in times for edge in (t.min(), t.max())) >= MOST_TIME:
                raise RangeError("times need less than 62 bits; declare a coarser unit of time")
            own = np.ones(len(table), np.int64) if name not in copies else (~copies[name]).astype(np.int64)
            counted += int(own.sum())
            op = np.full(len(table), -1, np.int8) if retract else table.op
            self.waiting.setdefault(key, []).append(replace(table, op=op, rows=own, origins=()))
        self.counts.facts += counted
        return counted

    # -- query times --------------------------------------------------------------------------------------------------

    def advance(self, to: int) -> UncertainChanges:
        """Bring everything up to date at a query time; say what changed since the last one."""
        query = int(to)
        if self.query_time is not None and query < self.query_time:
            raise EventideError(f"cannot advance to {query}: the session is at {self.query_time} already")
        first = self.start
        if first is None:
            first = min([int(t.time.min()) for tables in self.waiting.values() for t in tables] + [query]
                        ) - self.settings.tick
        if query < first:
            raise EventideError(f"cannot advance to {query}: the session starts at {first}")
        before = (self.start, self.waiting, self.facts, self.counts)
        self.start = first
        self.facts = dict(self.facts)
        self.counts = replace(self.counts, late_by_name=dict(self.counts.late_by_name))
        try:
            return self._advance(query)
        except BaseException:  # nothing half-done
            self.start, self.waiting, self.facts, self.counts = before
            raise

    @property
    def _start(self) -> int:
        assert self.start is not None
        return self.start

    def _low(self, query: int) -> int:
        """The first time of the window."""
        window = self.settings.window
        return self._start + 1 if window is None else max(query - window + 1, self._start + 1)

    def _advance(self, query: int) -> UncertainChanges:
        low = self._low(query)
        late = self._take_in(query, low)
        recognition = self._recognition(query)
        executor = recognition.run()
        assert isinstance(executor, UncertainExecutor) and executor.past is not None
        now = recognition.answer(executor)
        edge = low // self.settings.tick * self.settings.tick - self.settings.tick
        stretches = joined_at(self.stretches, now, self.past.edge, self._events)
        if edge <= self._start or self.settings.window is None:
            carried = self.past
        else:
            carried = self._carried(executor, executor.past, edge)
        maximal = None
        if self.maximal is None:
            shown = stretches
        else:
            maximal = self.maximal.copy()
            shown = maximal.advance(stretches, self._events, self.past.edge, carried.edge, query,
                                    self.uncertainty.least)
        over = over_before(stretches, carried.edge)
        changes = UncertainChanges(query, without(shown, self.shown), without(self.shown, shown), late,
                                   stretches.filter(over))
        # everything is known: become it
        self.counts.queries += 1
        self.query_time, self.past = query, carried
        self.stretches = stretches.filter(pc.invert(over))
        self.shown = self.stretches if maximal is None else maximal.held(shown, carried.edge, self._events)
        self.maximal = maximal
        if carried.edge is not None:
            kept = {name: facts.since(carried.edge) for name, facts in self.facts.items()}
            self.facts = {name: facts for name, facts in kept.items() if len(facts)}
        return changes

    def _take_in(self, query: int, low: int) -> pa.Table:
        """The facts that take part from now on; those that came too late are listed."""
        late: list[pa.Table] = [LATE.empty_table()]
        waiting: dict[Name, list[FactTable]] = {}
        for key, tables in self.waiting.items():
            for table in tables:
                due = (table.time if table.arrival is None else np.maximum(table.time, table.arrival)) <= query
                if not due.all():
                    waiting.setdefault(key, []).append(chosen(table, ~due))
                if due.any():
                    late.append(self._accept(key, chosen(table, due), low))
        self.waiting = waiting
        return pa.concat_tables(late)

    def _accept(self, key: Name, table: FactTable, low: int) -> pa.Table:
        if table.arrival is not None:
            table = chosen(table, np.argsort(table.arrival, kind="stable"))
        last = table.time if table.end is None else table.end - 1
        before, too_late = last <= self._start, (last > self._start) & (last < low)
        listed = LATE.empty_table()
        assert table.rows is not None
        own = table.rows > 0
        self.counts.before_start += int((before & own).sum())
        if number := int((too_late & own).sum()):
            name = self.program.input_names[key]
            self.counts.too_late += number
            self.counts.late_by_name[name] = self.counts.late_by_name.get(name, 0) + number
            listed = _listed(chosen(table, too_late & own))
        rest = replace(chosen(table, ~before & ~too_late), arrival=None, rows=None)
        if len(rest):
            known = self.facts.get(key)
            if rest.op is None:
                added = Kept.of(rest, low)
                self.facts[key] = added if known is None else known.with_(added)
            else:
                self.facts[key], unmatched = with_operations(known, rest, low)
                self.counts.unmatched += unmatched
        return listed

    def _recognition(self, query: int) -> UncertainRecognition:
        edge = self.past.edge
        start = self._start if edge is None else edge - 1
        settings = replace(self.settings, window=None, step=None, start=start, end=query)
        facts = Facts({key: kept.effective() for key, kept in self.facts.items()})
        found = self.program.uncertain_recognition(facts, settings, Uncertainty("marginal", None),
                                                   fluents=self.fluents)
        begin = settings.initially_at if self._start <= settings.initially_at else self._start + settings.tick
        seen = self.query_time
        initial = edge is None or seen is None or begin > seen or begin - settings.tick >= edge
        store = found.store
        carried = {name: (self._bodies[name].fields, encode_all(store, self._bodies[name].fields, table.args), table)
                   for name, table in self.past.held.items()}
        known = {number: (node.fields, encode_all(store, node.fields, self.past.known[number].args))
                 for number, node in enumerate(self._domains) if number in self.past.known}
        if self.prepare is not None:
            self.prepare(store)

        def past() -> Past:
            rows = {name: (Rows(fields, columns, len(table), timed=False), _chances(table))
                    for name, (fields, columns, table) in carried.items()}
            mentioned = {id(self._domains[number]): Rows(fields, columns, len(self.past.known[number]), timed=False)
                    for number, (fields, columns) in known.items()}
            return Past(edge, initial, rows, mentioned)

        found.past = past
        return found

    def _carried(self, executor: UncertainExecutor, past: Past, edge: int) -> Carried:
        space = executor.space
        held = {name: table for name, segments in past.held.items()
                if len(table := _at(executor, name, segments, edge))}
        known = {number: _as_values(space, past.known[id(node)]) for number, node in enumerate(self._domains)
                 if id(node) in past.known and past.known[id(node)].length}
        return Carried(edge, held, known)

    # -- answers ------------------------------------------------------------------------------------------------------

    def answer(self) -> pa.Table:
        """The rows that are held: open ones, those that may still change, those in the window."""
        return self.shown

    def window_answer(self) -> pa.Table:
        """The answer within the window, an open interval ending with it."""
        if self.query_time is None:
            return self.shown
        return clipped(self.shown, self._low(self.query_time), self.query_time + 1)

    def save(self) -> bytes:
        """The session as bytes: `program.restore` goes on from them as if nothing had been."""
        from eventide.probability.checkpoint import to_bytes

        return to_bytes(self)

    @property
    def rows(self) -> int:
        """How many facts and results are held."""
        waiting = sum(len(table) for tables in self.waiting.values() for table in tables)
        held = sum(len(table) for table in (*self.past.held.values(), *self.past.known.values()))
        held += sum(len(kept) for kept in self.facts.values())
        return waiting + held + len(self.stretches) + (0 if self.maximal is None else len(self.shown))


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


def _chances(table: FactTable) -> Floats:
    return np.ones(len(table)) if table.probability is None else table.probability


def _at(executor: UncertainExecutor, name: str, segments: Segments, edge: int) -> FactTable:
    """The values of a simple fluent at a time-point, with their probabilities."""
    timeline = executor.space.timeline
    mask, at = np.int64(timeline.mask), timeline.inside(edge)
    there = segments.take(np.flatnonzero(((segments.starts & mask) <= at) & (at < (segments.ends & mask))))
    return replace(as_facts(name, there, executor.space), end=None, kind="event",
                   probability=executor.probabilities(there.literal, name))


def _as_values(space: Space, rows: Rows) -> FactTable:
    timed = Rows(rows.fields, {f.name: rows.column(f.name) for f in rows.fields if f.type != n.UNUSED}
                 | {n.TIME: np.zeros(rows.length, np.int64)}, rows.length, timed=True)
    return as_facts("", timed, space)


# -- facts that are held ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """Facts of one input as they were inserted; of intervals only `[first, last)` counts."""

    table: FactTable
    first: Array
    last: Array

    @staticmethod
    def of(table: FactTable, low: int) -> Kept:
        """New facts; of intervals that came late, the part inside the window."""
        end = table.time + 1 if table.end is None else table.end
        return Kept(replace(table, op=None), table.time if table.end is None else np.maximum(table.time, low), end)

    def __len__(self) -> int:
        return len(self.table)

    def with_(self, other: Kept) -> Kept:
        """One behind the other."""
        key = (self.table.name, len(self.table.args))
        table = merged([Facts({key: each.table}) for each in (self, other)], exact=True).tables[key]
        return Kept(table, np.concatenate((self.first, other.first)), np.concatenate((self.last, other.last)))

    def take(self, rows: Mask) -> Kept:
        """Some of the facts."""
        return Kept(chosen(self.table, rows), self.first[rows], self.last[rows])

    def since(self, edge: int) -> Kept:
        """Without those that were over before a time."""
        over = self.last <= edge
        return self if not over.any() else self.take(~over)

    def effective(self) -> FactTable:
        """The facts as they count."""
        if self.table.end is None:
            return self.table
        return replace(self.table, time=self.first, end=self.last)


def _identities(table: FactTable) -> list[tuple[Any, ...]]:
    columns = [table.time.tolist(), *(column_values(column) for column in table.args)]
    columns += [] if table.end is None else [table.end.tolist()]
    columns += [] if table.value is None else [column_values(table.value)]
    return [tuple((type(value), value) for value in row) for row in zip(*columns, strict=True)]


def with_operations(known: Kept | None, table: FactTable, low: int) -> tuple[Kept, int]:
    """The facts after insertions and retractions in their order, and how many retractions found nothing.

    Equal facts are one; of an interval that reaches back before `low` only the part from there on is retracted.
    """
    assert table.op is not None
    added = Kept.of(table, low)
    every = added if known is None else known.with_(added)
    old = len(every) - len(added)
    there = np.zeros(len(every), np.bool_)
    there[:old] = True
    last = every.last.copy()
    places: dict[tuple[Any, ...], list[int]] = {}
    unmatched = 0
    for at, identity in enumerate(_identities(every.table)):
        own = places.setdefault(identity, [])
        if at < old:
            own.append(at)
        elif table.op[at - old] > 0:
            if not own:
                own.append(at)
                there[at] = True
        else:
            unmatched += not own
            for place in own:
                cut = every.table.end is not None and every.first[place] < low
                last[place] = low if cut else last[place]
                there[place] = cut
            own.clear()
    # what is left of an interval that was taken back is no longer the fact itself
    gone = last != every.last
    if every.table.end is not None and gone.any():
        every = replace(every, table=replace(every.table, time=np.where(gone, every.first, every.table.time),
                                             end=np.where(gone, last, every.table.end)))
    return replace(every, last=last).take(there), unmatched


def _listed(table: FactTable) -> pa.Table:
    """Facts as a table for people."""
    columns = [[str(value) for value in column_values(column)] for column in table.args]
    op = np.ones(len(table), np.int8) if table.op is None else table.op
    return pa.table({
        "fact": [table.name] * len(table),
        "args": ["|".join(row) for row in zip(*columns, strict=True)] or [""] * len(table),
        "value": [""] * len(table) if table.value is None else [str(value) for value in column_values(table.value)],
        "start": table.time, "end": table.time + 1 if table.end is None else table.end,
        "change": np.where(op < 0, "-", "+").tolist()}, schema=LATE)


# -- rows -------------------------------------------------------------------------------------------------------------


def _texts(table: pa.Table, name: str) -> list[str]:
    found: list[str] = table[name].to_pylist()
    return found


def _keys(table: pa.Table) -> list[tuple[str, ...]]:
    return list(zip(*(_texts(table, name) for name in KEY), strict=True))


def joined_at(before: pa.Table, now: pa.Table, edge: int | None, events: Iterable[str]) -> pa.Table:
    """Rows up to an edge, and new ones from there on; a stretch that goes on with the same probability is one."""
    if edge is None:
        return now
    now = now.filter(pc.greater_equal(now["start"], edge))
    before = before.filter(pc.less(before["start"], edge))
    ends = before["end"].fill_null(MOST_TIME).to_numpy()
    ends = np.where(ends > edge, edge, ends)
    touching = np.flatnonzero(ends == edge)
    names = set(events)
    following = np.flatnonzero(now["start"].to_numpy() == edge)
    places = {key: at for at, key in zip(following.tolist(), _keys(now.take(following)), strict=True)
              if key[0] not in names}
    starts = now["start"].to_numpy().copy()
    chances, then = before["probability"].to_numpy(), now["probability"].to_numpy()
    kept = np.ones(len(before), np.bool_)
    began = before["start"].to_numpy()
    for at, key in zip(touching.tolist(), _keys(before.take(touching)), strict=True):
        place = places.get(key)
        if place is not None and chances[at] == then[place]:
            starts[place] = began[at]
            kept[at] = False
    now = now.set_column(3, "start", pa.array(starts))
    before = before.set_column(4, "end", pa.array(ends)).filter(pa.array(kept))
    return pa.concat_tables([before, now]).unify_dictionaries()


def over_before(table: pa.Table, edge: int | None) -> pa.ChunkedArray:
    """Which rows are over before a time."""
    return pc.less(table["end"].fill_null(MOST_TIME), -MOST_TIME if edge is None else edge)


def without(table: pa.Table, other: pa.Table) -> pa.Table:
    """The rows that another table does not have."""
    if not len(table) or not len(other):
        return table
    there = set(map(tuple, _plain_rows(other)))
    return table.filter(pa.array([row not in there for row in _plain_rows(table)], pa.bool_()))


def _plain_rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


# -- maximal intervals ------------------------------------------------------------------------------------------------


def _closed(stretches: pa.Table, query: int) -> pa.Table:
    """Stretches, those without an end until the query time; one that begins later has one time-point."""
    last = pc.max_element_wise(pa.scalar(query + 1), pc.add(stretches["start"], 1))
    return stretches.set_column(4, "end", pc.if_else(pc.is_null(stretches["end"]), last, stretches["end"]))


class Online:
    """The maximal intervals of stretches as they come: points that are settled are taken for good, others for now."""

    def __init__(self, recogniser: Recogniser) -> None:
        self.recogniser = recogniser
        self.origins: dict[tuple[str, ...], int] = {}
        """The first time-point of every row that had one."""

    def copy(self) -> Online:
        """Another of the same state."""
        found = Online(copy.deepcopy(self.recogniser))
        found.origins = dict(self.origins)
        return found

    def advance(self, stretches: pa.Table, events: Iterable[str], first: int | None, last: int | None, query: int,
                least: float) -> pa.Table:
        """The rows at a query time; points before `last` are settled, those before `first` were settled already."""
        is_event = pc.is_in(stretches["fluent"].cast(pa.string()), pa.array(sorted(events), pa.string()))
        fluents = stretches.filter(pc.invert(is_event))
        low = -MOST_TIME if first is None else first
        if last is not None and last > low:
            self._take(fluents, low, last)
            low = last
        now = self.copy()
        now.recogniser.forget = False
        now._take(_closed(fluents, query), low, MOST_TIME)
        likely = stretches.filter(pc.and_(is_event, pc.greater_equal(stretches["probability"], least)))
        return pa.concat_tables([likely, now._table(fluents, query)]).unify_dictionaries()

    def _take(self, fluents: pa.Table, low: int, high: int) -> None:
        """Take the points of stretches within `[low, high)`."""
        tick = self.recogniser.step
        begin = np.maximum(fluents["start"].to_numpy(), low)
        end = np.minimum(fluents["end"].fill_null(MOST_TIME).to_numpy(), high)
        parts: dict[tuple[str, ...], list[tuple[Array, float]]] = {}
        inside = np.flatnonzero(begin < end)
        inside = inside[np.argsort(begin[inside], kind="stable")]
        chance = fluents["probability"].to_numpy()
        for at, key in zip(inside.tolist(), _keys(fluents.take(inside)), strict=True):
            origin = self.origins.setdefault(key, int(begin[at]))
            times = np.arange(begin[at] + (origin - begin[at]) % tick, end[at], tick)
            if times.shape[0]:
                parts.setdefault(key, []).append((times, float(chance[at])))
        keys = sorted(parts)
        points = [np.concatenate([t for t, _ in parts[key]]) for key in keys]
        probs = [np.concatenate([np.full(t.shape[0], p) for t, p in parts[key]]) for key in keys]
        if keys:
            offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum([t.shape[0] for t in points])))
            self.recogniser.take(Points(KEY, list(keys), offsets, np.concatenate(points), np.concatenate(probs)))

    def _table(self, fluents: pa.Table, query: int) -> pa.Table:
        """The intervals that are held; one that lasts while its row goes on is open."""
        found = self.recogniser.intervals()
        going = fluents.filter(pc.is_null(fluents["end"]))
        last = dict(zip(_keys(going), _closed(going, query)["end"].to_pylist(), strict=True))
        open_ = found.end >= np.array([last.get(key, MOST_TIME) for key in found.keys], np.int64)[found.stream]
        positive = found.probability > 0
        columns = {name: pa.array([found.keys[stream][at] for stream in found.stream.tolist()], pa.string())
                   for at, name in enumerate(KEY)}
        columns["fluent"] = columns["fluent"].dictionary_encode()
        table = pa.table({**columns, "start": found.start, "end": pa.array(found.end, mask=open_),
                          "probability": np.round(found.probability, 15)}).cast(ROWS)
        return table.filter(pa.array(positive))

    def held(self, shown: pa.Table, edge: int | None, events: Iterable[str]) -> pa.Table:
        """The rows that may still change: not those of settled points that are forgotten."""
        if edge is None:
            return shown
        names = set(events)
        mine = set(zip(*(column.to_pylist() for column in self._table(ROWS.empty_table(), edge).select(
            [*KEY, "start", "end"]).columns), strict=True))
        kept = [(row[4] is None or row[4] >= edge if row[0] in names else row[4] is None or row[4] > edge
                 or row[:5] in mine) for row in _plain_rows(shown)]
        return shown.filter(pa.array(kept, pa.bool_()))


# -- windows ----------------------------------------------------------------------------------------------------------


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
