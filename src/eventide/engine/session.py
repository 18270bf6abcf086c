"""Sessions: facts come and go in any order; at each query time the changes of what is recognised."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from operator import index
from typing import Protocol, SupportsIndex

import numpy as np
import pyarrow as pa

from eventide.algebra.nodes import TIME, UNUSED, Fields, Inertia, Output, Plan
from eventide.engine.answers import SCHEMA, CameAndWent, Row, Tables, output_table
from eventide.engine.changes import Carry, reported
from eventide.engine.checkpoint import Reader, Snapshot, fingerprint, write
from eventide.engine.domains import GrowthError, more_room
from eventide.engine.exchange import Arrived, News, as_facts
from eventide.engine.formerly import described
from eventide.engine.fronts import NEVER
from eventide.engine.function_meanings import code_of
from eventide.engine.held import Memory, memory_of
from eventide.engine.incremental import EVALUATIONS, Evaluation, Saved, State, Update
from eventide.engine.loading import Store
from eventide.engine.meanings import meanings_of
from eventide.engine.memory import keep_freed_memory
from eventide.engine.operators import Result
from eventide.engine.recognition import MOST_TIME, Counts, Settings, clipped, has_beginning
from eventide.engine.relation import (
    Relation,
    Rows,
    Space,
    Timeline,
    TimelineGrowth,
    first_point,
    from_unsorted,
    pack_with,
    start_before,
    unpack,
)
from eventide.engine.retained import Batch, Retained
from eventide.engine.swap import Former, Swap, listed_in, refuse_unknown, renewed, taken_over, with_pending
from eventide.engine.upkeep import Maintained
from eventide.errors import EventideError, InputError, RangeError
from eventide.kernels.arrays import Array
from eventide.kernels.inertia import check_ties
from eventide.kernels.merging import differing

LATE = pa.schema([("fact", pa.string()), ("args", pa.string()), ("value", pa.string()), ("start", pa.int64()),
                  ("end", pa.int64()), ("change", pa.string())])

_MANY_VALUES = 1 << 16


class Changes(CameAndWent):
    """What is new at a query time: rows that came and rows that went, and facts that were too late to count."""

    def __init__(self, query_time: int, evaluation: dict[str, str], tables: Tables,
                 late: Callable[[], pa.Table], news: Callable[[str], News]) -> None:
        super().__init__(tables)
        self.query_time = query_time
        self.evaluation = evaluation
        """How each part of the program was brought up to date: `reuse`, `part` or `full`."""
        self._find_late = late
        self.news = news
        """What came and went of a definition, for other sessions that read it."""

    @cached_property
    def late(self) -> pa.Table:
        """The facts that were too late to count: `fact, args, value, start, end, change`."""
        return self._find_late()


def whole_number(name: str, given: SupportsIndex) -> int:
    """A time or a length as it was given; InputError for anything but a whole number.

    >>> whole_number("window", 5)
    5
    """
    try:
        return index(given)
    except TypeError:
        raise InputError(f"{name} is {given!r}; expected a whole number") from None


class Rules(Protocol):
    """A program, as far as sessions know it."""

    def session(self, *, window: int | None, start: int | None, tick: int, initially_at: int, ties: str,
                horizon: int | None, fluents: Sequence[str] | None, evaluation: Evaluation) -> Session:
        """A session that has seen nothing yet."""


class Session:
    """A program over a stream. Make one with `program.session(...)`.

    >>> import eventide as ev
    >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
    >>> session = program.session(window=100)
    >>> wins = {"win": pa.table({"time": [3, 5], "who": ["ann", "bob"]})}
    >>> session.insert(wins)
    >>> session.advance(to=10)
    <Changes: 2 rows added, 0 rows removed>
    >>> session.retract({"win": wins["win"].slice(0, 1)})
    >>> session.advance(to=20).removed["args"].to_pylist()
    ['ann']
    >>> print(session.memory())
    name        kind    rows  bytes  since
    win(_)      input      1     16      5
    rich(_)     fluent     1     16      6
    all values  values     3  ...
    >>> session = program.restore(session.save())
    >>> session.counts.facts, session.query_time
    (3, 20)
    """

    def __init__(self, plan: Plan, wanted: Sequence[Output], store: Store, inputs: dict[str, Retained],
                 built: frozenset[str], open_types: frozenset[str], settings: Settings,
                 batches: Callable[[object, bool], dict[str, Batch]], horizon: int | None = None,
                 evaluation: Evaluation = "auto") -> None:
        if settings.tick < 1:
            raise EventideError(f"the tick is {settings.tick}; it must be at least 1")
        if settings.window is not None and settings.window < 1:
            raise EventideError(f"the window is {settings.window}; it must be at least 1")
        check_ties(settings.ties)
        if evaluation not in EVALUATIONS:
            raise EventideError(f"evaluation is {evaluation!r}; known are {', '.join(EVALUATIONS)}")
        keep_freed_memory()
        self.plan = Maintained(plan, inputs, built)
        self.wanted, self.store, self.settings = wanted, store, settings
        self.open_types, self.horizon, self.evaluation = open_types, horizon, evaluation
        self.counts = Counts()
        self.start = settings.start
        self.query_time: int | None = None
        self._batches = batches
        self._functions = {name: code_of(function) for name, function in store.functions.items()}
        self._state = State(inputs)
        self._space: Space | None = None
        self._spare = 1
        self._ahead = 0
        """How far beyond the present deadlines may run."""
        self.fluents: tuple[str, ...] | None = None
        """The names of the results to report, if not all are."""
        self.pending: tuple[frozenset[Row], frozenset[Row]] = (frozenset(), frozenset())
        """What came and went because the rules were changed; it is told at the next query time."""
        self.swapped: Swap | None = None
        """What became of the rules, if it was restored with other ones than it was saved with."""
        self.again: Callable[[], Session] | None = None
        """Makes a session of the same program that has seen nothing."""
        self._most_values = _MANY_VALUES
        """With more values and tuples than this, it looks for those that nothing refers to any more."""

    # -- facts --------------------------------------------------------------------------------------------------------

    def insert(self, batch: object) -> None:
        """Hand in facts; they take part at the next query time that is not before they occur and arrive."""
        self._hand_in(batch, retract=False)

    def retract(self, batch: object) -> None:
        """Take facts back, each as it was inserted."""
        self._hand_in(batch, retract=True)

    def _hand_in(self, batch: object, *, retract: bool) -> None:
        self.accept(self.coded(batch, retract=retract))

    def coded(self, batch: object, *, retract: bool = False) -> dict[str, Batch]:
        """Facts in the codes of this session, by input, for `accept`."""
        for domain in self.store.domains.values():
            domain.open()
        batches = self._batches(batch, retract)
        times = [t for rows in batches.values() for t in (rows.time, rows.end, rows.arrival)
                 if t is not None and t.size]
        if max((abs(int(edge)) for t in times for edge in (t.min(), t.max())), default=0) >= MOST_TIME:
            raise RangeError("times need less than 62 bits; declare a coarser unit of time")
        return batches

    def accept(self, batches: Mapping[str, Batch]) -> None:
        """Hand in facts that are coded."""
        for name, rows in batches.items():
            if len(rows):
                self.counts.facts += rows.counted()
                self._state.inputs[name].hand_in(rows)

    # -- query times --------------------------------------------------------------------------------------------------

    def arrived(self, news: Mapping[str, Sequence[News]]) -> dict[str, Arrived]:
        """News of results that the plan reads and other sessions keep up to date, in the codes of this session."""
        for domain in self.store.domains.values():
            domain.open()
        return {name: Arrived.of(self.store, leaf.fields, news[name]) for name, leaf in self.plan.imports.items()
                if name in news}

    def advance(self, to: int, news: Mapping[str, Arrived] | None = None) -> Changes:
        """Bring everything up to date at a query time; say what changed since the last one."""
        query = whole_number("to", to)
        if self.query_time is not None and query < self.query_time:
            raise EventideError(f"cannot advance to {query}: the session is at {self.query_time} already")
        if self.settings.start is not None and query < self.settings.start:
            raise EventideError(f"cannot advance to {query}: the session starts at {self.settings.start}")
        start, state, space = self.start, self._state, self._space
        waiting = {name: list(kept.waiting) for name, kept in state.inputs.items()}
        counts = replace(self.counts, late_by_name=dict(self.counts.late_by_name))
        widths = {name: domain.width for name, domain in self.store.domains.items()}
        try:
            self._begin(query)
            changes = self._advance(query, news or {})
            if self.again is not None and self.settings.window is not None and self._values() > self._most_values:
                self._renew(self.again())
            return changes
        except BaseException:  # nothing half-done: facts wait again, all is as it was
            self.start, self._state, self._space, self.counts = start, state, space, counts
            for name, batches in waiting.items():
                state.inputs[name].waiting = batches
            for name, width in widths.items():
                self.store.domains[name].width = width
            raise

    def _values(self) -> int:
        """How many values and tuples have a number."""
        domains = self.store.domains
        return sum(map(len, domains.values())) + sum(map(len, domains.tuples.pairs.values()))

    def _renew(self, new: Session) -> None:
        """Number again what is held, in the session of the same program that has seen nothing: what only forgotten
        facts had is forgotten too."""
        for name in ("counts", "start", "query_time", "_spare", "_ahead", "pending", "swapped", "again"):
            setattr(new, name, getattr(self, name))
        new._state, new._space = renewed(self.former({name: name for name in self.plan.imports}), new)
        new._most_values = 2 * new._values() + _MANY_VALUES
        self.__dict__ = new.__dict__

    def _begin(self, query: int) -> None:
        """Let time begin early enough: a session without a start has no beginning, so whatever is inside the window
        counts. The window bounds how early that can be; without one, a fact older than all before moves it back."""
        window = self.settings.window
        if self.start is not None and (self.settings.start is not None or window is not None):
            return
        times = [int(b.time.min()) for kept in self._state.inputs.values() for b in kept.waiting if len(b)]
        first = min([*times, query]) if window is None else query - window + 1
        start = start_before(first, self.settings.tick)
        if self.start is None or start < self.start:
            self.start = start
            self._state = replace(self._state, edges=dict.fromkeys(self._state.edges, 0))  # nothing of it is settled

    def _advance(self, query: int, news: Mapping[str, Arrived]) -> Changes:
        assert self.start is not None
        low = self.start + 1 if self.settings.window is None else query - self.settings.window + 1
        operations: dict[str, Batch] = {}
        late: list[tuple[str, Batch]] = []
        for name, kept in self._state.inputs.items():
            due = kept.due(query)
            if due is not None:
                due, too_late = self._accepted(name, due, low, query)
                late.extend(too_late)
                if len(due):
                    operations[name] = due
        update, state = self._evaluated(query, low, operations, news)
        self.counts.queries += 1
        self._state, self.query_time = state, query
        shown, before, moved, space = update.shown, update.before, update.moved, update.space
        pending, self.pending = self.pending, (frozenset(), frozenset())
        now = copy(self)  # tables are made when they are asked for: it may have other rules by then
        return Changes(
            query, update.choices, lambda: with_pending(pending, now._difference(shown, before, moved, space)),
            lambda: pa.concat_tables([LATE.empty_table(), *(now._listed(name, rows) for name, rows in late)]),
            lambda name: _news(name, update))

    def _accepted(self, name: str, rows: Batch, low: int, query: int) -> tuple[Batch, list[tuple[str, Batch]]]:
        """The operations that still count; late intervals with their part inside the window."""
        assert self.start is not None
        if rows.end is None and rows.oldest > max(low - 1, self.start):
            return replace(rows, copies=None), []
        listed: list[tuple[str, Batch]] = []
        tick = self.settings.tick
        before = np.zeros(len(rows), np.bool_) if self.settings.start is None else rows.last <= self.start
        kept = ~before if self.settings.window is None else rows.reaching(low, tick) & ~before
        if not kept.all():
            self.counts.before_start += rows.counted(before)
            late = ~kept & ~before
            if number := rows.counted(late):
                self.counts.too_late += number
                self.counts.late_by_name[name] = self.counts.late_by_name.get(name, 0) + number
                listed.append((name, rows.take(late if rows.copies is None else late & ~rows.copies)))
            rows = rows.take(kept)
        rows = replace(rows, copies=None)
        if rows.end is not None:
            rows = replace(rows, time=np.maximum(rows.time, first_point(max(low, self.start + 1), tick)))
            early = rows.time > query  # of a window without a time-point: it begins at the next one
            if early.any():
                self._state.inputs[name].hand_in(rows.take(early))
                rows = rows.take(~early)
        return rows, listed

    def _listed(self, name: str, rows: Batch) -> pa.Table:
        """Facts as a table for people."""
        kept = self._state.inputs[name]
        texts: list[pa.Array] = []
        for f in kept.fields:
            if f.name not in rows.columns:
                texts.append(pa.array(["_"] * len(rows)))
            elif f.type == "number":
                texts.append(pa.array([repr(v) for v in rows.columns[f.name].tolist()]))
            else:
                texts.append(pa.array([self.store.domains[f.type].texts[c] for c in rows.columns[f.name].tolist()]))
        value = texts.pop() if kept.kind != "event" else pa.array([""] * len(rows))
        args = ["|".join(row) for row in zip(*(t.to_pylist() for t in texts), strict=True)] or [""] * len(rows)
        retracts = np.zeros(len(rows), np.bool_) if rows.retracts is None else rows.retracts
        return pa.table({
            "fact": [name.partition("(")[0]] * len(rows), "args": args, "value": value,
            "start": rows.time if rows.named is None else rows.named,
            "end": rows.time + 1 if rows.named_end is None else rows.named_end,
            "change": np.where(retracts, "-", "+").tolist()}, schema=LATE)

    def _evaluated(self, query: int, low: int, operations: dict[str, Batch], news: Mapping[str, Arrived],
                   fresh: frozenset[str] = frozenset(), forgotten: frozenset[str] = frozenset(),
                   ) -> tuple[Update, State]:
        """Apply operations and evaluate; where a domain outgrows its bits, again with wider ones."""
        while True:
            space = self._laid_out(query, operations, news)
            update = self._update(space, query, low, operations, news, fresh, forgotten)
            try:
                state = update.run()
            except TimelineGrowth as growth:
                self._ahead = growth.ahead
                continue
            except GrowthError as growth:
                self._spare = more_room(self._spare, growth)
                self.open_types = self.open_types | {str(growth)}
                continue
            self.counts.unmatched += update.unmatched
            self.counts.beyond_horizon = max(self.counts.beyond_horizon, update.whole.beyond)
            return update, state

    def _update(self, space: Space, query: int, low: int, operations: dict[str, Batch],
                news: Mapping[str, Arrived], fresh: frozenset[str] = frozenset(),
                forgotten: frozenset[str] = frozenset()) -> Update:
        assert self.start is not None
        timeline = space.timeline
        edge = timeline.inside(max(min(low, (query if self.query_time is None else self.query_time) + 1),
                                   self.start)) // timeline.tick * timeline.tick
        return Update(self.plan, self._state, space, self.store, operations, first_point(low, timeline.tick), edge,
                      self.settings.ties, self.horizon, self.evaluation, news, fresh, forgotten)

    # -- layout -------------------------------------------------------------------------------------------------------

    def _laid_out(self, query: int, operations: dict[str, Batch], news: Mapping[str, Arrived]) -> Space:
        """A space in which everything fits; what is held is moved there if the bits change."""
        assert self.start is not None
        settings, domains = self.settings, self.store.domains
        widths = {name: max(len(d) - 1, 0).bit_length() + (self._spare if name in self.open_types else 0)
                  for name, d in domains.items()}
        ends = [int(b.end.max()) for b in operations.values() if b.end is not None]
        ends += [found.last for found in news.values() if found.last is not None]
        high = max([query, settings.initially_at, *ends]) + self._ahead
        old = self._space
        if old is not None and self._still_fits(old.timeline, widths, high):
            for domain in domains.values():
                domain.lay_out(domain.width or 0)
            self._space = Space(domains, replace(old.timeline, start=self.start, until=query))
            return self._space
        low = self.start if old is None or not self._follows_window else self._oldest(old.timeline, query)
        room = (high - low) // 2 + 8 * settings.tick  # to go on without moving
        high += room
        if settings.start is None and settings.window is None:
            low -= room  # its time may begin earlier
        if old is not None:
            high = max(high, old.timeline.mask - 3 * settings.tick - 2 + old.timeline.origin)
        line = Timeline.covering(low, high, tick=settings.tick, start=self.start, until=query,
                                 initially_at=settings.initially_at)
        moved = None if old is None else _Moved(old, self._state)
        for name, domain in domains.items():
            domain.lay_out(max(widths[name], domain.width or 0))
        self._space = Space(domains, line)
        if moved is not None:
            self._state = moved.to(self._space)
        return self._space

    @cached_property
    def _follows_window(self) -> bool:
        """Whether the timeline begins with what is held: nothing asks for the start, and facts before the window are
        too late."""
        return self.settings.window is not None and not has_beginning(self.plan.bodies.values())

    def _still_fits(self, line: Timeline, widths: Mapping[str, int], high: int) -> bool:
        """Whether values of these widths and times up to `high` fit the layout."""
        assert self.start is not None
        tick = self.settings.tick
        return (self._follows_window or self.start >= line.origin + 2 * tick) and \
            high - line.origin + 3 * tick + 1 < line.mask and \
            all(width <= (self.store.domains[name].width or 0) for name, width in widths.items())

    def _oldest(self, line: Timeline, query: int) -> int:
        """The first time that is held, or that facts may still be about."""
        assert self.settings.window is not None and self.start is not None
        state = self._state
        times = [relation.intervals.starts for relation in state.relations.values()]
        times += [rows.time for part in (state.points, state.fired) for rows in part.values() if rows.timed]
        times += [points for saved in state.saved.values()
                  for points in (saved.carry.points, saved.carry.waiting, saved.marks.points)]
        offsets = [int((points & np.int64(line.mask)).min()) for points in times if points.shape[0]]
        offsets += [edge for edge in (*state.edges.values(), *state.floors.values()) if edge]
        return max(self.start, min([query - self.settings.window, *(each + line.origin for each in offsets)]))

    # -- answers ------------------------------------------------------------------------------------------------------

    def answer(self, ending: Mapping[str, tuple[int | None, int]] | None = None) -> pa.Table:
        """The maximal intervals that are held: open ones, those that may still change, those in the window.

        `ending`: only those that end within `[first, last)`, by definition.
        """
        state, space = self._state, self._space
        tables: list[pa.Table] = [SCHEMA.empty_table()]
        if space is not None:
            for wanted in self.wanted:
                held: Result | None = state.relations.get(wanted.definition, state.points.get(wanted.definition))  # type: ignore[arg-type]
                if held is not None and ending is not None:
                    held = _ending(held, space.timeline, *ending[wanted.definition])
                if held is not None:
                    tables.append(self._table(wanted, held, space))
        return pa.concat_tables(tables).unify_dictionaries()

    def settled(self, query: int, elsewhere: Mapping[str, int] | None = None) -> dict[str, int]:
        """Before which time each result can never change again, if `query` is the next query time.

        `elsewhere` are those times of results that other sessions keep up to date.
        """
        assert self._space is not None and self.start is not None
        low = self.start + 1 if self.settings.window is None else query - self.settings.window + 1
        space = Space(self.store.domains, replace(self._space.timeline, until=query))
        edges = {name: Arrived(self.plan.imports[name].fields, None, None, edge)
                 for name, edge in (elsewhere or {}).items() if name in self.plan.imports}
        update = self._update(space, query, low, {}, edges)
        return {name: edge + space.timeline.origin for name, edge in update.find_edges().items()}

    def window_answer(self) -> pa.Table:
        """The answer within the window, an open interval ending with it."""
        if self.query_time is None or self.start is None:
            return SCHEMA.empty_table()
        low = self.start + 1 if self.settings.window is None else self.query_time - self.settings.window + 1
        return clipped(self.answer(), low, self.query_time + 1)

    def _table(self, wanted: Output, result: Result, space: Space) -> pa.Table:
        body = self.plan.bodies[wanted.definition]
        if isinstance(body, Inertia) and isinstance(result, Relation):
            result = reported(body, result)
        return output_table(wanted, result, space)

    def _difference(self, shown: Mapping[str, Result], before: Mapping[str, Result],
                    moved: Mapping[str, tuple[Rows, Rows]], space: Space) -> tuple[pa.Table, pa.Table]:
        """The rows that came and the rows that went."""
        came: list[pa.Table] = [SCHEMA.empty_table()]
        went: list[pa.Table] = [SCHEMA.empty_table()]
        for wanted in self.wanted:
            new, old = shown.get(wanted.definition), before.get(wanted.definition)
            if isinstance(new, Relation) and isinstance(old, Relation):
                if new.intervals is old.intervals:
                    continue
                gone, come = differing(old.intervals, new.intervals, trusted=True)
                if come.any():
                    came.append(self._table(wanted, new.where(come), space))
                if gone.any():
                    went.append(self._table(wanted, old.where(gone), space))
            elif isinstance(new, Rows):
                for rows, tables in zip(moved.get(wanted.definition, ()), (came, went), strict=False):
                    if rows.length:
                        tables.append(self._table(wanted, rows, space))
        return pa.concat_tables(came).unify_dictionaries(), pa.concat_tables(went).unify_dictionaries()

    @property
    def inputs(self) -> Mapping[str, Retained]:
        """The facts that are held, by input."""
        return self._state.inputs

    @property
    def rows(self) -> int:
        """How many facts and results are held."""
        state = self._state
        facts = sum(len(kept) + sum(map(len, kept.waiting)) for kept in state.inputs.values())
        points = sum(rows.length for part in (state.points, state.tables) for rows in part.values())
        return facts + points + sum(len(found) for name, found in state.relations.items() if name not in state.inputs)

    def memory(self) -> Memory:
        """What is held, by input and result: rows, bytes and the oldest time; `print` shows it as a table."""
        return memory_of(self.plan, self._state, self.store, self._space)

    # -- other rules --------------------------------------------------------------------------------------------------

    def swap(self, program: Rules, *, forget: Collection[str] = ()) -> Swap:
        """Go on with other rules. What they define as before is kept, the rest is rebuilt from the facts of the window.

        What changes by it is told at the next query time. If the facts that are held do not have what the new rules
        read, InputError says so and the session stays as it is; inputs among `forget` begin without facts.

        >>> import eventide as ev
        >>> import pyarrow as pa
        >>> session = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).").session(window=100)
        >>> session.insert(pa.table({"time": [3], "event": ["win"], "who": ["ann"]}))
        >>> _ = session.advance(to=10)
        >>> print(session.swap(ev.parse("initiatedAt(lucky(X)=true, T) :- happensAt(win(X), T).")))
        kept: lucky(_); gone: rich(_)
        >>> changes = session.advance(to=20)
        >>> changes.removed["fluent"].to_pylist(), changes.added["fluent"].to_pylist()
        (['rich'], ['lucky'])
        """
        if not hasattr(program, "input_names"):
            raise InputError("a session goes on with an Event Calculus program, as ev.load and ev.parse give it, and "
                             f"not with a {type(program).__name__}")
        refuse_unknown(forget, self)
        settings = self.settings
        new = program.session(window=settings.window, start=settings.start, tick=settings.tick,
                              initially_at=settings.initially_at, ties=settings.ties, horizon=self.horizon,
                              fluents=self.fluents, evaluation=self.evaluation)
        found = taken_over(self.former(), new, forget=forget)
        self.__dict__.clear()
        self.__dict__.update(new.__dict__)
        return found

    def meanings(self, elsewhere: Mapping[str, str] | None = None) -> dict[str, str]:
        """What every result means, whatever it is called; `elsewhere` says it of those that other sessions keep."""
        return meanings_of(self.plan, self.store, self._state.inputs, self._functions, elsewhere)

    def former(self, elsewhere: Mapping[str, str] | None = None) -> Former:
        """What a session with other rules can go on from."""
        return Former(
            self.store.domains, None if self._space is None else self._space.timeline, self._state,
            self.meanings(elsewhere), tuple(self.wanted), listed_in(self.plan.bodies), self.pending, self.start,
            self.query_time, self.counts, self._spare)

    def refresh(self, fresh: frozenset[str], news: Mapping[str, Arrived], forgotten: frozenset[str]) -> Update:
        """Evaluate pieces that have no content yet, or lack facts they had, as of the last query time."""
        assert self.query_time is not None and self.start is not None
        query, window = self.query_time, self.settings.window
        low = self.start + 1 if window is None else query - window + 1
        update, self._state = self._evaluated(query, low, {}, news, fresh, forgotten)
        return update

    def everything(self, name: str) -> News:
        """All that is known of a result, for a session that reads it from now on."""
        assert self._space is not None
        state, own = self._state, name.removeprefix("fired ")
        found: Result | None = state.fired.get(own) if own != name else state.points.get(name)
        if own == name and name in state.relations:
            found = state.relations[name]
            body = self.plan.bodies[name]
            found = reported(body, found) if isinstance(body, Inertia) else found
        assert found is not None
        piece = next(piece for piece in self.plan.pieces if own in piece.names)
        table = as_facts(name, found, self._space)
        return News(table if len(table) else None, None, state.edges[piece.name] + self._space.timeline.origin)

    # -- checkpoints --------------------------------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """What makes two programs the same for what `save` gives."""
        return fingerprint(self.plan, self.store, self._state.inputs)

    def save(self) -> bytes:
        """The session as bytes: `program.restore` goes on from them as if nothing had been."""
        return write(self.fingerprint, self.store, Snapshot(
            self.settings, self.horizon, self.evaluation, tuple(output.template for output in self.wanted), self.start,
            self.query_time, self.counts, self.open_types, self._spare,
            None if self._space is None else self._space.timeline,
            replace(self._state, inputs={name: kept.merged() for name, kept in self._state.inputs.items()}),
            self.fluents, self.pending, self._described))

    @cached_property
    def _described(self) -> dict[str, object]:
        return described(self.former())

    def resume(self, saved: Reader) -> None:
        """Become what was saved; the session must be new, and made with the options that were saved."""
        known = saved.snapshot(self.fingerprint, self.store, self._state.inputs)
        self.wanted = [output for output in self.wanted if output.template in known.wanted]
        self.start, self.query_time, self.counts = known.start, known.query_time, known.counts
        self.pending = frozenset(known.pending[0]), frozenset(known.pending[1])
        self.open_types, self._spare, self._state = known.open_types, known.spare, known.state
        self._space = None if known.timeline is None else Space(self.store.domains, known.timeline)


def _ending(result: Result, timeline: Timeline, first: int | None, last: int) -> Result:
    """What of a result ends within a time."""
    ends = result.time + 1 if isinstance(result, Rows) else result.intervals.ends & timeline.mask
    chosen = ends < timeline.inside(last)
    return result.where(chosen if first is None else chosen & (ends >= timeline.inside(first)))


def _news(name: str, update: Update) -> News:
    """What an update has changed in a result."""
    edge = update.edges[name] + update.space.timeline.origin
    new, old = update.shown.get(name), update.before.get(name)
    parts: tuple[Result, ...] = update.moved.get(name, ())
    if isinstance(new, Relation) and isinstance(old, Relation):
        if new.intervals is old.intervals:
            return News(None, None, edge)
        gone, come = differing(old.intervals, new.intervals, trusted=True)
        parts = new.where(come), old.where(gone)
    tables = [as_facts(name, part, update.space) for part in parts]
    came, went = (table if len(table) else None for table in tables) if tables else (None, None)
    return News(came, went, edge)


class _Moved:
    """What is held, taken apart while the old layout still counts. Times are relative to its origin."""

    def __init__(self, space: Space, state: State) -> None:
        self.state, self.open, self.origin = state, space.timeline.mask, space.timeline.origin
        self.relations = {
            name: (unpack(space, r.fields, r.intervals.starts), r.intervals.starts & self.open,
                   r.intervals.ends & self.open)
            for name, r in state.relations.items()}
        self.saved = {name: self._saved(space, state.relations[name].fields[:-1], saved)
                      for name, saved in state.saved.items()}

    def _saved(self, space: Space, fields: Fields, saved: Saved) -> list[tuple[dict[str, Array], Array]]:
        return [(unpack(space, fields, points), points & self.open)
                for points in (saved.carry.points, saved.carry.waiting, saved.marks.points)]

    def to(self, space: Space) -> State:
        """The same state in another layout."""
        state, later = self.state, self.origin - space.timeline.origin

        def packed(fields: Fields, columns: dict[str, Array], time: Array) -> Array:
            rows = Rows(fields, columns, int(time.shape[0]), timed=False)
            return pack_with(space, rows, fields, np.where(time == self.open, space.timeline.mask, time + later))

        relations = {}
        for name, (columns, starts, ends) in self.relations.items():
            fields = state.relations[name].fields
            relations[name] = from_unsorted(space, fields, *(packed(fields, columns, time) for time in (starts, ends)),
                                            injective=True)
        saved = {}
        for name, parts in self.saved.items():
            fields, old = state.relations[name].fields[:-1], state.saved[name]
            (carry, first), (waiting, second), (marks, third) = (
                _in_order(packed(fields, columns, time)) for columns, time in parts)
            saved[name] = Saved(
                Carry(carry, old.carry.codes[first], old.carry.quiet[first], waiting, old.carry.rules[second]),
                replace(old.marks, points=marks, codes=old.marks.codes[third]),
                old.due if old.due == NEVER else old.due + later)
        inputs = {name: replace(kept, shared=None) for name, kept in state.inputs.items()}
        points, fired = ({name: _later(rows, later) for name, rows in part.items()}
                         for part in (state.points, state.fired))
        edges, floors = ({name: edge + later if edge else 0 for name, edge in part.items()}
                         for part in (state.edges, state.floors))
        return replace(state, inputs=inputs, relations=relations, saved=saved, points=points, fired=fired, edges=edges,
                       floors=floors)


def _in_order(points: Array) -> tuple[Array, Array]:
    """Points in ascending order, and where each was."""
    order = np.argsort(points, kind="stable")
    return points[order], order


def _later(rows: Rows, amount: int) -> Rows:
    """Points on a timeline whose origin is earlier by an amount, or later by a negative one."""
    if not amount:
        return rows
    columns = {f.name: rows.column(f.name) for f in rows.fields if f.type != UNUSED}
    return Rows(rows.fields, columns | {TIME: rows.time + amount}, rows.length, timed=True)
