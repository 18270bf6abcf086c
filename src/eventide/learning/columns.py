"""Conditions of clauses as truth columns over the rows of a batch, for `inference.firing`. Not for what rules conclude.

A condition about the head's arguments is one column: scattered once for each combination of arguments that it names,
then read by every instance. Conditions that share a variable which the head lacks are joined, and the head's rows that
have a solution are one column. A denied condition is the complement of its column. Of a table with thresholds, a fact
with value v makes a condition with limit d true if v <= d, for `greaterThan` if v >= d.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from eventide.errors import EventideError
from eventide.kernels.arrays import Array, Mask
from eventide.kernels.joins import contains, factorize, join
from eventide.learning.clauses import Clause, Literal
from eventide.learning.examples import Batch, CodedFacts, Examples
from eventide.learning.learnable import shape_of
from eventide.learning.modes import Mode
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, functor_of, variables_of
from eventide.syntax.vocabulary import did_you_mean

TIME = -1
"""Stands for the time among the variables; the head's arguments are 0, 1, …, further variables follow."""


class Constant(NamedTuple):
    """A value in a place: its code, which is -1 for one that no fact has."""

    code: int


@dataclass(frozen=True, slots=True)
class Condition:
    """A literal over one table: what stands in each place (a variable's number, a constant, None for anything)."""

    table: int
    places: tuple[int | Constant | None, ...]
    limit: float | None = None
    positive: bool = True

    def variables(self) -> set[int]:
        """The variables, TIME included."""
        return {place for place in self.places if isinstance(place, int)}


class Same(NamedTuple):
    """That an argument of the head is the same as another, or a constant."""

    argument: int
    other: int | Constant


Template = Same | tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns that clauses need, and their bodies over them, as `inference.firing` takes both."""

    templates: tuple[Template, ...]
    bodies: tuple[tuple[int, ...], ...]
    initiates: Mask
    """Whether each clause initiates."""
    sizes: tuple[int, ...]
    """The number of values of each argument's type."""

    def columns(self, batch: Batch) -> Mask:
        """The truth of each template in each row of a batch."""
        shape = batch.instances.shape[0], batch.times.shape[0]
        columns = np.empty((len(self.templates), *shape), np.bool_)
        groups = _Groups(batch, self.sizes)
        for out, template in zip(columns, self.templates, strict=True):
            if isinstance(template, Same):
                out[:] = _same(template, batch.arguments)[:, None]
            else:
                direct = len(template) == 1 and template[0].positive
                bindings = (Bindings.of(batch.facts[template[0].table], template[0]) if direct
                            else solutions_of(template, batch))
                groups.write(bindings, out)
        return columns.reshape(len(self.templates), shape[0] * shape[1])


def layout_of(clauses: Sequence[Clause], examples: Examples) -> Layout:
    """What the clauses ask, as columns; a condition that several of them have is one column.

    >>> from eventide.learning.clauses import read_clauses
    >>> from eventide.learning.examples import examples_of, table
    >>> from eventide.learning.inference import firing
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+person),+time))")
    >>> wins = table("happensAt(win(+person),+time)", ["ann", "bob"], [3, 8])
    >>> examples = examples_of(modes, [wins], table("holdsAt(rich(+person),+time)", ["ann"], [8]))
    >>> clauses, _ = read_clauses("initiatedAt(rich(X),T) :- happensAt(win(X),T). "
    ...                           "terminatedAt(rich(X),T) :- not happensAt(win(X),T), happensAt(win(Y),T).")
    >>> layout = layout_of(clauses, examples)
    >>> (batch,) = examples.batches(50)
    >>> firing(layout.columns(batch), layout.bodies).astype(int).tolist()
    [[1, 0, 0, 1], [0, 1, 1, 0]]
    """
    numbers: dict[Template, int] = {}
    bodies, initiates = [], []
    for clause in clauses:
        reader = ClauseReader(clause, examples)
        bodies.append(tuple(number if positive else ~number for template, positive in reader.templates()
                            for number in [numbers.setdefault(template, len(numbers))]))
        initiates.append(functor_of(clause.head)[0] == "initiatedAt")
    sizes = tuple(examples.domains[name].shape[0] for name in examples.types)
    return Layout(tuple(numbers), tuple(bodies), np.array(initiates, np.bool_), sizes)


