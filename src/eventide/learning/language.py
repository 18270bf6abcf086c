"""The conditions that modes allow in rules about one fluent. Which of them are true, is for `columns` to say.

A bottom rule (`bottom`) has the conditions that are true of one example; here are all that can be true of some. Those
about the head's arguments are single literals. Literals that share a variable which the head lacks belong together,
and are one condition. So a rule is a set of conditions, and a rule subsumes another if it has a part of its conditions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np

from eventide.errors import EventideError
from eventide.kernels.arrays import Array, Mask
from eventide.learning.clauses import Clause, Literal, Predicate
from eventide.learning.columns import Layout, layout_of
from eventide.learning.examples import Examples
from eventide.learning.modes import Mode, Modes
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, functor_of, variables_of

MOST = 4096
"""Conditions that a language may have."""
_NAMES = "XYZUVW"

Condition = tuple[Literal, ...]


@dataclass(frozen=True, eq=False)
class Language:
    """The heads and the conditions of rules about a fluent."""

    heads: tuple[Predicate | None, Predicate | None]
    """The head of terminations and that of initiations; None where no modeh allows it."""
    conditions: tuple[Condition, ...]
    bottoms: tuple[tuple[bool, frozenset[Condition]], ...] = ()
    """The user's bottom rules: whether each initiates, and its conditions. Without any, they are built from data."""

    @cached_property
    def distinct(self) -> tuple[Condition, ...]:
        """The conditions that need a column: a literal and its denial share one."""
        found: dict[object, Condition] = {}
        for each in self.conditions:
            found.setdefault(_subject(each), each)
        return tuple(found.values())

    @cached_property
    def columns(self) -> list[int]:
        """For each condition its number among those that are distinct, `~n` for the denial of number n."""
        numbers = {_subject(each): number for number, each in enumerate(self.distinct)}
        return [numbers[_subject(each)] if len(each) > 1 or each[0].positive else ~numbers[_subject(each)]
                for each in self.conditions]

    @property
    def sizes(self) -> Array:
        """The number of literals of each condition."""
        return np.array([len(each) for each in self.conditions], np.int64)

    def bottoms_of(self, initiates: bool) -> Mask:
        """The conditions of the user's bottom rules of one kind, a row for each rule."""
        rows = [[each in body for each in self.conditions] for kind, body in self.bottoms if kind == initiates]
        return np.array(rows, np.bool_).reshape(-1, len(self.conditions))

    def clause(self, initiates: bool, body: Sequence[int]) -> Clause:
        """The rule with these conditions. Variables that the head lacks are apart in different conditions."""
        head = self.heads[initiates]
        assert head is not None
        known = set(variables_of(head))
        names = (Variable(f"{letter}{number or ''}") for number in range(1000) for letter in "ABCDEFGH")
        literals: dict[Literal, None] = {}
        for number in body:
            fresh: dict[Variable, Term] = {}
            for each in self.conditions[number]:
                for variable in variables_of(each.atom):
                    if variable not in known and variable not in fresh:
                        fresh[variable] = next(names)
                literals[Literal(_renamed(each.atom, fresh), each.positive)] = None
        return Clause(head, tuple(literals))


def _subject(condition: Condition) -> object:
    return condition if len(condition) > 1 else condition[0].atom


