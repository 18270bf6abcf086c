"""What a question about a DatalogMTL program is about: the rules that matter to it, and all facts that they read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from eventide.algebra import nodes as n
from eventide.analysis.mtl.compiler import compile_formula
from eventide.analysis.mtl.model import MtlModel
from eventide.analysis.mtl.passes import analyse
from eventide.analysis.patterns import leaf_count, name_of
from eventide.engine.domains import Value, value_of
from eventide.errors import InputError
from eventide.explanation.metric_facts import FactId, FactRows, Tables, values_in
from eventide.explanation.metric_sure import DENIED, SURE, denied_in, uncertain, with_sure
from eventide.explanation.metric_time import Clock
from eventide.explanation.metric_worlds import MetricWorld
from eventide.formats.facts import Facts, FactTable
from eventide.mtl.cells import COARSER, DenseFacts
from eventide.mtl.materialisation import Compiled
from eventide.mtl.program import MtlProgram


class MetricCase:
    """The rules that a predicate depends on, and the facts that they read, on the grid of one question."""

    def __init__(self, program: MtlProgram, facts: DenseFacts, template: str, at: Fraction,
                 horizon: Fraction | None) -> None:
        self.texts, self.horizon = program.texts, horizon
        self.model = _part_for(program.model, template)
        compiled = Compiled(self.model)
        self.clock = Clock(compiled.denominator(facts.denominator, at.denominator,
                                                1 if horizon is None else horizon.denominator))
        read = {(name_of(other), leaf_count(other)) for other in self.model.predicates}
        tables = {key: table for key, table in facts.facts.tables.items() if key in read and len(table)}
        try:
            on_grid = DenseFacts(Facts(tables), facts.denominator).on_grid(self.clock.denominator)
        except InputError:
            raise InputError(f"the times of the facts do not fit 60 bits together with the fraction of {at}; "
                             f"{COARSER}") from None
        self.rows = FactRows(on_grid.facts.tables, self.clock)
        self.uncertain = uncertain(self.model)
        """The predicates that depend on a negation."""
        self.sure = Compiled(analyse(with_sure(self.model))) if self.uncertain else compiled
        self.whole = MetricWorld(self, compiled, on_grid, None)
        """What follows from all facts."""

    def world(self, facts: Iterable[FactId]) -> MetricWorld:
        """What follows from some facts alone; for every predicate that depends on negation also as far as nothing is
        denied that is so in all the data (its name then ends in `SURE`)."""
        ids = frozenset(facts)
        tables = self.rows.some(ids)
        if self.uncertain:
            doubtful = {(name_of(template), leaf_count(template)) for template in self.uncertain}
            copies = {(f"{name}{SURE}", arity): replace(table, name=f"{name}{SURE}")
                      for (name, arity), table in tables.items() if (name, arity) in doubtful}
            tables |= copies | self._denied(tables)
        return MetricWorld(self, self.sure, DenseFacts(Facts(tables), self.clock.denominator), ids)

    def _denied(self, tables: Tables) -> Tables:
        """What holds in all the data of what rules deny, as facts, as far as some facts can come to ask about it."""
        everything = self._all_denied
        if self.model.open_types:
            return everything.tables
        known: set[tuple[type, Value]] = values_in(tables)
        known |= {(type(value), value) for terms in self.model.constants.values() for value in map(value_of, terms)}
        found = {key: everything.among(key, known) for key in everything.tables}
        return {key: table for key, table in found.items() if table is not None}

    @cached_property
    def _all_denied(self) -> FactRows:
        tables: Tables = {}
        for number, place, formula, names in denied_in(self.model):
            node = n.Project(compile_formula(self.model, number, self.clock.denominator, formula), tuple(names))
            ways, name = self.whole.ways(node, {}), f"{DENIED}{number}.{place}"
            if len(ways):
                columns = tuple(map(ways.column, names))
                tables[name, len(names)] = FactTable(name, "interval", ways.starts, columns, ways.ends)
        return FactRows(tables, self.clock)


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