class ClauseReader:
    """One clause, its variables numbered: the head's arguments first."""

    def __init__(self, clause: Clause, examples: Examples) -> None:
        self.clause, self.examples = clause, examples
        target = examples.target
        name = functor_of(clause.head)[0]
        assert isinstance(target.atom, Compound)
        shape = replace(target, atom=Compound(name, target.atom.args))
        found = shape.constants(clause.head) if name in ("initiatedAt", "terminatedAt") else None
        if found is None:
            raise self.error(f"the head is not a change of {term_text(self._fluent())}")
        *arguments, time = found
        if not isinstance(time, Variable):
            raise self.error("the time of the head is not a variable")
        self.numbers: dict[Variable, int] = {time: TIME}
        self.types: dict[int, str] = dict(enumerate(examples.types))
        self.heads: list[tuple[Template, bool]] = []
        for i, term in enumerate(arguments):
            if not isinstance(term, Variable):
                self.heads.append((Same(i, self.constant(term, examples.types[i])), True))
            elif term not in self.numbers:
                self.numbers[term] = i
            elif self.types.get(self.numbers[term]) != examples.types[i]:
                raise self.error(f"{term} stands for things of two types")
            else:
                self.heads.append((Same(i, self.numbers[term]), True))
        self.arity = len(arguments)
        self.uses = Counter(variable for each in clause.body for variable in variables_of(each.atom))
        self.bound = {variable for each in clause.body if each.positive for variable in variables_of(each.atom)}

    def _fluent(self) -> Term:
        mode = self.examples.target
        filled = mode.filled([Variable(f"{place.kind}{place.type}") for place in mode.places])
        assert isinstance(filled, Compound)
        return filled.args[0]

    def error(self, problem: str) -> EventideError:
        return EventideError(f"{self.clause}\n    {problem}")

    def templates(self) -> list[tuple[Template, bool]]:
        """The columns whose conjunction the body is, each with whether it must be true or false."""
        found, joined = list(self.heads), list[Condition]()
        for each in self.clause.body:
            condition = self.condition(each)
            if any(variable >= self.arity for variable in condition.variables()):
                joined.append(condition)
            else:
                found.append(((replace(condition, positive=True),), condition.positive))
        while joined:
            group = [joined.pop(0)]
            for member in group:  # grows as it goes
                known = {variable for variable in member.variables() if variable >= self.arity}
                group += [each for each in joined if each.variables() & known]
                joined = [each for each in joined if not each.variables() & known]
            found.append((_canonical(group, self.arity), True))
        return found

    def condition(self, literal: Literal) -> Condition:
        """A literal over the table that has its shape."""
        number, facts, terms = self.table(literal)
        places: list[int | Constant | None] = []
        limit = None
        for i, (place, term) in enumerate(zip(facts.mode.places, terms, strict=True)):
            if i == facts.time:
                if not isinstance(term, Variable) or self.numbers.get(term) != TIME:
                    raise self.error(f"{literal} is not at the time of the head")
                places.append(TIME)
            elif isinstance(term, Variable):
                places.append(self.variable(term, place.type, literal, i == facts.threshold))
            elif i == facts.threshold:
                if not isinstance(term, Number):
                    raise self.error(f"{term_text(term)} is compared with numbers in {literal}")
                limit = term.value
                places.append(None)
            else:
                places.append(self.constant(term, place.type))
        return Condition(number, tuple(places), limit, literal.positive)

    def table(self, literal: Literal) -> tuple[int, CodedFacts, tuple[Term, ...]]:
        """The table of a literal, its number, and what stands in its places.

        Several modes may have the same facts. That one is taken whose places fit the terms, and of these the one with
        the fewest places; which one, makes no difference, but where limits are compared.
        """
        fits = [(number, facts, terms) for number, facts in enumerate(self.examples.facts)
                if (terms := facts.mode.constants(literal.atom)) is not None]
        if not fits:
            raise self.error(self.no_table(literal))
        if len({shape_of(facts.mode) for _, facts, _ in fits}) < len(fits) or (
                len(fits) > 1 and any(facts.threshold is not None for _, facts, _ in fits)):
            raise self.error(f"several tables have facts like {literal}")
        return min(fits, key=lambda fit: (self.misfits(fit[1], fit[2]), len(fit[2])))

    def misfits(self, facts: CodedFacts, terms: Sequence[Term]) -> int:
        """How many terms stand in places of another type or kind."""
        return sum(self.types.get(self.numbers.get(term, TIME), place.type) != place.type or place.kind == "#"
                   if isinstance(term, Variable) else place.kind != "#"
                   for i, (place, term) in enumerate(zip(facts.mode.places, terms, strict=True)) if i != facts.time)

    def variable(self, variable: Variable, type_: str, literal: Literal, compared: bool) -> int | None:
        """The number of a variable; None if it may be anything: nothing else asks about it."""
        if variable not in self.numbers:
            if variable.anonymous or (self.uses[variable] == 1 and literal.positive):
                return None
            if variable not in self.bound:
                raise self.error(f"{variable} occurs in denied conditions only; write _ if nothing may be there")
        if compared:
            raise self.error(f"the threshold in {literal} is a variable that is used elsewhere")
        number = self.numbers.setdefault(variable, len(self.types))
        if number == TIME or self.types.setdefault(number, type_) != type_:
            raise self.error(f"{variable} is a {self.types.get(number, 'time')}, but {literal} needs a {type_}")
        return number

    def constant(self, term: Term, type_: str) -> Constant:
        value = term.name if isinstance(term, Atom) else term.value if isinstance(term, Number) else None
        if value is None:
            raise self.error(f"{term_text(term)} is neither a variable nor a name nor a number")
        values = self.examples.domains.get(type_, np.empty(0, np.int64))
        if isinstance(value, str) != (values.dtype.kind == "U"):
            return Constant(-1)
        at = np.flatnonzero(values == value)
        return Constant(int(at[0]) if at.size else -1)

    def no_table(self, literal: Literal) -> str:
        if self.examples.target.constants(literal.atom) is not None:
            return f"{literal} asks about what is learnt; only `components` infers such rules"
        known = tuple(dict.fromkeys(facts.mode.subject for facts in self.examples.facts))
        tables = f"there are tables for {', '.join(known) or 'nothing'}"
        return f"no table has facts like {literal}; {did_you_mean(Mode(literal.atom, ()).subject, known, tables)}"


