"""Runs the plan of a stratified LARS program over facts: all time-points of a stretch at once. No files, no windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from eventide.algebra import nodes as n
from eventide.engine.domains import GrowthError, Value, more_room, value_of
from eventide.engine.executor import Executor, PlanIndex
from eventide.engine.loading import Store, encode_all, fields_of, load_table, side_by_side
from eventide.engine.operators import Result
from eventide.engine.relation import Relation, Rows, Space, Timeline
from eventide.formats.facts import Coded, Column, chosen, column_of
from eventide.formats.facts import Facts as AllFacts
from eventide.formats.facts import FactTable as Facts
from eventide.kernels.arrays import Array, Intervals
from eventide.kernels.intervals import clip
from eventide.lars.columnar import Compiled, compile_tree, name_of
from eventide.lars.streams import arrival_numbers
from eventide.lars.windows import ARRIVALS, RANK
from eventide.syntax.lars_trees import LarsTree, Predicate
from eventide.syntax.terms import arguments_of

Row = tuple[Value, ...]


@dataclass
class Answers:
    """What a program says of the time-points `first` … `end`."""

    compiled: Compiled
    executor: Executor
    first: int
    end: int
    _known: dict[tuple[str, Predicate], Relation] = field(default_factory=dict)

    def now(self, predicate: Predicate) -> Relation:
        """When atoms of a derived predicate hold: at t, those of t. An open interval reaches the end."""
        return self._of("now", predicate)

    def at(self, predicate: Predicate) -> Relation:
        """When atoms of a derived predicate are known, the time-point that they are about as a last column."""
        return self._of("at", predicate)

    def contradictions(self, name: str) -> Relation:
        """When a contradiction holds; the columns are the variables of its rule."""
        found = self.executor.results.get(name)
        space = self.executor.space
        return Relation.nothing(space, ()) if found is None else self._within(found)

    def _of(self, kind: str, predicate: Predicate) -> Relation:
        known = self._known.get((kind, predicate))
        if known is None:
            node = self.compiled.now(predicate) if kind == "now" else self.compiled.at(predicate)
            found: Result = Relation.nothing(self.executor.space, ()) if node is None else self.executor.evaluate(node)
            known = self._known[kind, predicate] = self._within(found)
        return known

    def _within(self, found: Result) -> Relation:
        """Cut to the stretch; what holds at its end is open."""
        assert isinstance(found, Relation)
        line = found.space.timeline
        last = line.inside(self.end) + 1
        cut = clip(found.intervals, line.inside(self.first), last, line.shift, trusted=True)
        open_ = (cut.ends & line.mask) == last
        ends = np.where(open_, cut.ends | line.mask, cut.ends)
        return Relation(found.space, found.fields, Intervals(cut.starts, ends))

    def rows(self, relation: Relation) -> Iterator[tuple[Row, int, int | None]]:
        """The rows of a relation as Python values: arguments, start, end (None: open)."""
        line, domains = relation.space.timeline, relation.space.domains
        columns = [[code + line.origin for code in codes] if f.type == n.STAMP
                   else [domains[f.type].values[code] for code in codes]
                   for f in relation.fields for codes in (relation.codes(f.name).tolist(),)]
        starts = ((relation.intervals.starts & line.mask) + line.origin).tolist()
        ends = (relation.intervals.ends & line.mask).tolist()
        arguments: Iterable[Row] = zip(*columns, strict=True) if columns else [()] * len(relation)
        for row, start, end in zip(arguments, starts, ends, strict=True):
            yield row, start, None if end == line.mask else end + line.origin


class Evaluation:
    """A compiled program with the values of its background facts; can be run over many streams."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.index = PlanIndex(compiled.plan)
        self.store = Store()
        self._spare = 1
        self._open = set(compiled.types.open)
        for type_, terms in compiled.types.constants.items():
            self.store.domain(type_).codes([value_of(term) for term in terms])
        for predicate, facts in compiled.background.items():
            columns = [column_of([value_of(arguments_of(fact)[i]) for fact in facts])  # type: ignore[misc]
                       for i in range(predicate[1])]
            load_table(self.store, name_of(predicate), compiled.types.of(predicate), columns, len(facts))

    def run(self, facts: Mapping[Predicate, Facts], end: int, first: int = 0,
            arrivals: Array | None = None) -> Answers:
        """The answers at the time-points `first` … `end` from facts within them.

        Where windows count tuples, `arrivals` are the times of all facts in order of arrival and the facts have their
        places in it as `rows`.
        """
        compiled, store = self.compiled, self.store
        for domain in store.domains.values():
            domain.open()
        inputs = {predicate: self._encoded(predicate, table) for predicate, table in facts.items()
                  if any(part.kind == "points" and part.life is None for part in compiled.parts.get(predicate, ()))}
        shift = max((end - first + 3).bit_length(), 2)
        line = Timeline(first, shift, 1, first - 1, end)
        while True:
            self._lay_out(end - first)
            space = Space(store.domains, line)
            known: dict[str, Result] = {name_of(p): _points(fields, columns, time - first)
                                        for p, (fields, columns, time) in inputs.items()}
            if arrivals is not None:
                known[ARRIVALS] = _points((), {}, arrivals - first)
            executor = Executor(space, known, store.tables)
            try:
                executor.run(compiled.plan, index=self.index)
                return Answers(compiled, executor, first, end)
            except GrowthError as growth:
                self._spare = more_room(self._spare, growth)
                self._open.add(str(growth))

    def _encoded(self, predicate: Predicate, table: Facts) -> tuple[n.Fields, dict[str, np.ndarray], Array]:
        fields = fields_of(name_of(predicate), self.compiled.types.of(predicate))
        columns = encode_all(self.store, fields, table.args)
        if predicate in self.compiled.ranked:
            assert table.rows is not None
            fields = (*fields, n.Field(RANK, n.NUMBER))
            columns[RANK] = table.rows
        return fields, columns, table.time

    def _lay_out(self, span: int) -> None:
        """Bits for all values; where values are computed, some to spare."""
        for name, domain in self.store.domains.items():
            size = max(len(domain) - 1, 0).bit_length() + (self._spare if name in self._open else 0)
            if name in self.compiled.types.timed:
                size = max(size, (len(domain) + span + 1).bit_length())
            domain.lay_out(size)
        for name in {*self.compiled.types.slots.values(), *self.compiled.types.variables.values()}:
            if name not in (n.NUMBER, n.UNUSED) and name not in self.store.domains:
                domain = self.store.domain(name)
                domain.lay_out((span + 1).bit_length() if name in self.compiled.types.timed else self._spare)


