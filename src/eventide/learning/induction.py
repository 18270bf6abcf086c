"""New rules that make the fewest mistakes: exact over signatures and runs. How rules fare later is not decided here.

Katzouris and Artikis (KR 2020), Algorithm 2: of the rules that subsume bottom rules those are wanted for which the sum
of literals, heads included, and of wrong states is least. What existing rules conclude is given: their most probable
heads do not depend on the new ones. The new rules are added to it as they are, without weights.

The best initiation together with the best termination comes from an enumeration of all bodies up to a length, of which
those that fire alike are one (`kernels.enumeration`). Further rules are added in the same way as long as they pay, and
each rule is exchanged for a better one if there is any, given the others: exact in each step. `induction_solver` has
the optimum over any number of rules and any length, if there is time for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from eventide.errors import EventideError
from eventide.kernels.arrays import Array, Mask, Words
from eventide.kernels.enumeration import best_pair, theory_costs
from eventide.kernels.runs import FREE, SET, Forced, Runs
from eventide.learning.signatures import Signatures, forced_by

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Body = tuple[int, ...]
STEPS = 20
"""How many times the effort of one step all steps together have, until the theory is taken as it then is."""
_SCALE = 10  # costs are whole numbers
_KINDS: dict[type, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "a word",
                           tuple: "a pair of numbers"}
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Search:
    """How far to look, and what a mistake costs. The costs of literals and mistakes are whole numbers."""

    longest: tuple[int, int] = (2, 3)
    """The most literals of terminations, and of initiations."""
    most_bodies: tuple[int, int] = (2000, 20000)
    """How many bodies of terminations and initiations are looked at, in order of length."""
    effort: int = 50_000_000
    """How much is done for one step: initiations that are tried, the most promising first, times terminations / 64
    times runs. With less data than that, steps are exact."""
    most_rules: int = 10
    """The most rules of a theory."""
    grown: int = 20
    """The most conditions of a rule that grows condition by condition, where shorter ones leave many mistakes; 0 for
    none. Theories with such rules are taken if they leave half as many."""
    literal_cost: int = 1
    """What a literal costs, in mistakes: a condition stays if it saves more."""
    missed_cost: int = 1
    """What a false negative costs."""
    false_cost: int = 1
    """What a false positive costs."""
    conflicts: int = 0
    """How long clingo may look for better rules of any length, by its conflicts; 0 for not at all."""
    most_bottoms: int = 20
    """How many bottom rules of each kind clingo is given."""

    def __post_init__(self) -> None:
        check_kinds(self)
        for name in ("longest", "most_bodies"):
            value = getattr(self, name)
            if len(value) != 2 or any(type(each) is not int or each < 0 for each in value):
                raise EventideError(f"{name} has a whole number for terminations and one for initiations, not {value}")
        for name in ("effort", "most_rules", "grown", "literal_cost", "missed_cost", "false_cost", "conflicts",
                     "most_bottoms"):
            if getattr(self, name) < 0:
                raise EventideError(f"{name} is at least 0, not {getattr(self, name)}")


def check_kinds(options: DataclassInstance) -> None:
    """Refuse options whose values are not of the kind that their defaults are.

    >>> check_kinds(Search(most_rules=2.5))
    Traceback (most recent call last):
    eventide.errors.EventideError: most_rules is a whole number, not 2.5
    """
    for each in fields(options):
        value = getattr(options, each.name)
        kind = type(each.default if each.default_factory is MISSING else each.default_factory())
        if isinstance(value, int | np.integer) and kind is (float if type(value) is int else int):
            continue
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool) or value != value:
            raise EventideError(f"{each.name} is {_KINDS.get(kind, f'a {kind.__name__}')}, not {value!r}")


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Signatures with their runs, what existing rules do, and the bottom rules."""

    signatures: Signatures
    truths: Mask
    """Where each condition is true, by signatures."""
    sizes: Array
    """The literals of each condition."""
    bottoms: tuple[Mask, Mask]
    """The conditions of each bottom rule: of terminations, of initiations. A row for each rule."""
    forced: Forced | None = None
    """What existing rules do at each signature."""

    def runs(self, search: Search, forced: Forced | None = None) -> Runs:
        """The runs with the costs of mistakes."""
        given = self.forced if forced is None else forced
        return self.signatures.runs(np.zeros(self.truths.shape[1], np.int8) if given is None else given,
                                    search.false_cost, search.missed_cost)


@dataclass(frozen=True, slots=True)
class Rule:
    """A new rule: whether it initiates, and the numbers of its conditions."""

    initiates: bool
    body: Body