def _canonical(group: Sequence[Condition], arity: int) -> tuple[Condition, ...]:
    """The conditions with their further variables numbered in order."""
    fresh: dict[int, int] = {}
    return tuple(replace(each, places=tuple(
        fresh.setdefault(place, arity + len(fresh)) if isinstance(place, int) and place >= arity else place
        for place in each.places)) for each in group)


@dataclass(frozen=True, slots=True, eq=False)
class Bindings:
    """Values of variables that make conditions true, row by row."""

    values: dict[int, Array]
    rows: int

    @classmethod
    def of(cls, facts: CodedFacts, condition: Condition) -> Bindings:
        """What makes one condition true, its sign aside."""
        keep = np.ones(facts.codes[0].shape[0], np.bool_)
        values: dict[int, Array] = {}
        for i, place in enumerate(condition.places):
            column = facts.codes[i]
            if i == facts.time:
                assert facts.points is not None
                values[TIME] = facts.points
            elif isinstance(place, Constant):
                keep &= column == place.code
            elif isinstance(place, int):
                if place in values:
                    keep &= values[place] == column
                values[place] = column
        if condition.limit is not None:
            assert facts.threshold is not None
            column = facts.codes[facts.threshold]
            keep &= column <= condition.limit if facts.direction == "lessThan" else column >= condition.limit
        return cls({name: column[keep] for name, column in values.items()}, int(np.count_nonzero(keep)))

    def taken(self, rows: Array | Mask) -> Bindings:
        """Some of the rows."""
        number = int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else rows.shape[0]
        return Bindings({name: column[rows] for name, column in self.values.items()}, number)

    def joined(self, other: Bindings) -> Bindings:
        """All pairs of rows that agree in the variables of both."""
        left, right = join(*row_keys(self, other))
        mine, others = self.taken(left), other.taken(right)
        return Bindings(others.values | mine.values, mine.rows)

    def without(self, other: Bindings) -> Bindings:
        """The rows that agree with none of the other, all of whose variables are bound here."""
        left, right = row_keys(self, other)
        return self.taken(~contains(left, right))


