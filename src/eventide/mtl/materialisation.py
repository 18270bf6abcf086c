"""A DatalogMTL program over all of its facts at once: the least model, as intervals of cells. No streams here.

Rules are applied at every rational time. All numbers of rules and facts are put on one grid (the least common
denominator), on which nothing changes inside a cell, so the plan runs on whole numbers and is exact. Cycles run
semi-naively (`engine.deltas`). Where a cycle may go on for ever it is followed up to a horizon: the given one, or as
far after the last time of the facts as the furthest-looking operator of the rules looks; `cut` says where something was
left out. As what holds at a time depends on that time and earlier ones only, everything up to the horizon is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from eventide.algebra import nodes as n
from eventide.analysis.mtl.compiler import compile_plan, fields_of
from eventide.analysis.mtl.model import MtlModel
from eventide.analysis.patterns import leaf_count, name_of
from eventide.engine.domains import GrowthError, more_room, value_of
from eventide.engine.executor import Executor, PlanIndex
from eventide.engine.loading import Store, Stream, load_stream
from eventide.engine.relation import WORD, Relation, Rows, Space, Timeline, from_unsorted, pack_with
from eventide.errors import RangeError
from eventide.kernels.arrays import Array, Intervals
from eventide.kernels.intervals import clip
from eventide.mtl.cells import EVER, NEVER, DenseFacts
from eventide.mtl.grid import FOREVER, Extent, extents
from eventide.syntax.mtl_trees import ranges_in

_SPARE = 4
"""Cells below the first time and above the last that stay free: an end beside them is not taken for infinity."""


@dataclass(frozen=True)
class PlanOnGrid:
    """The plan of a program for one grid, with what its shape says."""

    plan: n.Plan
    index: PlanIndex
    denominator: int


@dataclass
class Compiled:
    """A program and its plans, one for each grid that facts have asked for."""

    model: MtlModel
    plans: dict[int, PlanOnGrid] = field(default_factory=dict)

    def on_grid(self, denominator: int) -> PlanOnGrid:
        """The plan for a grid that has all numbers of the rules."""
        known = self.plans.get(denominator)
        if known is None:
            plan = compile_plan(self.model, denominator)
            known = self.plans[denominator] = PlanOnGrid(plan, PlanIndex(plan), denominator)
        return known

    def denominator(self, *others: int) -> int:
        """The least denominator that the rules and other numbers have in common."""
        return math.lcm(self.model.denominator, *others)

    def store(self, facts: DenseFacts) -> Store:
        """Facts that are on the grid of the run, coded and sorted, under the names that the plan reads."""
        model = self.model
        store = Store()
        for type_ in sorted(set(model.types.values()) | set(model.variable_types.values())):
            store.domain(type_).codes(value_of(constant) for constant in model.constants.get(type_, ()))
        for template, name in model.inputs.items():
            types = [f.type for f in fields_of(model, template)]
            table = facts.facts.tables.get((name_of(template), leaf_count(template)))
            load_stream(store, name, "interval", types, table)
        return store

    @property
    def furthest(self) -> Fraction:
        """The largest number in an operator of the rules."""
        bounds = [bound for rule in self.model.rules for _, r in ranges_in(rule) for bound in (r.low, r.high)]
        return max((bound for bound in bounds if bound is not None), default=Fraction(0))


class Materialisation:
    """Facts loaded and ready; `run` evaluates the plan, `relations` are the results then.

    `horizon` is a time: nothing beyond it is asked for.
    """

    def __init__(self, compiled: Compiled, facts: DenseFacts, horizon: Fraction | None = None) -> None:
        self.compiled = compiled
        self.denominator = compiled.denominator(facts.denominator, 1 if horizon is None else horizon.denominator)
        self.on_grid = compiled.on_grid(self.denominator)
        self.horizon = horizon
        self.facts = len(facts)
        self.store = compiled.store(facts.on_grid(self.denominator))
        self.endless: list[str] = []
        """The predicates of cycles that may go on for ever."""
        self.cut: list[str] = []
        """The predicates of which something beyond the horizon was left out, though no horizon was asked for."""
        self.relations: dict[str, Relation] = {}
        self.space: Space | None = None
        self.spare = 1
        """The bits that codes have to spare for values that are computed."""
        self.grown: list[tuple[str, Intervals]] | None = None
        """With a list here before the run: what came to cycles, in order; each from what had come before it."""
        self._low, self._last, self._extents = _ranges_of(self.store)

    @property
    def until(self) -> Fraction | None:
        """Up to where the results are right and complete; None: everywhere."""
        if self.horizon is not None:
            return self.horizon
        return self.last_asked if self.cut else None

    @property
    def last_asked(self) -> Fraction:
        """The horizon, or the one up to which cycles are followed where they may go on for ever."""
        return Fraction(self._limit - 1, 2 * self.denominator)

    @property
    def _limit(self) -> int:
        """The first cell that is not asked for."""
        if self.horizon is not None:
            return 2 * int(self.horizon * self.denominator) + 1
        further = int(self.compiled.furthest * self.denominator) or self.denominator
        return self._last - self._last % 2 + 2 * further + 1

    def run(self) -> Materialisation:
        """Evaluate the plan over all facts."""
        known, self.endless = extents(self.on_grid.plan, self._extents, self._limit)
        furthest = max((e.last for e in known.values() if e.last < FOREVER), default=0)
        last = max(int(furthest) if furthest > -FOREVER else 0, self._last, self._limit)
        shift = self._shift(last)
        while True:
            for name, domain in self.store.domains.items():
                domain.fix(self.spare if name in self.compiled.model.open_types else 0)
            # time-point 0 of the timeline is minus infinity; a run that starts before it begins there
            self.space = Space(self.store.domains, Timeline(self._origin, shift, 1, self._origin - 1, last))
            executor = Executor(self.space, self._inputs(self.space), {})
            executor.limit = self._limit - self._origin if self.endless else None
            executor.grown = None if self.grown is None else []
            try:
                executor.run(self.on_grid.plan, index=self.on_grid.index)
                break
            except GrowthError as growth:
                self.spare = more_room(self.spare, growth)
        self._finish(executor)
        return self

    @property
    def _origin(self) -> int:
        """The cell at offset 0: an even one below all times, which stands for minus infinity."""
        return self._low - self._low % 2 - _SPARE

    def _shift(self, last: int) -> int:
        """The bits of a cell, with room for the furthest move of a result before it is cut."""
        longest = 2 * int(self.compiled.furthest * self.denominator)
        shift = (last + longest - self._origin + _SPARE).bit_length()
        if shift > WORD - 1:
            raise RangeError(f"times on the grid 1/{self.denominator} span more than 62 bits; "
                             "use a coarser unit of time, or fewer digits")
        return shift

    def _inputs(self, space: Space) -> dict[str, Rows | Relation]:
        return {name: relation_of(space, stream) for name, stream in self.store.streams.items() if len(stream)}

    def _finish(self, executor: Executor) -> None:
        assert self.space is not None
        model, shift = self.compiled.model, self.space.timeline.shift
        self.grown = executor.grown
        if self.horizon is None:
            self.cut = sorted(executor.cut)
        for template, name in model.inputs.items():
            result = executor.results.get(template if template in model.defined else name)
            relation = Relation.nothing(self.space, fields_of(model, template))
            if isinstance(result, Relation):
                relation = result.rename(relation.fields)
            if self.horizon is not None or self.cut:
                kept = clip(relation.intervals, 0, self._limit - self._origin, shift, trusted=True)
                relation = Relation(self.space, relation.fields, kept)
            self.relations[template] = relation

    def cells(self, template: str) -> tuple[Array, Array]:
        """The starts and ends of a predicate's intervals as cells, `EVER` and `NEVER` where they are infinite."""
        relation = self.relations[template]
        return cells_of(relation.space.timeline, relation.intervals)