@dataclass(frozen=True, slots=True)
class Induced:
    """New rules, what they cost with their mistakes, and what it cost without them."""

    rules: tuple[Rule, ...]
    cost: int
    cost_before: int
    exact: bool
    """Whether nothing was left out for lack of room or time, so that each step was exact."""
    theories: int = 0
    """How many pairs of rules were there to choose from, in all steps."""
    mistakes: int = field(default=0)
    spent: bool = False
    """Whether the effort for all steps was used up, so that further steps may pay."""


@dataclass(frozen=True, eq=False)
class Bodies:
    """Bodies of one kind that fire differently, the first being none at all; where they fire, and what they cost."""

    bodies: tuple[Body | None, ...]
    fires: Mask
    sizes: Array
    complete: bool

    @cached_property
    def turned(self) -> Mask:
        """Where they fire, a row for each signature."""
        return np.ascontiguousarray(self.fires.T)

    def none(self) -> Bodies:
        """Only the choice of none."""
        return Bodies(self.bodies[:1], self.fires[:1], self.sizes[:1], self.complete)


def bodies_of(truths: Mask, bottoms: Mask, sizes: Array, longest: int, most: int, cost: int = 1) -> Bodies:
    """All bodies of up to `longest` literals that are part of a bottom rule; of those that fire alike the shortest.

    A body that fires like a shorter one is not extended: neither is what it could become better than that of the
    other. `sizes` are the literals of conditions, `cost` is that of a literal; the head counts as one.

    >>> truths = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0]], bool)
    >>> found = bodies_of(truths, np.array([[1, 1, 1]], bool), np.ones(3, np.int64), 2, 100)
    >>> found.bodies, found.sizes.tolist()
    ((None, (), (0,), (1,)), [0, 1, 2, 2])
    """
    signatures = truths.shape[1]
    keys = _words(np.concatenate([truths, bottoms.T], axis=1))
    allowed = _words(np.concatenate([np.zeros(signatures, np.bool_), np.ones(bottoms.shape[0], np.bool_)])[None])[0]
    everywhere = _words(np.ones((min(bottoms.shape[0], 1), signatures + bottoms.shape[0]), np.bool_))
    levels: list[tuple[list[Body], Words]] = [([()] * everywhere.shape[0], everywhere)]
    # Of conditions that are true alike the shortest will do.
    numbers = np.flatnonzero(bottoms.any(axis=0)) if bottoms.size else np.empty(0, np.int64)
    numbers = numbers[np.argsort(sizes[numbers], kind="stable")]
    used = np.sort(numbers[_first_of_equals(keys[numbers])]).tolist()
    complete = True
    for length in range(1, longest + 1):
        room = most - sum(len(bodies) for bodies, _ in levels)
        known = np.concatenate([words for _, words in levels])
        parts, origins = [known], list[tuple[int, int, Array]]()
        for number in used:
            size = int(sizes[number])
            if size <= length:
                extended = levels[length - size][1] & keys[number]
                possible = np.flatnonzero((extended & allowed).any(axis=1))
                parts.append(extended[possible])
                origins.append((number, length - size, possible))
        rows = np.concatenate(parts)
        new = _first_of_equals(rows)
        new = new[new >= known.shape[0]]
        complete &= new.shape[0] <= room
        new = new[: max(room, 0)]
        ends = np.cumsum([part.shape[0] for part in parts])
        bodies = []
        for at, part in zip(new.tolist(), np.searchsorted(ends, new, side="right").tolist(), strict=True):
            number, level, possible = origins[part - 1]
            bodies.append((*levels[level][0][possible[at - ends[part - 1]]], number))
        levels.append((bodies, rows[new]))
    return _distinct(levels, signatures, cost, complete)


def _distinct(levels: list[tuple[list[Body], Words]], signatures: int, cost: int, complete: bool) -> Bodies:
    """The bodies that differ where it counts, with none at all as the first."""
    words = np.concatenate([words for _, words in levels])
    fires = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :signatures].astype(np.bool_)
    fires = np.concatenate([np.zeros((1, signatures), np.bool_), fires])
    kept = _first_of_equals(_words(fires))
    named: list[Body | None] = [None, *(tuple(sorted(body)) for bodies, _ in levels for body in bodies)]
    lengths = np.repeat(np.arange(len(levels) + 1), [1, *(len(bodies) for bodies, _ in levels)])
    return Bodies(tuple(named[at] for at in kept.tolist()), np.ascontiguousarray(fires[kept]), lengths[kept] * cost,
                  complete)