def language_of(modes: Modes, examples: Examples, *, joined: int = 2, thresholds: int = 8) -> Language:
    """All conditions of rules about the examples' fluent.

    Constants of a type are those that the tables have; a table `dist(#dist)` lists the limits of comparisons with a
    `#dist`. Without one, `thresholds` quantiles of the compared numbers are taken. Literals with variables that the
    head lacks form conditions of up to `joined` literals. If the modes give bottom rules, only their literals count.

    >>> from eventide.learning.examples import examples_of, table
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes('''modeh(initiatedAt(meet(+person,+person),+time))
    ... modeb(near(+person,+person,#dist,+time))
    ... modeb(not happensAt(run(+person),+time))
    ... comparisonPredicate(near(+person,+person,#dist,+time), lessThan, comparison_term_position(3))
    ... irreflexive(near)''')
    >>> near = table("near(+person,+person,#dist,+time)", ["ann"], ["bob"], [3], [1])
    >>> tables = [near, table("dist(#dist)", [5]), table("happensAt(run(+person),+time)", ["ann"], [2])]
    >>> examples = examples_of(modes, tables, table("holdsAt(meet(+person,+person),+time)", ["ann"], ["bob"], [2]))
    >>> for condition in language_of(modes, examples).conditions:
    ...     print(*condition)
    near(X, Y, 5, T)
    near(Y, X, 5, T)
    \\+ happensAt(run(X), T)
    \\+ happensAt(run(Y), T)
    """
    if joined < 1:
        raise EventideError(f"conditions have at least one literal, not {joined}")
    target = examples.target
    names = [Variable(_NAMES[i] if i < len(_NAMES) else f"X{i}") for i in range(len(target.places) - 1)]
    assert isinstance(target.atom, Compound)
    filled = target.filled([*names, Variable("T")])
    assert isinstance(filled, Compound)
    allowed = {functor_of(head.atom)[0] for head in modes.heads if head.subject == target.subject}
    heads = tuple(Compound(name, filled.args) if name in allowed else None for name in ("terminatedAt", "initiatedAt"))
    if heads == (None, None):
        raise EventideError(f"no modeh is a change of {target.subject}: write modeh(initiatedAt(...)) for it")
    if modes.bottoms:
        bottoms = _of_bottoms(modes.bottoms, heads)
        conditions = dict.fromkeys(condition for _, body in bottoms for condition in body)
        return Language((heads[0], heads[1]), tuple(conditions),
                        tuple((initiates, frozenset(body)) for initiates, body in bottoms))
    known: dict[str, list[Variable]] = {target.places[-1].type: [Variable("T")]}
    for name, place in zip(names, target.places, strict=False):
        known.setdefault(place.type, []).append(name)
    found: dict[Condition, None] = {}
    for condition in _conditions(modes, examples, known, joined, thresholds):
        found[condition] = None
        if len(found) > MOST:
            raise EventideError(f"the modes allow more than {MOST} conditions; allow fewer constants or variables")
    return Language((heads[0], heads[1]), tuple(found))


def columns_of(language: Language, examples: Examples) -> Layout:
    """The layout of the columns for all conditions; `Language.columns` says which is whose.

    The columns are the same for all examples, also for such as lack some constants, so that what is remembered of one
    can be compared with the others.
    """
    head = language.heads[1] or language.heads[0]
    assert head is not None
    distinct = [condition if len(condition) > 1 else (Literal(condition[0].atom),) for condition in language.distinct]
    layout = layout_of([Clause(head, condition) for condition in distinct], examples)
    for body, condition in zip(layout.bodies, distinct, strict=True):
        if len(body) != 1:
            raise EventideError(f"{', '.join(map(str, condition))}: the literals share no variable")
    return replace(layout, templates=tuple(layout.templates[body[0]] for body in layout.bodies),
                   bodies=tuple((number,) for number in range(len(distinct))))


def _conditions(modes: Modes, examples: Examples, known: dict[str, list[Variable]], joined: int,
                thresholds: int) -> Iterator[Condition]:
    for mode in modes.bodies:
        for literal, fresh in _literals(mode, modes, examples, known, thresholds, outputs=True):
            yield (literal,)
            if not fresh:
                continue
            more = {name: [*known.get(name, []), *(v for v, type_ in fresh.items() if type_ == name)]
                    for name in {*known, *fresh.values()}}
            others = [other for again in modes.bodies
                      for other, _ in _literals(again, modes, examples, more, thresholds, outputs=False)
                      if other != literal and set(variables_of(other.atom)) & fresh.keys()]
            for number in range(1, joined):
                for chosen in combinations(others, number):
                    yield (literal, *chosen)


