"""Recognition over uncertain facts: the probabilities of every result over time, as rows with intervals.

Without a threshold a row is a stretch of constant probability above 0. With one, it is a probabilistic maximal
interval: as long as it can be, with a mean probability of at least the threshold (PIEC, `probability.intervals`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.algebra.nodes import Output
from eventide.engine.answers import SCHEMA, events_table, intervals_table
from eventide.engine.domains import value_of
from eventide.engine.executor import Executor
from eventide.engine.loading import Stream, time_range
from eventide.engine.recognition import MOST_TIME, Recognition
from eventide.engine.relation import Relation, Rows, Space, unpack
from eventide.errors import InputError
from eventide.kernels.arrays import Array, Intervals
from eventide.kernels.maximal_probability import LOW_BITS, SCALE
from eventide.kernels.probability_runs import LONGEST, maximal_runs
from eventide.probability.circuits import Circuit
from eventide.probability.events import History, Past, UncertainExecutor, asked_for_bounds, inputs_of
from eventide.probability.formulas import Formulas
from eventide.probability.intervals import Threshold, units
from eventide.probability.segments import Segments, literals

Floats = npt.NDArray[np.float64]
ROWS = SCHEMA.append(pa.field("probability", pa.float64()))
_SHAPES = 10_000  # compiled shapes that are kept from one evaluation to the next


@dataclass(frozen=True)
class Uncertainty:
    """How uncertain facts are treated: what of the past counts, and from which mean probability on to recognise."""

    history: History = "marginal"
    threshold: Threshold | None = None

    def __post_init__(self) -> None:
        if self.history not in ("marginal", "exact"):
            raise InputError(f"history is {self.history!r}; known are marginal and exact")
        if self.threshold is not None:
            units(self.threshold)

    @property
    def least(self) -> float:
        """The least probability of an event that is reported."""
        return 0.0 if self.threshold is None else units(self.threshold) / SCALE


class Runs(NamedTuple):
    """Stretches of constant probability, by key and time, on the flat timeline."""

    starts: Array
    ends: Array
    probability: Floats


class Found(NamedTuple):
    """The rows of a result: codes of its columns, from when to when (`MOST_TIME`: open), and how probable."""

    codes: tuple[Array, ...]
    start: Array
    end: Array
    probability: Floats


class UncertainRecognition(Recognition):
    """One program over one store of uncertain facts, in one window."""

    uncertainty = Uncertainty()
    past: Callable[[], Past] | None = None
    """What is known of the time before, anew for every evaluation."""

    def executor_over(self, space: Space, streams: Mapping[str, Stream]) -> Executor:
        """An executor that carries formulas along."""
        read = {name: stream for name, stream in streams.items() if name in self._read}
        formulas = Formulas()
        executor = UncertainExecutor(space, inputs_of(space, read, self.built, formulas),
                                     self.store.tables | self.store.given, formulas, self.store.functions,
                                     self.uncertainty.history)
        executor.past = None if self.past is None else self.past()
        executor.circuits.compiled = self._compiled
        if len(self._compiled) > _SHAPES:
            self._compiled.clear()
        executor.entered = self._entered
        return executor

    @cached_property
    def _compiled(self) -> dict[tuple[int, int], Circuit]:
        """Shapes that were met before: windows of one stream have much the same."""
        return {}

    @cached_property
    def _entered(self) -> frozenset[str]:
        return asked_for_bounds(self.plan)

    def answer(self, executor: Executor) -> pa.Table:
        """The rows of all results, each with a probability."""
        assert isinstance(executor, UncertainExecutor)
        tables: list[pa.Table] = [ROWS.empty_table()]
        for wanted in self.wanted:
            result = executor.results.get(wanted.definition)
            if isinstance(result, Segments) and len(result):
                tables.append(self._fluent(executor, wanted, result))
            elif isinstance(result, Rows) and result.length:
                tables.append(self._event(executor, wanted, result))
        return pa.concat_tables(tables).unify_dictionaries()

    @property
    def reads_beginning(self) -> bool:
        """A window goes on from what held before its first fact."""
        return True

    def evaluated(self, streams: dict[str, Stream], start: int, query: int) -> UncertainExecutor:
        """The plan over these facts, all of which count, after a start and up to a query time."""
        self.start = start
        self._low, self._high = time_range(streams.values()) or (start, start)
        executor = self.execute(streams, query)
        assert isinstance(executor, UncertainExecutor)
        return executor

    def found(self, executor: UncertainExecutor) -> list[Found | None]:
        """The same as `answer` in columns, result by result."""
        timeline = executor.space.timeline
        tables: list[Found | None] = []
        for wanted in self.wanted:
            result = executor.results.get(wanted.definition)
            if isinstance(result, Segments) and len(result):
                segments, runs = self._runs(executor, wanted, result)
                codes = unpack(executor.space, segments.fields, runs.starts)
                start, end = (each & timeline.mask for each in (runs.starts, runs.ends))
                tables.append(Found(tuple(codes[f.name] for f in segments.fields), start + timeline.origin,
                                    np.where(end == timeline.mask, MOST_TIME, end + timeline.origin),
                                    runs.probability))
            elif isinstance(result, Rows) and result.length:
                rows, probability = self._points(executor, wanted, result)
                time = rows.time + timeline.origin
                tables.append(Found(tuple(rows.column(f.name) for f in rows.fields), time, time + 1, probability))
            else:
                tables.append(None)
        return tables

    def _points(self, executor: UncertainExecutor, wanted: Output, rows: Rows) -> tuple[Rows, Floats]:
        """The points of an event that are probable enough."""
        probability = _rounded(executor.probabilities(literals(rows), wanted.definition))
        kept = (probability > 0) & (probability >= self.uncertainty.least)
        return rows.where(kept), probability[kept]

    def _event(self, executor: UncertainExecutor, wanted: Output, rows: Rows) -> pa.Table:
        rows, probability = self._points(executor, wanted, rows)
        table = events_table(rows, wanted.template, executor.space)
        return table.append_column(ROWS.field("probability"), pa.array(probability))

    def _runs(self, executor: UncertainExecutor, wanted: Output, segments: Segments) -> tuple[Segments, Runs]:
        """The stretches of a fluent, of the values that are reported."""
        space = executor.space
        if wanted.values is not None:
            domain = space.domains[segments.fields[-1].type]
            codes = np.array([domain.find(value_of(value)) for value in wanted.values], np.int64)
            segments = segments.where(np.isin(segments.codes(segments.fields[-1].name), codes))
        return segments, runs_of(segments, _rounded(executor.probabilities(segments.literal, wanted.definition)))

    def _fluent(self, executor: UncertainExecutor, wanted: Output, segments: Segments) -> pa.Table:
        space = executor.space
        segments, runs = self._runs(executor, wanted, segments)
        if self.uncertainty.threshold is not None:
            runs = maximal(space, runs, units(self.uncertainty.threshold))
        fixed = None if wanted.value is None else str(wanted.value)
        relation = Relation(space, segments.fields, Intervals(runs.starts, runs.ends))
        table = intervals_table(relation, wanted.template, segments.fields, fixed, None)
        return table.append_column(ROWS.field("probability"), pa.array(runs.probability))


def _rounded(probability: Floats) -> Floats:
    """To the 15 decimals that interval recognition counts in."""
    return np.round(probability, 15)


def runs_of(segments: Segments, probability: Floats) -> Runs:
    """Stretches as long as they have one probability, which is above 0."""
    kept = probability > 0
    starts, ends, probability = segments.starts[kept], segments.ends[kept], probability[kept]
    first = np.ones(starts.shape[0], np.bool_)
    first[1:] = (ends[:-1] != starts[1:]) | (probability[:-1] != probability[1:])
    return Runs(starts[first], ends[np.append(first[1:], True)] if starts.shape[0] else ends, probability[first])


def maximal(space: Space, runs: Runs, threshold: int) -> Runs:
    """The probabilistic maximal intervals of every key; one that lasts while the run ends is open."""
    if not runs.starts.shape[0]:
        return runs
    timeline = space.timeline
    tick, mask = timeline.tick, np.int64(timeline.mask)
    start, end = runs.starts & mask, runs.ends & mask
    end = np.where(end == mask, np.maximum(timeline.inside(timeline.until) + 1, start + 1), end)
    new = np.diff(runs.starts >> timeline.shift, prepend=-1) != 0
    first = np.flatnonzero(new)
    last = np.append(first[1:], new.shape[0]) - 1
    origin = start[first][np.cumsum(new) - 1]
    low, high = -(-(start - origin) // tick), -(-(end - origin) // tick)
    if int(high.max()) > LONGEST:
        raise InputError(f"there are {int(high.max())} time-points from the first to the last of a row, more than "
                         f"{LONGEST}; choose a coarser tick (--tick)")
    # where nothing is possible between two stretches, the probability is 0 for so many points
    gap = np.where(new, 0, low - np.append(0, high[:-1]))
    lengths = np.stack((gap, high - low), 1).ravel()
    probability = np.stack((np.zeros(gap.shape[0]), runs.probability), 1).ravel()
    kept = lengths > 0
    offsets = np.append(0, kept.cumsum()[2 * last + 1])
    sizes, rows = maximal_runs(offsets, lengths[kept], probability[kept], threshold)
    owner = np.repeat(np.arange(first.shape[0]), sizes)
    mean = threshold / SCALE + (rows[:, 2] * 2.0**LOW_BITS + rows[:, 3]) / SCALE / (rows[:, 1] - rows[:, 0])
    base = (runs.starts[first] & ~mask)[owner]
    starts, ends = (base | start[first][owner] + rows[:, at] * tick for at in (0, 1))
    going = (runs.ends[last] & mask == mask)[owner] & (rows[:, 1] == high[last][owner])
    positive = mean > 0
    return Runs(starts[positive], np.where(going, base | mask, ends)[positive], _rounded(mean[positive]))
