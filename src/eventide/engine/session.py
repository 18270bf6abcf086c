"""Sessions: facts come and go in any order; at each query time the changes of what is recognised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from eventide.algebra.nodes import Output, Plan
from eventide.algebra.pieces import pieces_of
from eventide.engine.answers import SCHEMA, events_table, intervals_table
from eventide.engine.domains import GrowthError, value_of
from eventide.engine.incremental import EVALUATIONS, Evaluation, Maintained, Saved, State, Update
from eventide.engine.loading import Store
from eventide.engine.memory import keep_freed_memory
from eventide.engine.recognition import MOST_TIME, Counts, Settings, clipped
from eventide.engine.relation import Relation, Rows, Space, Timeline, pack_with, unpack
from eventide.engine.retained import Batch, Retained, delta_of
from eventide.errors import EventideError, RangeError, RuleError
from eventide.kernels.arrays import Array, Intervals
from eventide.kernels.merging import differing

LATE = pa.schema([("fact", pa.string()), ("args", pa.string()), ("value", pa.string()), ("start", pa.int64()),
                  ("end", pa.int64()), ("change", pa.string())])


@dataclass(frozen=True)
class Changes:
    """What is new at a query time: rows that came and rows that went, and facts that were too late to count."""

    query_time: int
    added: pa.Table
    removed: pa.Table
    late: pa.Table
    evaluation: dict[str, str] = field(default_factory=dict)
    """How each part of the program was brought up to date: `reuse`, `part` or `full`."""


class Session:
    """A program over a stream. Make one with `program.session(...)`."""

    def __init__(self, plan: Plan, wanted: Sequence[Output], store: Store, inputs: dict[str, Retained],
                 built: frozenset[str], open_types: frozenset[str], settings: Settings,
                 batches: Callable[[object, bool], dict[str, Batch]], horizon: int | None = None,
                 evaluation: Evaluation = "auto") -> None:
        if settings.tick < 1:
            raise EventideError(f"the tick is {settings.tick}; it must be at least 1")
        if settings.window is not None and settings.window < 1:
            raise EventideError(f"the window is {settings.window}; it must be at least 1")
        if evaluation not in EVALUATIONS:
            raise EventideError(f"evaluation is {evaluation!r}; known are {', '.join(EVALUATIONS)}")
        keep_freed_memory()
        self.plan = Maintained(pieces_of(plan), inputs, built)
        self.wanted, self.store, self.settings = wanted, store, settings
        self.open_types, self.horizon, self.evaluation = open_types, horizon, evaluation
        self.counts = Counts()
        self.start = settings.start
        self.query_time: int | None = None
        self._batches = batches
        self._state = State(inputs)
        self._space: Space | None = None
        self._spare = 1

    # -- facts --------------------------------------------------------------------------------------------------------

    def insert(self, batch: object) -> None:
        """Hand in facts; they take part at the next query time that is not before they occur and arrive."""
        self._hand_in(batch, retract=False)

    def retract(self, batch: object) -> None:
        """Take facts back, each as it was inserted."""
        self._hand_in(batch, retract=True)

    def _hand_in(self, batch: object, *, retract: bool) -> None:
        for domain in self.store.domains.values():
            domain.open()
        for name, rows in self._batches(batch, retract).items():
            if len(rows):
                times = [rows.time, *(part for part in (rows.end, rows.arrival) if part is not None)]
                if max(abs(int(edge)) for t in times for edge in (t.min(), t.max())) >= MOST_TIME:
                    raise RangeError("times need less than 62 bits; declare a coarser unit of time")
                self.counts.facts += len(rows)
                self._state.inputs[name].waiting.append(rows)

    # -- query times --------------------------------------------------------------------------------------------------

    def advance(self, to: int) -> Changes:
        """Bring everything up to date at a query time; say what changed since the last one."""
        query = int(to)
        if self.query_time is not None and query < self.query_time:
            raise EventideError(f"cannot advance to {query}: the session is at {self.query_time} already")
        if self.start is None:
            self.start = self._first_time(query) - self.settings.tick
        if query < self.start:
            raise EventideError(f"cannot advance to {query}: the session starts at {self.start}")
        waiting = {name: list(kept.waiting) for name, kept in self._state.inputs.items()}
        counts = replace(self.counts, late_by_name=dict(self.counts.late_by_name))
        try:
            return self._advance(query)
        except BaseException:  # nothing half-done: facts wait again, counts are as they were
            for name, batches in waiting.items():
                self._state.inputs[name].waiting = batches
            self.counts = counts
            raise

    def _first_time(self, query: int) -> int:
        times = [int(b.time.min()) for kept in self._state.inputs.values() for b in kept.waiting if len(b)]
        return min([*times, query])

    def _advance(self, query: int) -> Changes:
        assert self.start is not None
        low = self.start + 1 if self.settings.window is None else query - self.settings.window + 1
        operations: dict[str, Batch] = {}
        late: list[pa.Table] = []
        for name, kept in self._state.inputs.items():
            due = kept.due(query)
            if due is not None:
                due, too_late = self._accepted(name, due, low)
                late.extend(too_late)
                if len(due):
                    operations[name] = due
        update, state = self._evaluated(query, low, operations)
        self.counts.queries += 1
        changes = Changes(query, *self._difference(update), pa.concat_tables([LATE.empty_table(), *late]),
                          update.choices)
        self._state, self.query_time = state, query
        return changes

    def _accepted(self, name: str, rows: Batch, low: int) -> tuple[Batch, list[pa.Table]]:
        """The operations that still count; late intervals with their part inside the window."""
        assert self.start is not None
        last = rows.time if rows.end is None else rows.end - 1
        before, late = last <= self.start, last < low
        listed: list[pa.Table] = []
        late &= ~before
        if before.any():
            self.counts.before_start += int(before.sum())
        if late.any():
            number = int(late.sum())
            self.counts.too_late += number
            self.counts.late_by_name[name] = self.counts.late_by_name.get(name, 0) + number
            listed.append(self._listed(name, rows.take(late)))
        if before.any() or late.any():
            rows = rows.take(~(before | late))
        if rows.end is not None:
            rows = replace(rows, time=np.maximum(rows.time, low))
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

    def _evaluated(self, query: int, low: int, operations: dict[str, Batch]) -> tuple[Update, State]:
        """Apply operations and evaluate; where a domain outgrows its bits, again with wider ones."""
        assert self.start is not None
        while True:
            space = self._laid_out(query, operations)
            inputs, deltas, unmatched = dict(self._state.inputs), {}, 0
            for name, rows in operations.items():
                kept, added, removed, missed = inputs[name].apply(space, rows, low)
                inputs[name], unmatched = kept, unmatched + missed
                if len(added) or len(removed):
                    deltas[name] = delta_of(kept.fields, [added, removed], space.timeline.origin)
            timeline = space.timeline
            edge = timeline.inside(max(min(low, (query if self.query_time is None else self.query_time) + 1),
                                       self.start)) // timeline.tick * timeline.tick
            update = Update(self.plan, self._state, space, self.store, inputs, deltas, edge, self.settings.ties,
                            self.horizon, self.evaluation)
            try:
                state = update.run()
            except GrowthError as growth:
                self._spare += 4
                self.open_types = self.open_types | {str(growth)}
                if self._spare > 40:
                    raise RuleError("growing-values", f"the values of {growth} grow without bound",
                                    "bound them with a condition", values=str(growth)) from growth
                continue
            self.counts.unmatched += unmatched
            return update, state

    # -- layout -------------------------------------------------------------------------------------------------------

    def _laid_out(self, query: int, operations: dict[str, Batch]) -> Space:
        """A space in which everything fits; what is held is moved there if the bits change."""
        assert self.start is not None
        settings, domains = self.settings, self.store.domains
        widths = {name: max(len(d) - 1, 0).bit_length() + (self._spare if name in self.open_types else 0)
                  for name, d in domains.items()}
        ends = [int(b.end.max()) for b in operations.values() if b.end is not None]
        high = max([query, settings.initially_at, *ends])
        old = self._space
        if old is not None and all(widths[name] <= (domains[name].width or 0) for name in widths):
            line = old.timeline
            if high - line.origin + 3 * settings.tick + 1 < line.mask:
                for domain in domains.values():
                    domain.lay_out(domain.width or 0)
                self._space = Space(domains, replace(line, until=query))
                return self._space
        low = min(self.start, settings.initially_at)
        high += (high - low) // 2 + 8 * settings.tick  # room to go on without moving
        if old is not None:
            high = max(high, old.timeline.mask - 3 * settings.tick - 2 + old.timeline.origin)
        line = Timeline.covering(low, high, tick=settings.tick, start=self.start, until=query,
                                 initially_at=settings.initially_at)
        moved = None if old is None else _Moved(old, self._state)
        for name, domain in domains.items():
            domain.lay_out(max(widths[name], domain.width or 0))
        self._space = Space(domains, line)
        if moved is not None:
            self._state = moved.to(self._space, self.plan)
        return self._space

    # -- answers ------------------------------------------------------------------------------------------------------

    def answer(self) -> pa.Table:
        """The maximal intervals that are held: open ones, those that may still change, those in the window."""
        state, space = self._state, self._space
        tables: list[pa.Table] = [SCHEMA.empty_table()]
        if space is not None:
            for wanted in self.wanted:
                relation, rows = state.relations.get(wanted.definition), state.points.get(wanted.definition)
                if relation is not None:
                    tables.append(self._intervals(wanted, relation))
                elif rows is not None:
                    tables.append(events_table(rows, wanted.template, space))
        return pa.concat_tables(tables).unify_dictionaries()

    def window_answer(self) -> pa.Table:
        """The answer within the window, an open interval ending with it."""
        if self.query_time is None or self.start is None:
            return SCHEMA.empty_table()
        low = self.start + 1 if self.settings.window is None else self.query_time - self.settings.window + 1
        return clipped(self.answer(), low, self.query_time + 1)

    def _intervals(self, wanted: Output, relation: Relation) -> pa.Table:
        from eventide.algebra.nodes import Inertia
        from eventide.engine.changes import reported

        body = self.plan.bodies[wanted.definition]
        if isinstance(body, Inertia):
            relation = reported(body, relation)
        codes = None
        if wanted.values is not None and relation.fields:
            domain = relation.space.domains[relation.fields[-1].type]
            codes = [domain.find(value_of(value)) for value in wanted.values]
        fixed = None if wanted.value is None else str(wanted.value)
        return intervals_table(relation, wanted.template, relation.fields, fixed, codes)

    def _difference(self, update: Update) -> tuple[pa.Table, pa.Table]:
        """The rows that came and the rows that went."""
        came: list[pa.Table] = [SCHEMA.empty_table()]
        went: list[pa.Table] = [SCHEMA.empty_table()]
        for wanted in self.wanted:
            new, old = update.shown.get(wanted.definition), update.before.get(wanted.definition)
            if isinstance(new, Relation) and isinstance(old, Relation):
                if new.intervals is old.intervals:
                    continue
                gone, come = differing(old.intervals, new.intervals, trusted=True)
                if come.any():
                    came.append(self._intervals(wanted, new.where(come)))
                if gone.any():
                    went.append(self._intervals(wanted, old.where(gone)))
            elif isinstance(new, Rows):
                for rows, tables in zip(update.moved.get(wanted.definition, ()), (came, went), strict=False):
                    if rows.length:
                        tables.append(events_table(rows, wanted.template, update.space))
        return pa.concat_tables(came).unify_dictionaries(), pa.concat_tables(went).unify_dictionaries()


class _Moved:
    """What is held, taken apart while the old layout still counts."""

    def __init__(self, space: Space, state: State) -> None:
        self.state, self.old = state, space.timeline
        self.relations = {name: (r.fields, self._parts(space, r)) for name, r in state.relations.items()}
        self.saved = {name: self._saved(space, state, name, saved) for name, saved in state.saved.items()}

    def _parts(self, space: Space, relation: Relation) -> tuple[dict[str, Array], Array, Array]:
        mask = self.old.mask
        return (unpack(space, relation.fields, relation.intervals.starts), relation.intervals.starts & mask,
                relation.intervals.ends & mask)

    def _saved(self, space: Space, state: State, name: str, saved: Saved) -> list[tuple[dict[str, Array], Array]]:
        fields = state.relations[name].fields[:-1]
        return [(unpack(space, fields, points), points & self.old.mask)
                for points in (saved.carry.points, saved.carry.waiting, saved.marks.points)]

    def to(self, space: Space, plan: Maintained) -> State:
        """The same state in another layout."""
        line = space.timeline
        shift = self.old.origin - line.origin

        def packed(fields: object, columns: dict[str, Array], time: Array) -> Array:
            rows = Rows(fields, columns, int(time.shape[0]), timed=False)  # type: ignore[arg-type]
            moved = np.where(time == self.old.mask, line.mask, time + shift)
            return pack_with(space, rows, rows.fields, moved)

        def sorted_relation(fields: object, parts: tuple[dict[str, Array], Array, Array]) -> Relation:
            columns, starts, ends = parts
            first, last = packed(fields, columns, starts), packed(fields, columns, ends)
            return Relation(space, fields, Intervals(first, last))  # type: ignore[arg-type]

        def timed(rows: Rows) -> Rows:
            columns = {f.name: rows.column(f.name) for f in rows.fields if f.type != "unused"}
            return Rows(rows.fields, columns | {"@": rows.time + shift}, rows.length, timed=True)

        state = self.state
        saved = {}
        for name, parts in self.saved.items():
            fields, old = state.relations[name].fields[:-1], state.saved[name]
            carry, waiting, marks = (packed(fields, columns, time) for columns, time in parts)
            saved[name] = Saved(replace(old.carry, points=carry, waiting=waiting), replace(old.marks, points=marks))
        return replace(
            state,
            inputs={name: replace(kept, shared=None) for name, kept in state.inputs.items()},
            relations={name: sorted_relation(fields, parts) for name, (fields, parts) in self.relations.items()},
            points={name: timed(rows) for name, rows in state.points.items()},
            fired={name: timed(rows) for name, rows in state.fired.items()},
            saved=saved,
            edges={name: edge + shift for name, edge in state.edges.items()})