def row_keys(left: Bindings, right: Bindings) -> tuple[Array, Array]:
    """A number for each row on both sides, equal where the shared variables are; numbered anew, so that they fit."""
    both = np.zeros(left.rows + right.rows, np.int64)
    for name in left.values.keys() & right.values.keys():
        column = np.concatenate([left.values[name], right.values[name]])
        both = factorize(both * (int(column.max(initial=0)) + 1) + column)[0]
    return both[: left.rows], both[left.rows :]


def solutions_of(conditions: tuple[Condition, ...], batch: Batch) -> Bindings:
    """The solutions of conditions that share variables."""
    positive = [Bindings.of(batch.facts[each.table], each) for each in conditions if each.positive]
    denied = [Bindings.of(batch.facts[each.table], each) for each in conditions if not each.positive]
    bound = {name for each in positive for name in each.values}
    if not all(each.values.keys() <= bound for each in denied):
        positive.append(_grid(batch))  # a denied condition asks about a row, not only about what facts name
    solutions = positive.pop(0)
    while positive:
        shared = [len(solutions.values.keys() & each.values.keys()) for each in positive]
        solutions = solutions.joined(positive.pop(int(np.argmax(shared))))
    return reduce(Bindings.without, denied, solutions)


def _grid(batch: Batch) -> Bindings:
    """Every row of the batch."""
    instances, points = batch.instances.shape[0], batch.times.shape[0]
    values = {i: np.repeat(column, points) for i, column in enumerate(batch.arguments.T)}
    return Bindings(values | {TIME: np.tile(np.arange(points), instances)}, instances * points)


class _Groups:
    """The instances of a batch by some of their arguments: those that agree in them read the same truths."""

    def __init__(self, batch: Batch, sizes: Sequence[int]) -> None:
        self.batch, self.sizes = batch, sizes
        self.known: dict[tuple[int, ...], tuple[Array, Array]] = {}

    def write(self, bindings: Bindings, out: Mask) -> None:
        """The rows, instances by points, for which there is a binding."""
        names = tuple(sorted(name for name in bindings.values if 0 <= name < len(self.sizes)))
        if names not in self.known:
            own = self.numbers(dict(enumerate(self.batch.arguments.T)), names, self.batch.instances.shape[0])
            self.known[names] = np.unique(own, return_inverse=True)
        groups, members = self.known[names]
        wanted = self.numbers(bindings.values, names, bindings.rows)
        at = np.minimum(np.searchsorted(groups, wanted), max(groups.shape[0] - 1, 0))
        found = groups[at] == wanted if groups.shape[0] else np.zeros(bindings.rows, np.bool_)
        if TIME in bindings.values:
            truths = np.zeros((groups.shape[0], out.shape[1]), np.bool_)
            truths[at[found], bindings.values[TIME][found]] = True
            np.take(truths, members, axis=0, out=out)
        else:
            always = np.zeros(groups.shape[0], np.bool_)
            always[at[found]] = True
            out[:] = always[members][:, None]

    def numbers(self, values: Mapping[int, Array], names: tuple[int, ...], rows: int) -> Array:
        """One number for the named arguments of each row; the combinations of all of them are known to fit."""
        total = np.zeros(rows, np.int64)
        for name in names:
            total = total * self.sizes[name] + values[name]
        return total


def _same(template: Same, arguments: Array) -> Mask:
    other = template.other
    found: Mask = arguments[:, template.argument] == (
        other.code if isinstance(other, Constant) else arguments[:, other])
    return found
