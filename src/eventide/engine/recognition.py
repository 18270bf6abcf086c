"""Recognition over one window: which facts a run sees, the run of the plan on them, and the answers as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eventide.algebra.nodes import Always, Inertia, Node, Output, Plan, nodes_in, references_of
from eventide.engine.answers import SCHEMA, output_table
from eventide.engine.domains import GrowthError, more_room
from eventide.engine.executor import Executor, PlanIndex
from eventide.engine.loading import Store, Stream, as_inputs, take, time_range
from eventide.engine.memory import keep_freed_memory
from eventide.engine.relation import Relation, Space, Timeline
from eventide.errors import EventideError, InputError, RangeError

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
    beyond_horizon: int = 0
    """How many intervals, at most at one query time, had a partner for `before` beyond the horizon only."""


@dataclass(frozen=True)
class Extent:
    """From where to where a run goes, and in which steps."""

    start: int
    end: int
    window: int
    step: int

    @staticmethod
    def of(settings: Settings, times: tuple[int, int] | None, news: int | None) -> Extent:
        """The extent of a run over facts with these first and last times; `news` is when the last occurs or arrives."""
        if settings.tick < 1:
            raise EventideError(f"the tick is {settings.tick}; it must be at least 1")
        low, high = times if times is not None else (0, 0)
        start = settings.start if settings.start is not None else low - settings.tick
        end = settings.end if settings.end is not None else start if news is None else news
        if end < start:
            event = f"the run starts at {start}, but the last event is at {end}"
            raise InputError(event if settings.end is None else f"the run ends at {end}, but it starts at {start}")
        edges = (low, high, start, end, settings.initially_at)
        if max(edges) - min(edges) >= MOST_TIME or max(map(abs, edges)) >= 2 * MOST_TIME - settings.tick:
            raise RangeError(f"times from {min(edges)} to {max(edges)} span more than 62 bits; "
                             "declare a coarser unit of time")
        window = settings.window if settings.window is not None else max(end - start, settings.tick)
        step = settings.step if settings.step is not None else window
        if window < 1 or step < 1 or max(window, step) > MOST_TIME:
            raise EventideError(f"window ({window}) and step ({step}) must be at least 1")
        return Extent(start, end, window, step)

    @property
    def queries(self) -> int:
        """How many query times there are."""
        return max(-((self.start - self.end) // self.step), 1)

    def query_times(self) -> Iterator[int]:
        """start+step, start+2·step, … until the end is covered."""
        return (self.start + number * self.step for number in range(1, self.queries + 1))


class Recognition:
    """One program over one store of facts, in one window."""

    def __init__(self, plan: Plan, wanted: Sequence[Output], store: Store, built: frozenset[str],
                 open_types: frozenset[str], settings: Settings) -> None:
        self.plan, self.wanted, self.store, self.built, self.settings = plan, wanted, store, built, settings
        self.open_types = open_types
        self._index = PlanIndex(plan)
        keep_freed_memory()
        self.counts = Counts(sum(len(stream) for stream in store.streams.values()), unmatched=store.unmatched)
        span = time_range(store.streams.values())
        news = max((stream.last_news() for stream in store.streams.values() if len(stream)), default=None)
        extent = Extent.of(replace(settings, window=None, step=None), span, news)
        self.start, self.end, self.query = extent.start, extent.end, extent.start + extent.window
        self._low, self._high = span if span is not None else (self.start, self.start)
        self._read = {name for stratum in plan.strata for definition in stratum.definitions
                      for name in references_of(definition.body)}

    def accepted(self) -> dict[str, Stream]:
        """The streams without facts outside the run, which are counted."""
        result: dict[str, Stream] = {}
        for name, stream in self.store.streams.items():
            last = stream.time if stream.end is None else stream.end - 1
            arrival = stream.time if stream.arrival is None else stream.arrival
            before = last <= self.start
            after = np.maximum(arrival, stream.time) > self.end
            self.counts.before_start += int(before.sum())
            self.counts.after_end += int(after.sum())
            keep = ~before & ~after
            if stream.removed is not None:
                keep &= stream.removed > self.end
            result[name] = stream if keep.all() else take(stream, keep)
        return result

    def run(self) -> Executor:
        """Evaluate the plan over all the facts of the run."""
        self.counts.queries = 1
        return self.execute(self.accepted(), self.query)

    def execute(self, streams: dict[str, Stream], query: int) -> Executor:
        """Evaluate the plan over these facts as of a query time."""
        spare = 1
        while True:
            for name, domain in self.store.domains.items():
                domain.fix(spare if name in self.open_types else 0)
            low, high = self._span(query)
            timeline = Timeline.covering(low, high, tick=self.settings.tick, start=self.start, until=query,
                                         initially_at=self.settings.initially_at)
            space = Space(self.store.domains, timeline)
            executor = self.executor_over(space, streams)
            try:
                executor.run(self.plan, index=self._index)
                return executor
            except GrowthError as growth:
                spare = more_room(spare, growth)
                self.open_types = self.open_types | {str(growth)}

    def _span(self, query: int) -> tuple[int, int]:
        """From where to where the timeline goes: over the facts, and to when something begins without them."""
        if not self.reads_beginning:
            return self._low, max(self._high, query)
        begins = max(self.start, self.settings.initially_at)
        return min(self._low, self.start), max(self._high, query, begins)

    @cached_property
    def reads_beginning(self) -> bool:
        """Whether something holds from the start of the run on."""
        return has_beginning(definition.body for stratum in self.plan.strata for definition in stratum.definitions)

    def executor_over(self, space: Space, streams: Mapping[str, Stream]) -> Executor:
        """An executor that knows what it is given: of these facts, those that the plan reads."""
        read = {name: stream for name, stream in streams.items() if name in self._read}
        return Executor(space, as_inputs(space, read, self.built), self.store.tables | self.store.given,
                        self.settings.ties, self.store.functions)

    def answer(self, executor: Executor) -> pa.Table:
        """The unclipped maximal intervals and the derived events."""
        tables: list[pa.Table] = [SCHEMA.empty_table()]
        for wanted in self.wanted:
            result = executor.results.get(wanted.definition)
            if result is not None and (len(result) if isinstance(result, Relation) else result.length):
                tables.append(output_table(wanted, result, executor.space))
        return pa.concat_tables(tables).unify_dictionaries()


def has_beginning(bodies: Iterable[Node]) -> bool:
    """Whether something in these bodies holds from the start on."""
    return any(isinstance(node, Always) or (isinstance(node, Inertia) and bool(node.initial))
               for node in nodes_in(*bodies))


def clipped(table: pa.Table, low: int, high: int) -> pa.Table:
    """The intervals cut to `[low, high)`, an open end becoming `high`; those outside vanish."""
    start = pc.max_element_wise(table["start"], pa.scalar(low))
    end = pc.min_element_wise(table["end"].fill_null(high), pa.scalar(high))
    cut = table.set_column(3, "start", start).set_column(4, "end", end)
    return cut.filter(pc.less(start, end))
