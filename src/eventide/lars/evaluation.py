"""Runs the plan of a stratified LARS program over facts: all time-points of a stretch at once. No files, no windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from eventide.algebra import nodes as n
from eventide.engine.domains import GrowthError, Value, more_room, value_of
from eventide.engine.executor import Executor, PlanIndex
from eventide.engine.loading import Store, encode_all, fields_of, load_table, side_by_side
from eventide.engine.operators import Result
from eventide.engine.relation import Relation, Rows, Space, Timeline, pack_with, unpack
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
    again: Callable[[], Answers] | None = None
    """Evaluates all of the stretch, where the executor has left out its beginning."""
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
        if known is None and kind == "at" and self.again is not None:
            known = self._known[kind, predicate] = self.again().at(predicate)
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
        cut = clip(found.intervals, line.inside(max(self.first, line.origin)), last, line.shift, trusted=True)
        open_ = (cut.ends & line.mask) == last
        ends = np.where(open_, cut.ends | line.mask, cut.ends)
        relation = Relation(found.space, found.fields, Intervals(cut.starts, ends))
        return relation if line.origin <= self.first else _from(relation, self.first)

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

    def run(self, facts: Mapping[Predicate, Facts], end: int, first: int = 0, arrivals: Array | None = None, *,
            whole: bool = False) -> Answers:
        """The answers at the time-points `first` … `end` from facts within them.

        Where windows count tuples, `arrivals` are the times of all facts in order of arrival and the facts have their
        places in it as `rows`. A long time without facts at the beginning is left out of what is computed, where the
        program allows it and `whole` is not set: times then need fewer bits.
        """
        compiled, store = self.compiled, self.store
        for domain in store.domains.values():
            domain.open()
        inputs = {predicate: self._encoded(predicate, table) for predicate, table in facts.items()
                  if any(part.kind == "points" and part.life is None for part in compiled.parts.get(predicate, ()))}
        times = [time for _, _, time in inputs.values()] + ([] if arrivals is None else [arrivals])
        begin = first if whole else self._begin(times, first)
        line = _line(begin, end)
        while True:
            self._lay_out(end - begin, sum(time.shape[0] for time in times))
            space = Space(store.domains, line)
            known: dict[str, Result] = {name_of(p): _points(fields, columns, time - begin)
                                        for p, (fields, columns, time) in inputs.items()}
            if arrivals is not None:
                known[ARRIVALS] = _points((), {}, arrivals - begin)
            executor = Executor(space, known, store.tables)
            try:
                executor.run(compiled.plan, index=self.index)
                again = None if begin == first else partial(self.run, facts, end, first, arrivals, whole=True)
                return Answers(compiled, executor, first, end, again)
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

    def _begin(self, times: Sequence[Array], first: int) -> int:
        """Where to begin: until then no window shows a fact, and all time-points are alike."""
        lows = [int(time.min()) for time in times if time.shape[0]]
        if not lows or not self._alike or self.compiled.lookback is None:
            return first
        return max(first, min(lows) - self.compiled.lookback - 2)

    @cached_property
    def _alike(self) -> bool:
        """Whether time-points without facts are alike: no rule tells them apart by their number."""
        bodies = [definition.body for stratum in self.compiled.plan.strata for definition in stratum.definitions]
        return not any(isinstance(node, n.Instants | n.Stamped)
                       or (isinstance(node, n.Covered) and node.arrivals is not None) for node in n.nodes_in(*bodies))

    def _lay_out(self, span: int, facts: int) -> None:
        """Bits for all values; where values are computed, some to spare."""
        timed = min(span, 2 * facts) + 1  # time-points as values are those of facts, as a rule
        for name, domain in self.store.domains.items():
            size = max(len(domain) - 1, 0).bit_length() + (self._spare if name in self._open else 0)
            if name in self.compiled.types.timed:
                size = max(size, (len(domain) + timed).bit_length() + (self._spare if name in self._open else 0))
            domain.lay_out(size)
        for name in {*self.compiled.types.slots.values(), *self.compiled.types.variables.values()}:
            if name not in (n.NUMBER, n.UNUSED) and name not in self.store.domains:
                domain = self.store.domain(name)
                room = timed.bit_length() if name in self.compiled.types.timed else 0
                domain.lay_out(room + self._spare)


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


def _line(first: int, end: int) -> Timeline:
    return Timeline(first, max((end - first + 3).bit_length(), 2), 1, first - 1, end)


def _from(relation: Relation, first: int) -> Relation:
    """The same intervals on a line that begins earlier; what holds at its old beginning holds since the new one."""
    old = relation.space.timeline
    space = Space(relation.space.domains, _line(first, old.until))
    later = old.origin - first
    columns = unpack(relation.space, relation.fields, relation.intervals.starts)
    rows = Rows(relation.fields, columns, len(relation), timed=False)
    starts, ends = relation.intervals.starts & old.mask, relation.intervals.ends & old.mask
    starts = np.where(starts == 0, 0, starts + later)
    ends = np.where(ends == old.mask, space.timeline.mask, ends + later)
    return Relation(space, relation.fields, Intervals(*(pack_with(space, rows, relation.fields, time)
                                                        for time in (starts, ends))))


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