def cells_of(timeline: Timeline, intervals: Intervals) -> tuple[Array, Array]:
    """The starts and ends of intervals on the timeline of a run as cells; `EVER` and `NEVER` are infinite."""
    starts, ends = intervals.starts & timeline.mask, intervals.ends & timeline.mask
    return (np.where(starts == 0, EVER, starts + timeline.origin),
            np.where(ends == timeline.mask, NEVER, ends + timeline.origin))


def relation_of(space: Space, stream: Stream) -> Relation:
    """Facts whose times are cells as a relation: overlapping and touching intervals are one."""
    assert stream.end is not None
    timeline = space.timeline
    rows = Rows(stream.fields, stream.columns, len(stream), timed=False)
    start = np.where(stream.time == EVER, 0, stream.time - timeline.origin)
    end = np.where(stream.end == NEVER, timeline.mask, stream.end - timeline.origin)
    return from_unsorted(space, stream.fields, pack_with(space, rows, stream.fields, start),
                         pack_with(space, rows, stream.fields, end))


def _ranges_of(store: Store) -> tuple[int, int, Mapping[str, Extent]]:
    """The first and last finite cell of all facts, and the extent of each input."""
    lows: list[int] = []
    found: dict[str, Extent] = {}
    for name, stream in store.streams.items():
        assert stream.end is not None
        starts, ends = stream.time[stream.time != EVER], stream.end[stream.end != NEVER]
        lows += _least(starts) + _least(ends)
        last = max((int(a.max()) for a in (starts, ends) if a.shape[0]), default=None)
        if len(stream):
            reach = FOREVER if ends.shape[0] < len(stream) else int(ends.max())
            found[name] = Extent(reach, -FOREVER if last is None else last)
    highs = [int(e.last) for e in found.values() if e.last > -FOREVER]
    return min(lows, default=0), max(highs, default=0), found


def _least(cells: Array) -> list[int]:
    return [int(cells.min())] if cells.shape[0] else []
