"""A program over a stream, bucket by bucket: what the buckets share, and which facts go where. Knows no Spark.

The stream comes in *units* (a file, a block of messages), each with a key that orders them and the first and last time
of its facts. Every bucket of every stage is told of every unit, and goes through them in the same order. So all buckets
pass the same query times, and what comes out does not depend on how the units are cut into batches.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from eventide.analysis.patterns import leaf_count, name_of
from eventide.engine.recognition import Settings
from eventide.errors import EventideError, InputError
from eventide.formats.facts import Facts, FactTable
from eventide.program import Program, uncertainty_of
from eventide.spark.buckets import Bucket, CertainBucket
from eventide.spark.failures import ServiceError
from eventide.spark.partitioning import READING, Partitioning, Send
from eventide.spark.parts import bare, buckets_of, column_at, split
from eventide.spark.streams import in_one_bucket, streamed, streamed_apart
from eventide.spark.tasks import staged
from eventide.spark.units import Clock, FactsPart, Given, Row, Unit, packed
from eventide.syntax.diagnostics import Diagnostic

if TYPE_CHECKING:
    from eventide.probability.events import History
    from eventide.probability.intervals import Threshold
    from eventide.probability.recognition import Uncertainty

FlowEmit = Literal["changes", "final"]
EMITS = ("changes", "final")


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
    uncertainty: Uncertainty | None = None
    memory: int | None = None
    durations: tuple[float, float] | None = None
    previous: Flow | None = None
    """The flow with other rules before this one, as long as a bucket may be found as that one left it."""
    epoch: int = 0
    """How often the rules have been changed."""

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
                for bucket, given in self._given(self._sent(table), sends):
                    if stage != self._counting[relation]:
                        given = given[0], True
                    content.setdefault((stage, bucket), {})[relation] = given
        for stage in range(1, self.last + 1):
            for bucket in range(self.buckets):
                yield stage, bucket, packed(FactsPart(unit, content.get((stage, bucket), {})))

    def _sent(self, table: FactTable) -> FactTable:
        return bare(table) if self.uncertainty is None else replace(bare(table), probability=table.probability)

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
        program = self._program(stage, number)
        fluents = [name for name in program.fluents if self.fluents is None or name in self.fluents]
        clock = Clock(start=self.start)
        if self.uncertainty is not None:
            from eventide.spark.uncertain import UncertainBucket

            return UncertainBucket(self, stage, number, program.session(
                probabilistic=True, threshold=self.uncertainty.threshold, memory=self.memory, durations=self.durations,
                window=self.window, start=self.start, tick=self.tick, initially_at=self.initially_at, fluents=fluents),
                clock)
        return CertainBucket(self, stage, number, program.session(
            window=self.window, start=self.start, tick=self.tick, initially_at=self.initially_at, ties=self.ties,
            horizon=self.horizon, fluents=fluents), clock, {})

    def restored(self, stage: int, number: int, state: bytes) -> Bucket:
        """The bucket that `Bucket.save` gave as bytes."""
        program, saved = self._program(stage, number), pickle.loads(state)
        if self.uncertainty is not None:
            from eventide.spark.uncertain import UncertainBucket

            clock, session = saved
            return UncertainBucket(self, stage, number, program.restore(session), clock)
        clock, settled, session = saved
        return CertainBucket(self, stage, number, program.restore(session), clock, settled)

    def at(self, epoch: int) -> Flow:
        """The flow as it was before the rules were changed so often."""
        found: Flow = self
        while found.epoch > epoch and found.previous is not None:
            found = found.previous
        if found.epoch != epoch:
            raise ServiceError("the checkpoint does not have the rules that a bucket was left with; it is broken")
        return found

    @cached_property
    def _meanings(self) -> dict[str, str]:
        known: dict[str, str] = {}
        for stage in range(1, self.last + 1):
            found = self.bucket(stage, 0).session.meanings(known)
            known |= {name: meaning for name, meaning in found.items() if not name.startswith("#")}
        return known

    @property
    def meanings(self) -> dict[str, str]:
        """What the results of all stages mean, whatever they are called."""
        return self._meanings

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


# -- planning ----------------------------------------------------------------------------------------------------------


def flow_of(program: Program, *, buckets: int, window: int, step: int | None = None, delay: int = 0,
            start: int | None = None, tick: int = 1, ties: str = "termination", initially_at: int = 0,
            horizon: int | None = None, emit: FlowEmit = "changes", fluents: Sequence[str] | None = None,
            probabilistic: bool = False, threshold: Threshold | None = None, history: History | None = None,
            memory: int | None = None, durations: tuple[float, float] | None = None, **options: object) -> Flow:
    """How a program runs over a stream in so many buckets; `Flow.diagnostics` says what is not spread, and why.

    `delay` is how long the clock waits for late facts: a query time is passed when a fact comes that is later than it
    by more. `options` are those of reading.
    """
    if not isinstance(program, Program):
        raise InputError("streams on Spark are for the Event Calculus; programs of other languages take in streams on "
                         "one machine: `eventide run PROGRAM --events … --step N --emit changes`, or program.session()")
    uncertainty = uncertainty_of(probabilistic, threshold, history)
    step = window if step is None else step
    if emit not in EMITS:
        raise InputError(f"emit is {emit!r}; known are {', '.join(EMITS[:-1])} and {EMITS[-1]}")
    for name, number, least in (("buckets", buckets, 1), ("window", window, 1), ("step", step, 1), ("delay", delay, 0),
                                ("tick", tick, 1)):
        if number < least:
            raise EventideError(f"{name} is {number}; it must be at least {least}")
    model = program.model
    program.require_sound()
    program.require_beginning(start)
    if uncertainty is None:
        if memory is not None or durations is not None:
            raise InputError("memory and durations need probabilistic=True")
        program.require_certain()
        plan, spread = model.plan, streamed
    else:
        _check_uncertain(program, uncertainty, window, horizon, emit, fluents)
        program.session(probabilistic=True, threshold=threshold, memory=memory, durations=durations, fluents=fluents,
                        start=start)
        plan, spread = program.uncertain_plan(fluents), streamed_apart
    program.wanted(fluents)
    found = in_one_bucket(plan, model.inputs) if buckets == 1 else spread(
        plan, tuple(model.inputs), frozenset(model.open_types))
    if found.one_bucket:
        buckets = 1
    return Flow(program, found, buckets, window, step, delay, start, tick, ties, initially_at, horizon, emit,
                None if fluents is None else tuple(fluents), tuple(options.items()), uncertainty, memory, durations)


def _check_uncertain(program: Program, uncertainty: Uncertainty, window: int, horizon: int | None, emit: str,
                     fluents: Sequence[str] | None) -> None:
    """Refuse what streams of uncertain facts cannot do, before anything runs."""
    if horizon is not None:
        raise InputError("Allen relations have no probabilities yet; leave out the horizon")
    if emit == "final" and uncertainty.threshold is not None:
        raise InputError("with a threshold every interval may still grow, so that none is ever final; take the "
                         "changes, or leave out the threshold")
    program.uncertain_windows(Facts(), Settings(window), uncertainty, fluents)  # says what cannot be in windows
