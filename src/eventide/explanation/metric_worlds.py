"""What follows from some facts by a DatalogMTL program: the engine's answers to the questions of a proof.

Nothing is derived here: intervals of atoms and ways to apply rules are asked of the engine.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from eventide.algebra import nodes as n
from eventide.analysis.mtl.compiler import compile_body, compile_formula, fields_of
from eventide.analysis.mtl.model import MtlModel
from eventide.engine.domains import GrowthError, Value, more_room, value_of
from eventide.engine.executor import Executor
from eventide.engine.relation import Relation, unpack
from eventide.explanation.metric_facts import Args, FactId
from eventide.explanation.metric_sure import SURE
from eventide.explanation.metric_time import ALL, Reach, Stretch, joined
from eventide.explanation.worlds import term_of
from eventide.formats.facts import Column, coded
from eventide.kernels.arrays import Array, Intervals
from eventide.mtl.cells import EVER, NEVER, DenseFacts
from eventide.mtl.materialisation import Compiled, Materialisation, cells_of
from eventide.syntax.mtl_trees import Condition, Formula, Range
from eventide.syntax.terms import Term, Variable

if TYPE_CHECKING:
    from eventide.explanation.metric_cases import MetricCase

Binding = Mapping[str, Term]


@dataclass(frozen=True)
class Times:
    """When an atom holds: pieces in order and apart; of what a cycle derives, each with its place in the derivation."""

    pieces: list[Stretch]
    ranks: list[int] | None = None

    def within(self, window: Stretch = ALL, before: int | None = None) -> list[Stretch]:
        """The maximal stretches in a window, of what was derived before a place in the derivation."""
        first = max(bisect_right(self.pieces, window.start, key=lambda piece: piece.start) - 1, 0)
        found = []
        for place in range(first, len(self.pieces)):
            if self.pieces[place].start >= window.end:
                break
            part = self.pieces[place].common(window)
            if part is not None and (before is None or self.ranks is None or self.ranks[place] < before):
                found.append(part)
        return joined(found)

    def around(self, at: int) -> Stretch | None:
        """The maximal stretch around a cell."""
        return next((stretch for stretch in joined(self.pieces) if stretch.start <= at < stretch.end), None)

    def rank(self, at: int) -> int | None:
        """The place in the derivation of what holds at a cell; None where there is no order to keep to."""
        if self.ranks is None:
            return None
        return self.ranks[bisect_right(self.pieces, at, key=lambda piece: piece.start) - 1]


class Ways:
    """The ways in which some conditions hold: values of variables, and the cells `[starts, ends)` of each."""

    def __init__(self, relation: Relation, bound: Binding) -> None:
        self._fields, self._bound, self._domains = relation.fields, bound, relation.space.domains
        self.starts, self.ends = cells_of(relation.space.timeline, relation.intervals)
        self._codes = unpack(relation.space, relation.fields, relation.intervals.starts)

    def __len__(self) -> int:
        return int(self.starts.shape[0])

    def binding(self, row: int) -> dict[str, Term]:
        """The values of the variables."""
        values = {field.name: self._domains[field.type].values[int(self._codes[field.name][row])]
                  for field in self._fields}
        return {**self._bound, **{name: term_of(value) for name, value in values.items()}}

    def stretch(self, row: int) -> Stretch:
        """When they hold."""
        return Stretch(int(self.starts[row]), int(self.ends[row]))

    def within(self, window: Stretch) -> Array:
        """The rows that hold somewhere in a window."""
        return np.flatnonzero((self.starts < window.end) & (self.ends > window.start))

    def column(self, name: str) -> Column:
        """The values of a variable, row by row."""
        field = next(field for field in self._fields if field.name == name)
        values: Sequence[Any] = self._domains[field.type].values
        return coded(self._codes[name].astype(np.int32), values)

    def heads(self, reaches: Sequence[Reach]) -> tuple[Array, Array]:
        """The cells at which the heads hold, with the operators before a head, the innermost first."""
        starts, ends = self.starts, self.ends
        for low, high, low_open, high_open in reaches:
            starts = np.where(starts == EVER, EVER, starts + low + (low_open & (starts % 2 == 0)))
            ends = np.where(ends == NEVER, NEVER, ends + (high or 0) - (high_open & (ends % 2 == 1)))
            ends = np.full_like(ends, NEVER) if high is None else ends
        return starts, ends


class MetricWorld:
    """What follows from some facts of a case (None: from all); asked for atoms and for ways to apply rules."""

    def __init__(self, case: MetricCase, compiled: Compiled, facts: DenseFacts, ids: frozenset[FactId] | None) -> None:
        self.case, self.model, self.ids = case, compiled.model, ids
        self.run = Materialisation(compiled, facts, case.horizon)
        self._evaluate()
        self._times: dict[tuple[str, Args], Times] = {}
        self._applied: dict[tuple[int, Args], Ways] = {}
        self._formulas: dict[tuple[int, Formula], Ways] = {}

    def _evaluate(self) -> None:
        self.run.grown = []
        self.run.run()
        assert self.run.space is not None
        self.space, self._order = self.run.space, self._order_of()

    @cached_property
    def last(self) -> int:
        """The first cell that is not told; `NEVER` where all is."""
        until = self.run.until
        return NEVER if until is None else self.case.clock.cell(until) + 1

    def _order_of(self) -> dict[str, tuple[Intervals, Array]]:
        """What cycles derived, by predicate: pieces that lie apart, and the place of each in the derivation."""
        parts: dict[str, list[tuple[int, Intervals]]] = {}
        for rank, (template, new) in enumerate(self.run.grown or ()):
            parts.setdefault(template, []).append((rank, new))
        found = {}
        for template, pieces in parts.items():
            starts = np.concatenate([new.starts for _, new in pieces])
            order = np.argsort(starts, kind="stable")
            ends = np.concatenate([new.ends for _, new in pieces])
            ranks = np.concatenate([np.full(len(new), rank) for rank, new in pieces])
            found[template] = Intervals(starts[order], ends[order]), ranks[order]
        return found

    def times(self, template: str, args: Args) -> Times:
        """When an atom holds."""
        known = self._times.get((template, args))
        if known is None:
            known = self._times[template, args] = self._found_times(template, args)
        return known

    def _found_times(self, template: str, args: Args) -> Times:
        fields = fields_of(self.model, template)
        codes = [self.space.domains[field.type].find(value) for field, value in zip(fields, args, strict=True)]
        if min(codes, default=0) < 0:
            return Times([])
        key = int(self.space.pack(fields, [np.array([code]) for code in codes], 1)[0])
        intervals, ranks = self._order.get(template, (self.run.relations[template].intervals, None))
        first, last = np.searchsorted(intervals.starts, [key, key | self.space.timeline.mask]).tolist()
        part = Intervals(intervals.starts[first:last], intervals.ends[first:last])
        starts, ends = cells_of(self.space.timeline, part)
        pieces = [Stretch(*pair) for pair in zip(starts.tolist(), np.minimum(ends, self.last).tolist(), strict=True)]
        inside = [place for place, piece in enumerate(pieces) if piece.start < piece.end]
        return Times([pieces[place] for place in inside],
                     None if ranks is None else [int(ranks[first + place]) for place in inside])

    def ways(self, node: n.Node, bound: Binding) -> Ways:
        """The rows of a node over all that is known; some variables had their values before."""
        try:
            found = Executor(self.space, self.run.relations, {}).evaluate(node)
        except GrowthError as growth:  # it computes what the run did not
            self.run.spare = more_room(self.run.spare, growth)
            self._evaluate()
            return self.ways(node, bound)
        assert isinstance(found, Relation)
        return Ways(found, bound)

    def applications(self, number: int, args: Args) -> Ways | None:
        """The ways in which the body of a rule holds, for a head with these arguments; None if it is about others."""
        bound = head_binding(self.model, number, args)
        if bound is None:
            return None
        known = self._applied.get((number, args))
        if known is None:
            known = self._applied[number, args] = self.together(number, self.model.rules[number].body, bound)
        return known

    def together(self, number: int, body: Sequence[Condition], bound: Binding) -> Ways:
        """The ways in which some conditions of a rule hold together."""
        return self.ways(compile_body(self.model, number, self.case.clock.denominator, body, bound), bound)

    def formula(self, number: int, formula: Formula) -> Ways:
        """The ways in which a formula of a rule holds."""
        known = self._formulas.get((number, formula))
        if known is None:
            node = compile_formula(self.model, number, self.case.clock.denominator, formula)
            known = self._formulas[number, formula] = self.ways(node, {})
        return known

    def facts_like(self, name: str, args: Args) -> list[tuple[Stretch, FactId]]:
        """The facts of this world about an atom."""
        found = self.case.rows.like(name.removesuffix(SURE), args)
        return found if self.ids is None else [(stretch, id_) for stretch, id_ in found if id_ in self.ids]

    def reach(self, range_: Range) -> Reach:
        """The range of an operator in cells."""
        return Reach.of(range_, self.case.clock.denominator)


def head_binding(model: MtlModel, number: int, args: Args) -> dict[str, Term] | None:
    """What the arguments of a head say of the variables of its rule; None if it is about others."""
    found: dict[str, Term] = {}
    for argument, value in zip(model.rules[number].head.arguments, args, strict=True):
        if not isinstance(argument, Variable):
            if not _same(value_of(argument), value):
                return None
        elif not _same(value_of(found.setdefault(argument.name, term_of(value))), value):
            return None
    return found


def _same(one: Value, other: Value) -> bool:
    """1 and 1.0 are equal in Python, but different constants."""
    return type(one) is type(other) and one == other