def _first_of_equals(rows: Words) -> Array:
    """The first of each set of equal rows, ascending. Rows are compared by a hash, and then by themselves."""
    if rows.shape[0] < 2:
        return np.arange(rows.shape[0])
    hashes = np.zeros(rows.shape[0], np.uint64)
    for column in rows.T:
        hashes = (hashes ^ column) * _ODD
        hashes ^= hashes >> np.uint64(29)
    _, first, number = np.unique(hashes, return_index=True, return_inverse=True)
    if (rows != rows[first[number]]).any():
        first = np.unique(rows, axis=0, return_index=True)[1]
    return np.sort(first)


def _words(rows: Mask) -> Words:
    packed = np.zeros((rows.shape[0], (rows.shape[1] + 63) // 64 * 8), np.uint8)
    bits = np.packbits(rows, axis=1, bitorder="little")
    packed[:, : bits.shape[1]] = bits
    return packed.view(np.uint64)


def fires_at(truths: Mask, body: Sequence[int]) -> Mask:
    """The signatures where a body is true.

    >>> fires_at(np.array([[1, 1, 0], [0, 1, 1]], bool), (0, 1)).tolist()
    [False, True, False]
    """
    found: Mask = np.logical_and.reduce(truths[list(body)], axis=0, initial=True)
    return found


def with_rules(task: Task, rules: Sequence[Rule]) -> Forced:
    """What is forced at each signature once rules are added to those that are there."""
    on = np.zeros((2, task.truths.shape[1]), np.bool_)
    if task.forced is not None:
        on[1], on[0] = task.forced == SET, task.forced != FREE
    for rule in rules:
        on[int(rule.initiates)] |= fires_at(task.truths, rule.body)
    return forced_by(on)


def mistakes_of(task: Task, rules: Sequence[Rule], search: Search | None = None) -> int:
    """What the wrong states cost with these rules added; with the default costs, how many they are."""
    never = np.zeros((1, task.truths.shape[1]), np.bool_)
    return int(theory_costs(task.runs(search or Search(), with_rules(task, rules)), never, never)[0, 0])


def f1_of(task: Task, rules: Sequence[Rule]) -> float:
    """The F1 of the states with these rules added; 0 if none is right."""
    false, missed = (mistakes_of(task, rules, Search(false_cost=a, missed_cost=1 - a)) for a in (1, 0))
    right = int(task.signatures.ups.sum()) - missed
    return 2 * right / (2 * right + false + missed) if right else 0.0


def search_for_f1(search: Search, f1: float) -> Search:
    """The search for theories with a higher F1 than `f1`.

    F1 is 2 tp / (2 tp + fp + fn), and with n labels tp is n - fn. So a theory has a higher F1 than f exactly if its
    (2 - f) fn + f fp is below 2 (1 - f) n: states that are missed cost 2 - f, false ones f (Dinkelbach, 1967).

    >>> search = search_for_f1(Search(), 0.5)
    >>> search.missed_cost, search.false_cost, search.literal_cost
    (15, 5, 10)
    """
    return replace(search, false_cost=round(_SCALE * f1) * search.false_cost, literal_cost=_SCALE * search.literal_cost,
                   missed_cost=round(_SCALE * (2 - f1)) * search.missed_cost)


def size_of(rule: Rule, sizes: Array) -> int:
    """The literals of a rule, its head included."""
    return 1 + sum(int(sizes[number]) for number in rule.body)


def induce(task: Task, search: Search | None = None, start: Sequence[Rule] = (), anew: bool = True) -> Induced:
    """The rules worth adding to those that exist. `start` is a first try, which is improved; another begins with none.

    >>> from eventide.learning.signatures import chunk_of, signatures_of
    >>> columns = np.array([[1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]], bool)
    >>> after = np.array([1, 1, 1, 0, 0, 0], np.int8)
    >>> found = signatures_of([chunk_of(columns, np.zeros(6, bool), after, np.array([0]), 6)], [0], [True])
    >>> truths, both = found.truths([0, 1]), np.eye(2, dtype=bool)
    >>> induce(Task(found, truths, np.ones(2, np.int64), (both, both)), Search(literal_cost=0)).rules
    (Rule(initiates=True, body=(0,)), Rule(initiates=False, body=(1,)))
    """
    search = search or Search()
    theory = _Theory(task, search)
    before = mistakes_of(task, (), search)
    rules, cost = theory.improved((), before, pairs=False)
    short = all(size_of(rule, task.sizes) <= search.longest[rule.initiates] + 1 for rule in start)
    if start and short:
        # From where one is, and from nothing: the steps may end in different theories.
        again = theory.improved(start, cost_of(task, start, search), pairs=False)
        rules, cost = again if again[1] <= cost else (rules, cost)
    rules, cost = theory.improved(rules, cost, pairs=True)
    if search.grown:
        rules, cost = _grown(task, search, rules, cost, () if short else start, anew)
    if search.conflicts:
        rules, cost = _solved(task, search, rules, cost)
    return Induced(tuple(rules), cost, before, theory.exact, theory.theories, mistakes_of(task, rules, search),
                   theory.left <= 0)


class _Theory:
    """Rules that are improved step by step: a part of them is taken out, and the best for its place is put in."""

    def __init__(self, task: Task, search: Search) -> None:
        self.task, self.search = task, search
        self.kinds = [bodies_of(task.truths, task.bottoms[kind], task.sizes, search.longest[kind],
                                search.most_bodies[kind], search.literal_cost) for kind in (0, 1)]
        self.rules: list[Rule] = []
        self.cost = 0
        self.theories = 0
        self.left = STEPS * search.effort
        self.exact = all(kind.complete for kind in self.kinds)

    def improved(self, start: Sequence[Rule], cost: int, pairs: bool) -> tuple[list[Rule], int]:
        """The rules after all steps that pay, and their cost; with `pairs`, after the larger steps too."""
        self.rules, self.cost = list(start), cost
        if pairs and not self.exchange(pairs=True):
            return self.rules, self.cost
        while self.add() | self.exchange(pairs=False) or (pairs and self.exchange(pairs=True)):
            pass
        return self.rules, self.cost

    def add(self) -> bool:
        """Add an initiation and a termination, or one of them, as long as that pays."""
        improved = False
        while len(self.rules) < self.search.most_rules and self.put([], (True, True)):
            improved = True
        return improved

    def exchange(self, pairs: bool) -> bool:
        """Put something better in the place of each rule: one of its kind, or a pair of rules."""
        improved = False
        for rule in reversed(self.rules.copy()):
            kinds = (True, True) if pairs else (not rule.initiates, rule.initiates)
            if rule in self.rules and self.put([rule], kinds):
                improved = True
        return improved

    def put(self, out: list[Rule], kinds: tuple[bool, bool]) -> bool:
        """Replace some rules by new ones of these kinds: whether that pays. Exact."""
        if self.left <= 0:
            self.exact = False
            return False
        rest = [rule for rule in self.rules if rule not in out]
        fixed = sum(size_of(rule, self.task.sizes) for rule in rest) * self.search.literal_cost
        clears, sets = (each if wanted else each.none() for each, wanted in zip(self.kinds, kinds, strict=True))
        runs = self.task.runs(self.search, with_rules(self.task, rest))
        each = max(runs.signatures.shape[0], 1) * (len(clears.bodies) // 64 + 1)
        found = best_pair(runs, sets.fires, clears.fires, sets.sizes, clears.sizes, self.cost - fixed,
                          max(self.search.effort // each, 20), sets.turned)
        self.exact &= found.exact
        self.left -= len(sets.bodies) * max(runs.signatures.shape[0], 1) + found.tried * each
        self.theories += len(clears.bodies) * len(sets.bodies)
        if found.sets < 0:
            return False
        new = [Rule(initiates, body) for initiates, body in ((True, sets.bodies[found.sets]),
                                                             (False, clears.bodies[found.clears])) if body is not None]
        self.rules, self.cost = [*rest, *new], found.cost + fixed
        return True


def _grown(task: Task, search: Search, rules: list[Rule], cost: int, start: Sequence[Rule],
           anew: bool) -> tuple[list[Rule], int]:
    """The rules with long bodies, if they leave half the mistakes."""
    from eventide.learning.growing import grown  # it stands above what is here

    long, less = grown(task, search, rules, start, anew)
    half = 2 * mistakes_of(task, long, search) <= mistakes_of(task, rules, search)
    return (long, less) if less < cost and half else (rules, cost)


def _solved(task: Task, search: Search, rules: list[Rule], cost: int) -> tuple[list[Rule], int]:
    """The rules that clingo finds, if they are better."""
    from eventide.learning.induction_solver import solve  # it takes time to load, and is seldom asked

    bottoms = tuple(_maximal(each)[: search.most_bottoms] for each in task.bottoms)
    found = solve(replace(task, bottoms=(bottoms[0], bottoms[1])), search, cost, search.conflicts)
    return (rules, cost) if found.rules is None else (list(found.rules), found.cost)


def _maximal(bottoms: Mask) -> Mask:
    """The bottom rules with the most conditions first."""
    order = np.argsort(-bottoms.sum(axis=1), kind="stable")
    return np.ascontiguousarray(bottoms[order])


def cost_of(task: Task, rules: Sequence[Rule], search: Search) -> int:
    size = sum(size_of(rule, task.sizes) for rule in rules) * search.literal_cost
    return mistakes_of(task, rules, search) + size
