"""Recognition over uncertain facts: the probabilities of every result over time, as rows with intervals.

Without a threshold a row is a stretch of constant probability above 0. With one, it is a probabilistic maximal
interval: as long as it can be, with a mean probability of at least the threshold (PIEC, `probability.intervals`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.algebra.nodes import Output
from eventide.engine.answers import SCHEMA, events_table, intervals_table
from eventide.engine.domains import value_of
from eventide.engine.executor import Executor
from eventide.engine.loading import Stream
from eventide.engine.recognition import Recognition
from eventide.engine.relation import Relation, Rows, Space
from eventide.errors import InputError
from eventide.kernels.arrays import Array, Intervals
from eventide.kernels.maximal_probability import LOW_BITS, SCALE
from eventide.kernels.probability_runs import LONGEST, maximal_runs
from eventide.probability.events import History, Past, UncertainExecutor, inputs_of
from eventide.probability.formulas import Formulas
from eventide.probability.intervals import Threshold, units
from eventide.probability.segments import Segments, literals

Floats = npt.NDArray[np.float64]
ROWS = SCHEMA.append(pa.field("probability", pa.float64()))


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
        return executor

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

    def _event(self, executor: UncertainExecutor, wanted: Output, rows: Rows) -> pa.Table:
        probability = _rounded(executor.probabilities(literals(rows), wanted.definition))
        kept = (probability > 0) & (probability >= self.uncertainty.least)
        table = events_table(rows.where(kept), wanted.template, executor.space)
        return table.append_column(ROWS.field("probability"), pa.array(probability[kept]))

    def _fluent(self, executor: UncertainExecutor, wanted: Output, segments: Segments) -> pa.Table:
        space = executor.space
        if wanted.values is not None:
            domain = space.domains[segments.fields[-1].type]
            codes = np.array([domain.find(value_of(value)) for value in wanted.values], np.int64)
            segments = segments.where(np.isin(segments.codes(segments.fields[-1].name), codes))
        runs = runs_of(segments, _rounded(executor.probabilities(segments.literal, wanted.definition)))
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
