"""A program over a set of facts, and what follows from them: the engine's answers to the questions of a proof.

A `Case` is the program with all its facts, a `World` what follows from some of them. Nothing is derived here: rows,
points and intervals are asked of the engine, node by node of its algebra.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from eventide.algebra import nodes as n
from eventide.analysis.model import Model
from eventide.analysis.patterns import leaf_count, name_of
from eventide.analysis.planning import compiler_of
from eventide.engine.domains import Value, value_of
from eventide.engine.executor import Executor
from eventide.engine.loading import Stream, key_of, take
from eventide.engine.operators import Result
from eventide.engine.recognition import Recognition, Settings
from eventide.engine.relation import Relation, Rows, Space
from eventide.explanation.proof import Fact
from eventide.formats.facts import Coded, Column, Facts
from eventide.kernels.arrays import Array, Mask
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable

if TYPE_CHECKING:
    from eventide.program import Program

SEED = "$seed"
FactId = tuple[str, int]
Binding = Mapping[str, Term]


class Stretch(NamedTuple):
    """A maximal interval `[start, end)`, open if the end is None."""

    start: int
    end: int | None

    def covers(self, low: int, high: int | None) -> bool:
        """Whether all of `[low, high)` lies in it."""
        return self.start <= low and (self.end is None or (high is not None and high <= self.end))


    def common(self, other: Stretch) -> Stretch | None:
        """What it has in common with another one."""
        start = max(self.start, other.start)
        ends = [end for end in (self.end, other.end) if end is not None]
        end = min(ends) if ends else None
        return None if end is not None and end <= start else Stretch(start, end)


@dataclass(frozen=True)
class Interval:
    """A row of a relation: the values of its columns, and one of its intervals."""

    binding: Binding
    stretch: Stretch


def term_of(value: Value) -> Term:
    """A value as a term."""
    if isinstance(value, str):
        return Atom(value)
    return value if isinstance(value, Compound) else Number(value)


class Case:
    """A program, the facts of a run, and the part of the plan that a question needs."""

    def __init__(self, program: Program, facts: Facts, settings: Settings, wanted: Sequence[str]) -> None:
        self.program, self.facts = program, facts
        self.model: Model = replace(program.model, diagnostics=[])  # what is compiled here reports to nobody
        whole = program.recognition(numbered(facts), settings)
        plan = n.needed_for(program.model.plan, wanted)
        self.run = _AllInputs(plan, (), whole.store, whole.built, whole.open_types, settings)
        self.streams = self.run.accepted()
        self.rounds = whole.store.rounds
        self.checked: dict[object, bool] = {}
        """What was asked of all the data, and the answers."""
        self.compiler, _, _ = compiler_of(self.model)

    @cached_property
    def all_facts(self) -> list[FactId]:
        """The facts of the run, each by its input and its place there."""
        return [(name, place) for name, stream in self.streams.items() for place in range(len(stream))]

    @cached_property
    def whole(self) -> World:
        """What follows from all facts."""
        return World(self, self.streams, {name: np.arange(len(stream)) for name, stream in self.streams.items()})

    def world(self, facts: Iterable[FactId]) -> World:
        """What follows from some facts alone."""
        places: dict[str, list[int]] = {name: [] for name in self.streams}
        for name, place in facts:
            places[name].append(place)
        chosen = {name: np.array(sorted(found), np.int64) for name, found in places.items()}
        return World(self, {name: take(self.streams[name], index) for name, index in chosen.items()}, chosen)

    def fact(self, id_: FactId) -> Fact:
        """A fact as it stands in the input, with its place there."""
        name, place = id_
        stream, table = self.streams[name], self.facts.tables[(name_of(name), leaf_count(name))]
        assert stream.probability is not None
        row = int(stream.probability[place])
        args = tuple(cell(column, row) for column in table.args)
        source, number = table.place(row)
        chance = None if table.probability is None else float(table.probability[row])
        return Fact(table.name, args, None if table.value is None else cell(table.value, row), int(stream.time[place]),
                    None if stream.end is None else int(stream.end[place]), source, number, chance)


class _AllInputs(Recognition):
    """A run whose executor knows every input, also those that only domains read."""

    def executor_over(self, space: Space, streams: Mapping[str, Stream]) -> Executor:
        self._read = set(streams)
        return super().executor_over(space, streams)


class World:
    """What follows from some facts of a case; `places` are their places among all facts, by input."""

    def __init__(self, case: Case, streams: dict[str, Stream], places: Mapping[str, Array]) -> None:
        self.case, self.streams, self.places = case, streams, places
        self.executor = case.run.execute(streams, case.run.query)
        self.space: Space = self.executor.space
        self.timeline = self.space.timeline
        self._results: dict[n.Node, Result] = {}

    # -- values -----------------------------------------------------------------------------------------------------

    def code(self, term: Term, type_: str) -> int | float | None:
        """A ground term as the engine has it in a column of a type; None if it occurs nowhere there."""
        value = value_of(term)
        if type_ in (n.NUMBER, n.STAMP):
            return value if isinstance(value, int | float) else None
        domain = self.space.domains.get(type_)
        code = -1 if domain is None else domain.find(value)
        return None if code < 0 else code

    def term(self, code: int | float, type_: str) -> Term:
        """What a cell of a column stands for."""
        return Number(code) if type_ in (n.NUMBER, n.STAMP) else term_of(self.space.domains[type_].values[int(code)])

    # -- evaluation -------------------------------------------------------------------------------------------------

    def runner(self, seed: Rows | None = None) -> Executor:
        """An executor over what is known, which may be asked for nodes of its own; `seed` is what they call `SEED`."""
        known = self.executor
        given: dict[str, Rows] = {} if seed is None else {SEED: seed}
        run = Executor(self.space, {**known.results, **given}, {**known.tables, **given}, known.ties, known.functions)
        run.fired = known.fired
        return run

    def seed(self, binding: Binding, types: Mapping[str, str], time: int | None = None, *,
             numbers: bool = False) -> tuple[n.Node, Rows] | None:
        """One row of variables, at a time or without; None if a value occurs nowhere.

        Plain numbers cannot be joined, so they are left out unless `numbers` is set: the facts that they come from
        bind them again.
        """
        fields = tuple(n.Field(name, types[name]) for name in binding if numbers or types[name] != n.NUMBER)
        columns: dict[str, Array] = {}
        for field in fields:
            code = self.code(binding[field.name], field.type)
            if code is None:
                return None
            columns[field.name] = np.array([code])
        if time is None:
            return n.Table(SEED, fields), Rows(fields, columns, 1, timed=False)
        columns[n.TIME] = np.array([self.timeline.inside(time)])
        return n.Events(SEED, fields), Rows(fields, columns, 1, timed=True)

    def evaluate(self, node: n.Node) -> Result:
        """The result of a node that needs no seed; it is found once."""
        known = self._results.get(node)
        if known is None:
            known = self._results[node] = self.runner().evaluate(node)
        return known

    def binding(self, rows: Rows, row: int) -> dict[str, Term]:
        """The columns of a row that rules name, as terms; words in columns of numbers are not known to the engine."""
        cells = {field: rows.column(field.name)[row].item() for field in rows.fields
                 if field.type != n.UNUSED and not field.name.startswith(("#", "$", "&"))}
        return {field.name: self.term(cell, field.type) for field, cell in cells.items() if cell == cell}

    def time(self, offset: int) -> int:
        """An offset on the timeline as a time of the input."""
        return int(offset) + self.timeline.origin

    def stretches(self, relation: Relation) -> list[Stretch]:
        """The intervals of a relation in the time of the input."""
        mask = self.timeline.mask
        ends = (relation.intervals.ends & mask).tolist()
        return [Stretch(self.time(start), None if end == mask else self.time(end))
                for start, end in zip((relation.intervals.starts & mask).tolist(), ends, strict=True)]

    def intervals(self, node: n.Node, binding: Binding | None = None) -> list[Interval]:
        """The rows of an interval relation that agree with a binding, in order of time."""
        relation = self.evaluate(node)
        assert isinstance(relation, Relation)
        for name, term in (binding or {}).items():
            field = next((f for f in relation.fields if f.name == name), None)
            if field is not None:
                code = self.code(term, field.type)
                relation = relation.where(relation.codes(name) == (-1 if code is None else code))
        rows = relation.rows()
        found = [Interval(self.binding(rows, i), stretch) for i, stretch in enumerate(self.stretches(relation))]
        return sorted(found, key=lambda interval: interval.stretch.start)

    # -- facts ------------------------------------------------------------------------------------------------------

    def facts_like(self, name: str, leaves: Sequence[Term], low: int, high: int | None) -> list[FactId]:
        """The facts of an input that match a pattern and lie in, or for intervals meet, `[low, high)`; by time."""
        stream = self.streams[name]
        begin, stop = 0, len(stream)
        key = key_of(stream.fields)
        wanted: list[tuple[str, int | float]] = []
        for field, leaf in zip(stream.fields, leaves, strict=True):
            if isinstance(leaf, Variable) or field.name not in stream.columns:
                continue
            code = self.code(leaf, field.type)
            if code is None:
                return []
            if field.name == key:  # facts are in order of it
                column = stream.columns[field.name]
                begin, stop = int(np.searchsorted(column, code)), int(np.searchsorted(column, code, side="right"))
            else:
                wanted.append((field.name, code))
        time = stream.time[begin:stop]
        last = time + 1 if stream.end is None else stream.end[begin:stop]
        mask: Mask = last > low
        if high is not None:
            mask &= time < high
        for column_name, code in wanted:
            mask &= stream.columns[column_name][begin:stop] == code
        found = np.flatnonzero(mask)
        found = begin + found[np.argsort(time[found], kind="stable")]
        return [(name, int(self.places[name][place])) for place in found.tolist()]

    def span_of(self, id_: FactId) -> tuple[int, int | None]:
        """When a fact occurs, and for intervals the end."""
        stream = self.case.streams[id_[0]]
        return int(stream.time[id_[1]]), None if stream.end is None else int(stream.end[id_[1]])


def numbered(facts: Facts) -> Facts:
    """The facts with their rows in the column of probabilities, which comes along wherever a fact goes."""
    return replace(facts, tables={key: replace(table, probability=np.arange(len(table), dtype=np.float64))
                                  for key, table in facts.tables.items()})


def cell(column: Column, row: int) -> Value:
    value: Value = column[row] if isinstance(column, Coded) else column[row].item()
    return value