def _literals(mode: Mode, modes: Modes, examples: Examples, known: dict[str, list[Variable]], thresholds: int,
              outputs: bool) -> Iterator[tuple[Literal, dict[Variable, str]]]:
    """The literals of a mode over known variables, each with the variables that it brings, by their types."""
    choices: list[Sequence[Term]] = []
    for i, place in enumerate(mode.places):
        if place.kind == "#":
            choices.append(_constants(mode, i, examples, thresholds))
        elif place.kind == "-" and outputs:
            choices.append([*known.get(place.type, []), Variable(f"N{i}")])
        else:
            choices.append(known.get(place.type, []))
    for terms in product(*choices):
        fresh = {term: place.type for place, term in zip(mode.places, terms, strict=True)
                 if isinstance(term, Variable) and term not in known.get(place.type, [])}
        things = [(place.type, term) for place, term in zip(mode.places, terms, strict=True) if place.kind != "#"]
        if mode.subject in modes.irreflexive and len(set(things)) < len(things):
            continue
        yield Literal(mode.filled(terms), mode.positive), fresh


def _constants(mode: Mode, at: int, examples: Examples, thresholds: int) -> list[Term]:
    """What may stand in a `#` place."""
    type_ = mode.places[at].type
    probe = mode.filled([Variable("_") for _ in mode.places])
    for facts in examples.facts:
        if facts.threshold == at and facts.mode.constants(probe) is not None:
            if len(examples.domains.get(type_, ())):  # a table that lists none is none
                break
            compared = facts.codes[at]
            if not compared.shape[0]:
                return []
            limits = np.quantile(compared, np.arange(1, thresholds + 1) / (thresholds + 1))
            limits = np.unique(limits.round(_decimals(compared)))
            return [_term(limit) for limit in limits.tolist()]
    values = examples.domains.get(type_)
    if values is None:
        raise EventideError(f"nothing says what constants a #{type_} of {mode} may be; add a table {type_}(#{type_})")
    return [_term(value) for value in values.tolist()]


def _decimals(values: Array) -> int:
    """The decimals of limits for these numbers: none for whole numbers, else as many as tell a thousandth apart.

    >>> _decimals(np.array([0.0, 0.5])), _decimals(np.array([3, 4])), _decimals(np.array([0.5, 1e6]))
    (4, 0, 0)
    """
    if (values == np.floor(values)).all():
        return 0
    spread = float(values.max() - values.min()) or abs(float(values[0]))
    return max(0, 3 - math.floor(math.log10(spread)))


def _term(value: str | float) -> Term:
    if isinstance(value, str):
        return Atom(value)
    return Number(int(value) if float(value).is_integer() else value)


def _of_bottoms(bottoms: Sequence[Clause], heads: Sequence[Predicate | None]) -> list[tuple[bool, list[Condition]]]:
    """The user's bottom rules: whether each initiates, and its conditions, with the variables of our heads."""
    found: list[tuple[bool, list[Condition]]] = []
    for bottom in bottoms:
        initiates = functor_of(bottom.head)[0] == "initiatedAt"
        head = heads[initiates]
        names: dict[Variable, Term] = {}
        if head is None or not _bind(bottom.head, head, names):
            raise EventideError(f"{term_text(bottom.head)} is not the head of a change that a modeh allows")
        body: list[Condition] = []
        for literal in bottom.body:
            atom = _renamed(literal.atom, names)
            if not set(variables_of(atom)) <= set(variables_of(head)):
                raise EventideError(f"{literal} in a bottom rule has a variable that its head lacks")
            body.append((Literal(atom, literal.positive),))
        found.append((initiates, body))
    return found


def _bind(pattern: Term, term: Term, names: dict[Variable, Term]) -> bool:
    if isinstance(pattern, Variable):
        return names.setdefault(pattern, term) == term
    if isinstance(pattern, Compound):
        return (isinstance(term, Compound) and functor_of(pattern) == functor_of(term)
                and all(_bind(a, b, names) for a, b in zip(pattern.args, term.args, strict=True)))
    return pattern == term


def _renamed(term: Any, names: dict[Variable, Term]) -> Any:
    if isinstance(term, Variable):
        return names.get(term, term)
    if isinstance(term, Compound):
        return Compound(term.functor, tuple(_renamed(arg, names) for arg in term.args))
    return term
