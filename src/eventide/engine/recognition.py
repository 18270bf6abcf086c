"""Recognition over windows: which facts a query time sees, the run of the plan on them, and the answers as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eventide.algebra.nodes import Output, Plan, references_of
from eventide.engine.answers import SCHEMA, events_table, intervals_table
from eventide.engine.domains import GrowthError, value_of
from eventide.engine.executor import Executor, PlanIndex
from eventide.engine.loading import NEVER, Store, Stream, as_inputs, take, time_range
from eventide.engine.memory import keep_freed_memory
from eventide.engine.relation import Relation, Rows, Space, Timeline
from eventide.errors import EventideError, InputError, RangeError, RuleError
from eventide.kernels.arrays import Array

MOST_TIME = 1 << 62


@dataclass(frozen=True)
class Settings:
    """The options of a run, in the time of the input."""

    window: int | None = None
    step: int | None = None
    start: int | None = None
    end: int | None = None
    tick: int = 1
    initially_at: int = 0
    ties: str = "termination"


@dataclass
class Counts:
    """What a run saw and left out; nothing is dropped in silence."""

    facts: int = 0
    before_start: int = 0
    after_end: int = 0
    too_late: int = 0
    late_by_name: dict[str, int] = field(default_factory=dict)
    queries: int = 0
    unmatched: int = 0
    """Retractions of facts that were not there."""


class Recognition:
    """One program over one store of facts."""

    def __init__(self, plan: Plan, wanted: Sequence[Output], store: Store, built: frozenset[str],
                 open_types: frozenset[str], settings: Settings) -> None:
        self.plan, self.wanted, self.store, self.built, self.settings = plan, wanted, store, built, settings
        self.open_types = open_types
        self._index = PlanIndex(plan)
        keep_freed_memory()
        self.counts = Counts(sum(len(stream) for stream in store.streams.values()), unmatched=store.unmatched)
        if settings.tick < 1:
            raise EventideError(f"the tick is {settings.tick}; it must be at least 1")
        span = time_range(store.streams.values())
        low, high = span if span is not None else (0, 0)
        known = [stream.last_news() for stream in store.streams.values() if len(stream)]
        self.start = settings.start if settings.start is not None else low - settings.tick
        self.end = settings.end if settings.end is not None else max(known, default=self.start)
        if self.end < self.start:
            event = f"the run starts at {self.start}, but the last event is at {self.end}"
            raise InputError(event if settings.end is None else f"the run ends at {self.end}, but it starts at "
                             f"{self.start}")
        edges = (low, high, self.start, self.end, settings.initially_at)
        if max(edges) - min(edges) >= MOST_TIME or max(map(abs, edges)) >= 2 * MOST_TIME - settings.tick:
            raise RangeError(f"times from {min(edges)} to {max(edges)} span more than 62 bits; "
                             "declare a coarser unit of time")
        self.window = settings.window if settings.window is not None else max(self.end - self.start, settings.tick)
        self.step = settings.step if settings.step is not None else self.window
        if self.window < 1 or self.step < 1 or max(self.window, self.step) > MOST_TIME:
            raise EventideError(f"window ({self.window}) and step ({self.step}) must be at least 1")
        self._low, self._high = low, high
        self._read = {name for stratum in plan.strata for definition in stratum.definitions
                      for name in references_of(definition.body)}

    def query_times(self) -> Iterator[int]:
        """start+step, start+2·step, … until the end is covered."""
        query = self.start + self.step
        while True:
            yield query
            if query >= self.end:
                return
            query += self.step

    def _first_query(self, arrival: Array) -> Array:
        """The first query time at or after each arrival."""
        steps: Array = np.maximum(-((self.start - arrival) // self.step), 1)
        return self.start + steps * self.step

    def accepted(self) -> dict[str, Stream]:
        """The streams without facts outside the run and facts too late for every window; both are counted."""
        result: dict[str, Stream] = {}
        for name, stream in self.store.streams.items():
            last = stream.time if stream.end is None else stream.end - 1
            arrival = stream.time if stream.arrival is None else stream.arrival
            before = last <= self.start
            after = np.maximum(arrival, stream.time) > self.end
            seen = ~before & ~after
            late = seen & (last <= self._first_query(np.clip(arrival, self.start, self.end)) - self.window)
            self.counts.before_start += int(before.sum())
            self.counts.after_end += int(after.sum())
            if late.any():
                self.counts.too_late += int(late.sum())
                self.counts.late_by_name[name] = int(late.sum())
            if stream.removed is not None:
                kept = np.minimum(stream.removed, self.end)
                late_removal = (stream.removed <= self.end) & (last <= self._first_query(kept) - self.window)
                stream = replace(stream, removed=np.where(late_removal, NEVER, stream.removed))
                if (late_removal & seen).any():
                    self.counts.too_late += int((late_removal & seen).sum())
                    self.counts.late_by_name[name] = (self.counts.late_by_name.get(name, 0)
                                                      + int((late_removal & seen).sum()))
            keep = seen & ~late
            result[name] = stream if keep.all() else take(stream, keep)
        return result

    def _cut_late_intervals(self, stream: Stream) -> Stream:
        """A late interval that straddles its first window counts with its part inside."""
        if stream.end is None or stream.arrival is None or self.settings.window is None or not len(stream):
            return stream
        first = self._first_query(np.maximum(stream.arrival, self.start)) - self.window + 1
        return replace(stream, time=np.maximum(stream.time, first))

    def run(self, each: Callable[[int, Executor], None], progress: Callable[[int, int], None] | None = None) -> None:
        """Evaluate the plan at every query time over the facts that have arrived by then."""
        streams = {name: self._cut_late_intervals(s) for name, s in self.accepted().items()}
        queries = list(self.query_times())
        self.counts.queries = len(queries)
        for number, query in enumerate(queries):
            visible = {name: _arrived(s, query) for name, s in streams.items()}
            each(query, self.execute(visible, query))
            if progress is not None:
                progress(number + 1, len(queries))

    def execute(self, streams: dict[str, Stream], query: int) -> Executor:
        """Evaluate the plan over these facts as of a query time."""
        spare = 1
        while True:
            for name, domain in self.store.domains.items():
                domain.fix(spare if name in self.open_types else 0)
            low = min(self._low, self.start, self.settings.initially_at)
            timeline = Timeline.covering(low, max(self._high, query, self.settings.initially_at),
                                         tick=self.settings.tick, start=self.start, until=query,
                                         initially_at=self.settings.initially_at)
            space = Space(self.store.domains, timeline)
            read = {name: stream for name, stream in streams.items() if name in self._read}
            executor = Executor(space, as_inputs(space, read, self.built), self.store.tables, self.settings.ties,
                                self.store.functions)
            try:
                executor.run(self.plan, index=self._index)
                return executor
            except GrowthError as growth:
                spare += 4
                self.open_types = self.open_types | {str(growth)}
                if spare > 40:
                    raise RuleError("growing-values", f"the values of {growth} grow without bound",
                                    "bound them with a condition", values=str(growth)) from growth

    def answer(self, executor: Executor) -> pa.Table:
        """The unclipped maximal intervals and the derived events."""
        tables: list[pa.Table] = [SCHEMA.empty_table()]
        for wanted in self.wanted:
            result = executor.results.get(wanted.definition)
            if isinstance(result, Relation) and len(result):
                domain = executor.space.domains[result.fields[-1].type] if result.fields else None
                codes = None
                if wanted.values is not None and domain is not None:
                    codes = [domain.find(value_of(value)) for value in wanted.values]
                fixed = None if wanted.value is None else str(wanted.value)
                tables.append(intervals_table(result, wanted.template, result.fields, fixed, codes))
            elif isinstance(result, Rows) and result.length:
                tables.append(events_table(result, wanted.template, executor.space))
        return pa.concat_tables(tables).unify_dictionaries()


def _arrived(stream: Stream, query: int) -> Stream:
    """The facts that have arrived by a query time and have not been retracted by then."""
    arrival = stream.time if stream.arrival is None else stream.arrival
    here = arrival <= query
    if stream.removed is not None:
        here &= stream.removed > query
    return stream if here.all() else take(stream, here)


def clipped(table: pa.Table, low: int, high: int) -> pa.Table:
    """The intervals cut to `[low, high)`, an open end becoming `high`; those outside vanish."""
    start = pc.max_element_wise(table["start"], pa.scalar(low))
    end = pc.min_element_wise(table["end"].fill_null(high), pa.scalar(high))
    cut = table.set_column(3, "start", start).set_column(4, "end", end)
    return cut.filter(pc.less(start, end))
