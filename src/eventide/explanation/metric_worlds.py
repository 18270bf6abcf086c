"""A DatalogMTL program over a set of facts, and what follows: the engine's answers to the questions of a proof.

A `MetricCase` is the part of a program that a question is about, with all its facts; a `MetricWorld` is what follows
from some of them. Nothing is derived here: intervals of atoms and ways to apply rules are asked of the engine.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from eventide.algebra import nodes as n
from eventide.analysis.mtl.compiler import compile_body, compile_formula, fields_of
from eventide.analysis.mtl.model import MtlModel
from eventide.analysis.mtl.passes import analyse
from eventide.analysis.patterns import leaf_count, name_of
from eventide.engine.domains import Value, value_of
from eventide.engine.executor import Executor
from eventide.engine.relation import Relation, unpack
from eventide.errors import InputError
from eventide.explanation.metric_sure import DENIED, SURE, denied_in, uncertain, with_sure
from eventide.explanation.metric_time import ALL, Clock, Reach, Stretch, joined
from eventide.explanation.proof import Fact
from eventide.explanation.worlds import cell, term_of
from eventide.formats.facts import Coded, Column, Facts, FactTable, chosen, coded
from eventide.kernels.arrays import Array, Intervals, Mask
from eventide.mtl.cells import COARSER, EVER, NEVER, DenseFacts
from eventide.mtl.materialisation import Compiled, Materialisation, cells_of
from eventide.mtl.program import MtlProgram
from eventide.syntax.mtl_trees import Condition, Formula, Range
from eventide.syntax.terms import Term, Variable

FactId = tuple[tuple[str, int], int]
Args = tuple[Value, ...]
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

    def __init__(self, world: MetricWorld, relation: Relation, bound: Binding) -> None:
        self.world, self.fields, self._bound = world, relation.fields, bound
        self.starts, self.ends = cells_of(world.space.timeline, relation.intervals)
        self._codes = unpack(world.space, relation.fields, relation.intervals.starts)

    def __len__(self) -> int:
        return int(self.starts.shape[0])

    def binding(self, row: int) -> dict[str, Term]:
        """The values of the variables."""
        domains = self.world.space.domains
        return {**self._bound, **{field.name: term_of(domains[field.type].values[int(self._codes[field.name][row])])
                                  for field in self.fields}}

    def stretch(self, row: int) -> Stretch:
        """When they hold."""
        return Stretch(int(self.starts[row]), int(self.ends[row]))

    def within(self, window: Stretch) -> Array:
        """The rows that hold somewhere in a window."""
        return np.flatnonzero((self.starts < window.end) & (self.ends > window.start))

    def column(self, name: str) -> Column:
        """The values of a variable, row by row."""
        field = next(field for field in self.fields if field.name == name)
        values: Sequence[Any] = self.world.space.domains[field.type].values
        return coded(self._codes[name].astype(np.int32), values)

    def heads(self, reaches: Sequence[Reach]) -> tuple[Array, Array]:
        """The cells at which the heads hold, with the operators before a head, the innermost first."""
        starts, ends = self.starts, self.ends
        for low, high, low_open, high_open in reaches:
            starts = np.where(starts == EVER, EVER, starts + low + (low_open & (starts % 2 == 0)))
            ends = np.where(ends == NEVER, NEVER, ends + (high or 0) - (high_open & (ends % 2 == 1)))
            ends = np.full_like(ends, NEVER) if high is None else ends
        return starts, ends


class MetricCase:
    """The rules that a predicate depends on, and the facts that they read, on the grid of one question."""

    def __init__(self, program: MtlProgram, facts: DenseFacts, template: str, at: Fraction,
                 horizon: Fraction | None) -> None:
        self.program, self.horizon = program, horizon
        self.model = _part_for(program.model, template)
        self.compiled = Compiled(self.model)
        denominator = self.compiled.denominator(facts.denominator, at.denominator,
                                                1 if horizon is None else horizon.denominator)
        self.clock = Clock(denominator)
        read = {(name_of(other), leaf_count(other)) for other in self.model.predicates}
        tables = {key: table for key, table in facts.facts.tables.items() if key in read and len(table)}
        try:
            self.facts = DenseFacts(Facts(tables), facts.denominator).on_grid(denominator)
        except InputError:
            raise InputError(f"the times of the facts do not fit 60 bits together with the fraction of {at}; "
                             f"{COARSER}") from None
        self.tables = self.facts.facts.tables
        self.uncertain = uncertain(self.model)
        """The predicates that depend on a negation."""
        self.sure = Compiled(analyse(with_sure(self.model))) if self.uncertain else self.compiled
        self._like: dict[tuple[str, Args], list[tuple[Stretch, FactId]]] = {}

    @cached_property
    def whole(self) -> MetricWorld:
        """What follows from all facts."""
        return MetricWorld(self, self.compiled, self.facts, None)

    @cached_property
    def all_facts(self) -> list[FactId]:
        """All facts."""
        return [(key, row) for key, table in self.tables.items() for row in range(len(table))]

    def world(self, facts: Iterable[FactId]) -> MetricWorld:
        """What follows from some facts alone; for every predicate that depends on negation also as far as nothing is
        denied that is so in all the data (its name then ends in `SURE`)."""
        rows: dict[tuple[str, int], list[int]] = {}
        ids = frozenset(facts)
        for key, row in ids:
            rows.setdefault(key, []).append(row)
        tables = {key: replace(chosen(self.tables[key], np.array(sorted(found), np.int64)), origins=())
                  for key, found in rows.items()}
        tables |= {(f"{name}{SURE}", arity): replace(table, name=f"{name}{SURE}")
                   for (name, arity), table in tables.items() if (f"{name}{SURE}", arity) in self._sure_names}
        if self.uncertain:
            tables |= self._denied(tables)
        return MetricWorld(self, self.sure, DenseFacts(Facts(tables), self.clock.denominator), ids)

    @cached_property
    def _sure_names(self) -> set[tuple[str, int]]:
        return {(name_of(template), leaf_count(template)) for template in self.sure.model.predicates}

    def _denied(self, tables: Mapping[tuple[str, int], FactTable]) -> dict[tuple[str, int], FactTable]:
        """What holds in all the data of what rules deny, as facts; as far as it is about the values of some facts."""
        known = {value for table in tables.values() for column in table.args for value in _values(column)}
        known |= {value_of(term) for terms in self.model.constants.values() for term in terms}
        found = {}
        for name, table in self._all_denied.items():
            mask = np.ones(len(table), np.bool_)
            for column in table.args if not self.model.open_types else ():
                assert isinstance(column, Coded)
                mask &= np.array([value in known for value in column.values], np.bool_)[column.codes]
            if mask.any():
                found[name, len(table.args)] = chosen(table, mask)
        return found

    @cached_property
    def _all_denied(self) -> dict[str, FactTable]:
        found = {}
        for number, place, formula, names in denied_in(self.model):
            ways = self.whole.ways(n.Project(compile_formula(self.model, number, self.clock.denominator, formula),
                                             tuple(names)), {})
            name = f"{DENIED}{number}.{place}"
            found[name] = FactTable(name, "interval", ways.starts, tuple(map(ways.column, names)), ways.ends)
        return found

    def facts_like(self, name: str, args: Args) -> list[tuple[Stretch, FactId]]:
        """The facts about an atom, in order of time."""
        known = self._like.get((name, args))
        if known is None:
            key = (name, len(args))
            table = self.tables.get(key)
            rows = [] if table is None else np.flatnonzero(_matching(table, args)).tolist()
            known = [] if table is None or table.end is None else sorted(
                (Stretch(int(table.time[row]), int(table.end[row])), (key, row)) for row in rows)
            self._like[name, args] = known
        return known

    def fact(self, id_: FactId) -> Fact:
        """A fact as it stands in the input, with its place there."""
        key, row = id_
        table = self.tables[key]
        assert table.end is not None
        stretch = Stretch(int(table.time[row]), int(table.end[row]))
        low, high = self.clock.bounds(stretch)
        is_instant = low == high
        source, number = table.place(row)
        return Fact(table.name, tuple(cell(column, row) for column in table.args), None, low,
                    None if is_instant else high, source, number,
                    sides=None if is_instant else self.clock.sides(stretch))

    def span_of(self, id_: FactId) -> Stretch:
        """When a fact holds."""
        table = self.tables[id_[0]]
        assert table.end is not None
        return Stretch(int(table.time[id_[1]]), int(table.end[id_[1]]))


class MetricWorld:
    """What follows from some facts of a case (None: from all); asked for atoms and for ways to apply rules."""

    def __init__(self, case: MetricCase, compiled: Compiled, facts: DenseFacts, ids: frozenset[FactId] | None) -> None:
        self.case, self.model, self.ids = case, compiled.model, ids
        self.run = Materialisation(compiled, facts, case.horizon)
        self.run.grown = []
        self.run.run()
        assert self.run.space is not None
        self.space = self.run.space
        self._times: dict[tuple[str, Args], Times] = {}
        self._applied: dict[tuple[int, Args], Ways] = {}
        self._formulas: dict[tuple[int, Formula], Ways] = {}

    @cached_property
    def last(self) -> int:
        """The first cell that is not told; `NEVER` where all is."""
        until = self.run.until
        return NEVER if until is None else self.case.clock.cell(until) + 1

    @cached_property
    def _order(self) -> dict[str, tuple[Intervals, Array]]:
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
        key = 0
        for field, shift, value in zip(fields, self.space.shifts(fields), args, strict=True):
            code = self.space.domains[field.type].find(value)
            if code < 0:
                return Times([])
            key |= code << shift
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
        found = Executor(self.space, self.run.relations, {}).evaluate(node)
        assert isinstance(found, Relation)
        return Ways(self, found, bound)

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
        found = self.case.facts_like(name.removesuffix(SURE), args)
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


def _matching(table: FactTable, args: Args) -> Mask:
    mask = np.ones(len(table), np.bool_)
    for column, value in zip(table.args, args, strict=True):
        if isinstance(column, Coded):
            codes = [code for code, known in enumerate(column.values) if _same(known, value)]
            mask &= np.isin(column.codes, codes)
        else:
            same_kind = isinstance(value, int if column.dtype.kind == "i" else float)
            mask &= (column == value) if same_kind else False
    return mask


def _values(column: Column) -> Iterable[Value]:
    return column.values if isinstance(column, Coded) else np.unique(column).tolist()


def _part_for(model: MtlModel, template: str) -> MtlModel:
    """The rules that a predicate depends on, as a program of their own."""
    needed, todo = {template}, [template]
    while todo:
        for other in model.reads.get(todo.pop(), ()):
            if other not in needed:
                needed.add(other)
                todo.append(other)
    part = analyse([rule for rule in model.rules if rule.head.template in needed])
    if template not in part.predicates:  # a predicate that is given stands in no head
        part.predicates[template] = None
        part.inputs[template] = template
        part.types |= {(template, place): f"argument {place + 1}" for place in range(leaf_count(template))}
    return part