def evaluate(tree: LarsTree, facts: AllFacts, end: int, first: int = 0) -> Answers:
    """The answers of a stratified program at the time-points `first` … `end`, from facts within them.

    >>> from eventide.lars.streams import read
    >>> from eventide.syntax.lars import parse
    >>> found = evaluate(parse("d(X) :- p(X) [3].").tree, read([(2, ["p(u)"])]), end=9)
    >>> list(found.rows(found.now(("d", 1))))
    [(('u',), 2, 6)]
    """
    compiled = compile_tree(tree, [predicate for predicate, table in facts.tables.items() if len(table)])
    tables, arrivals = prepared(compiled, facts, first, end)
    return Evaluation(compiled).run(tables, end, first, arrivals)


def prepared(compiled: Compiled, facts: AllFacts, first: int, end: int) -> tuple[dict[Predicate, Facts], Array | None]:
    """The facts from `first` to `end`; where windows count tuples, numbered, with the times of all of them."""
    counts = compiled.counts_tuples
    places = arrival_numbers(facts) if counts else {}
    tables: dict[Predicate, Facts] = {}
    for predicate, table in facts.tables.items():
        inside = (table.time >= first) & (table.time <= end)
        tables[predicate] = table if inside.all() else chosen(table, inside)
        if counts and not inside.all():
            places[predicate] = places[predicate][inside]
    return ranked(tables, places) if counts else (tables, None)


def _points(fields: n.Fields, columns: Mapping[str, np.ndarray], time: Array) -> Rows:
    return Rows(fields, {**columns, n.TIME: time}, int(time.shape[0]), timed=True)


def ranked(facts: Mapping[Predicate, Facts], places: Mapping[Predicate, Array]) -> tuple[dict[Predicate, Facts], Array]:
    """Facts numbered in order of arrival, each once per time-point, and the times of all of them.

    `places` say in which order they came; facts of an earlier time-point count as earlier.
    """
    distinct = {predicate: _distinct(table, places[predicate]) for predicate, table in facts.items()}
    times = np.concatenate([np.empty(0, np.int64), *(table.time for table, _ in distinct.values())])
    came = np.concatenate([np.empty(0, np.int64), *(place for _, place in distinct.values())])
    order = np.lexsort((came, times))
    ranks = np.empty(order.shape[0], np.int64)
    ranks[order] = np.arange(order.shape[0])
    result: dict[Predicate, Facts] = {}
    low = 0
    for predicate, (table, _) in distinct.items():
        result[predicate] = Facts(table.name, "event", table.time, table.args, rows=ranks[low:low + len(table)])
        low += len(table)
    return result, times[order]


def _distinct(table: Facts, places: Array) -> tuple[Facts, Array]:
    columns: Sequence[Column] = table.args
    plain = [column.codes if isinstance(column, Coded) else column for column in columns]
    permutation, repeated = side_by_side([*plain, table.time], places)
    kept = np.sort(permutation[~repeated])
    return chosen(table, kept), places[kept]
