"""Answers to the conditions of a body, one by one, by plain resolution. What is known comes from a `Knowledge`.

Conditions are taken from left to right; one that has too few bound variables (a comparison, a negation, a `holdsAt`)
waits until the others have bound them. A variable that occurs only inside a negation or a `findall` is local to it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol

from eventide.syntax import trees
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable, functor_of, variables_of

from . import timeline
from .terms import (
    NotReady,
    Substitution,
    calculate,
    intervals_of_term,
    is_bound,
    order_of,
    rename,
    term_of_intervals,
    unify,
    walk,
)
from .timeline import Grid, Intervals

Key = tuple[str, int]
Variables = frozenset[Variable]
DEPTH = 60

_ARITHMETIC: dict[str, Callable[[Any, Any], bool]] = {
    "=:=": operator.eq,
    "=\\=": operator.ne,
    "<": operator.lt,
    "=<": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


_STANDARD: dict[str, Callable[[Any, Any], bool]] = {
    "@<": operator.lt, "@=<": operator.le, "@>": operator.gt, "@>=": operator.ge}


class Unsafe(ValueError):
    """A rule leaves a variable of its head without a value."""


class Knowledge(Protocol):
    """What a body can ask for. A pair `F=V` is the term `=(F, V)`; the `Key` is that of the event or of F."""

    grid: Grid
    until: int
    begin: float

    def happenings(self, key: Key, time: int | None) -> Iterable[tuple[Term, int]]: ...
    def boundaries(self, kind: str, key: Key, time: int | None) -> Iterable[tuple[Term, int]]: ...
    def changes(self, kind: str, key: Key, time: int | None) -> Iterable[tuple[Term, int]]: ...
    def held(self, key: Key, time: int) -> Iterable[Term]: ...
    def periods(self, key: Key) -> dict[Term, Intervals]: ...
    def clauses(self, key: Key) -> Iterable[trees.BackgroundClause]: ...


@dataclass(frozen=True)
class Domain:
    """Where the variables of a head may come from when the body does not bind them: terms the head must match."""

    head: Term
    members: tuple[Term, ...] | None

    def extensions(self, bindings: Substitution) -> list[Substitution] | None:
        """The bindings with a member chosen; None where there is nothing to choose."""
        if self.members is None or is_bound(self.head, bindings):
            return None
        chosen = [unify(self.head, member, bindings) for member in self.members]
        return [c for c in chosen if c is not None]


NOWHERE = Domain(Atom("none"), None)


def pair_term(pair: trees.FluentValue) -> Term:
    """`F=V` as one term."""
    return Compound("=", (pair.fluent, pair.value))


def pair_key(pair: Term) -> Key:
    """The key of the fluent of a pair term."""
    assert isinstance(pair, Compound)
    return functor_of(pair.args[0])


def substitute(node: Any, bindings: Substitution) -> Any:
    """A condition, or any part of one, with its variables replaced."""
    if isinstance(node, Variable | Atom | Number | Compound | ListTerm):
        return walk(node, bindings)
    if isinstance(node, tuple):
        return tuple(substitute(n, bindings) for n in node)
    if is_dataclass(node) and not isinstance(node, type):
        parts = {f.name: getattr(node, f.name) for f in fields(node) if f.name != "span"}
        return replace(node, **{name: substitute(part, bindings) for name, part in parts.items()})
    return node


_variables: dict[int, tuple[Any, Variables]] = {}


def variables_in(node: Any) -> Variables:
    """All variables of a condition or a body."""
    if id(node) not in _variables:
        if len(_variables) > 50_000:
            _variables.clear()
        if isinstance(node, Variable | Atom | Number | Compound | ListTerm):
            found = frozenset(variables_of(node))
        elif isinstance(node, tuple):
            found = frozenset().union(*map(variables_in, node))
        elif is_dataclass(node):
            found = frozenset().union(*(variables_in(getattr(node, f.name)) for f in fields(node) if f.name != "span"))
        else:
            found = frozenset()
        _variables[id(node)] = (node, found)
    return _variables[id(node)][1]


class Solver:
    """Finds the bindings that make a body true."""

    def __init__(self, known: Knowledge) -> None:
        self.known = known
        self.depth = 0

    def solve(self, body: trees.Body, bindings: Substitution, outside: Variables,
              domain: Domain = NOWHERE) -> list[Substitution]:
        """All bindings under which the body is true; `outside` are the variables that also occur elsewhere."""
        if not body:
            return [bindings]
        for index, condition in enumerate(body):
            rest = body[:index] + body[index + 1 :]
            seen = outside.union(*map(variables_in, rest))
            try:
                answers = self.look(condition, bindings, seen)
            except NotReady:
                continue
            further = outside | variables_in(condition)
            return [s for answer in answers for s in self.solve(rest, answer, further, domain)]
        choices = domain.extensions(bindings)
        if choices is None:
            choices = self.instances(body, bindings, outside)
        return [s for choice in choices for s in self.solve(body, choice, outside, domain)]

    def instances(self, body: trees.Body, bindings: Substitution, outside: Variables) -> list[Substitution]:
        """The bindings with a value for one variable of a waiting `holdsFor`, from the periods that are known."""
        waiting = [c for c in body if isinstance(c, trees.HoldsFor)]
        unbound = [v for c in waiting for v in variables_of(pair_term(c.pair))
                   if not is_bound(v, bindings) and self.shared(v, c, body, outside)]
        if not unbound:
            raise NotReady
        variable = unbound[0]
        values: dict[Term, None] = {}
        for condition in waiting:
            pattern = pair_term(condition.pair)
            for pair in self.known.periods(pair_key(walk(pattern, bindings))):
                matched = unify(pattern, pair, bindings)
                if matched is not None and variable in matched:
                    values[walk(variable, matched)] = None
        return [{**bindings, variable: value} for value in values]

    @staticmethod
    def shared(variable: Variable, condition: trees.Condition, body: trees.Body, outside: Variables) -> bool:
        return variable in outside or any(variable in variables_in(c) for c in body if c is not condition)

    def look(self, condition: trees.Condition, bindings: Substitution, outside: Variables) -> list[Substitution]:
        """All bindings under which one condition is true."""
        match condition:
            case trees.Happens(event, time):
                found = self.known.happenings(functor_of(walk(event, bindings)), self.moment(time, bindings))
                return self.match(found, event, time, bindings)
            case trees.Boundary(kind, pair, time):
                pattern = walk(pair_term(pair), bindings)
                found = self.known.boundaries(kind, pair_key(pattern), self.moment(time, bindings))
                return self.match(found, pattern, time, bindings)
            case trees.Changed(kind, pair, time):
                pattern = walk(pair_term(pair), bindings)
                found = self.known.changes(kind, pair_key(pattern), self.moment(time, bindings))
                return self.match(found, pattern, time, bindings)
            case trees.Holds(pair, time):
                moment = self.moment(time, bindings)
                if moment is None:
                    raise NotReady
                pattern = walk(pair_term(pair), bindings)
                matched = [unify(pattern, p, bindings) for p in self.known.held(pair_key(pattern), moment)]
                return [m for m in matched if m is not None]
            case trees.HoldsFor(pair, interval):
                return self.holds_for(pair_term(pair), interval, bindings, outside)
            case trees.IntervalOperation():
                return self.bind(condition.output, self.operation(condition, bindings), bindings)
            case trees.Allen(relation, source, target, mode, output):
                result = timeline.allen(relation, intervals_of_term(source, bindings),
                                        intervals_of_term(target, bindings), mode, self.known.grid)
                return [] if result is None else self.bind(output, result, bindings)
            case trees.Guard(interval, nonempty):
                return [bindings] if bool(intervals_of_term(interval, bindings)) == nonempty else []
            case trees.Compare(sign, left, right):
                return self.compare(sign, left, right, bindings)
            case trees.Is(target, expression):
                extended = unify(target, Number(calculate(expression, bindings)), bindings)
                return [] if extended is None else [extended]
            case trees.Call(predicate):
                return self.call(walk(predicate, bindings), bindings)
            case trees.FindAll(template, goals, output):
                self.need((variables_in(goals) - variables_in(template)) & outside, bindings)
                inner = outside | variables_in(template)
                items = tuple(walk(template, s) for s in self.solve(goals, bindings, inner))
                extended = unify(output, ListTerm(items), bindings)
                return [] if extended is None else [extended]
            case trees.Length(items, amount):
                listed = walk(items, bindings)
                if not isinstance(listed, ListTerm) or listed.tail is not None:
                    raise NotReady
                extended = unify(amount, Number(len(listed.items)), bindings)
                return [] if extended is None else [extended]
            case trees.Not(goals):
                self.need(variables_in(goals) & outside, bindings)
                return [] if self.solve(goals, bindings, outside) else [bindings]
            case trees.Or(alternatives):
                return [s for goals in alternatives for s in self.solve(goals, bindings, outside)]
            case trees.Cut():
                return [bindings]
        raise TypeError(f"no condition: {condition}")

    def moment(self, time: Term, bindings: Substitution) -> int | None:
        """The time if it is known already."""
        return None if isinstance(walk(time, bindings), Variable) else int(calculate(time, bindings))

    @staticmethod
    def need(variables: Iterable[Variable], bindings: Substitution) -> None:
        if not all(is_bound(v, bindings) for v in variables):
            raise NotReady

    @staticmethod
    def match(found: Iterable[tuple[Term, int]], pattern: Term, time: Term, bindings: Substitution
              ) -> list[Substitution]:
        result = []
        for term, moment in found:
            extended = unify(pattern, term, bindings)
            if extended is not None:
                extended = unify(time, Number(moment), extended)
            if extended is not None:
                result.append(extended)
        return result

    @staticmethod
    def bind(output: Term, intervals: Intervals, bindings: Substitution) -> list[Substitution]:
        extended = unify(output, term_of_intervals(intervals), bindings)
        return [] if extended is None else [extended]

    def holds_for(self, pattern: Term, interval: Term, bindings: Substitution, outside: Variables
                  ) -> list[Substitution]:
        """The periods of a pair; of all its instances together where an argument is a variable of its own."""
        self.need(set(variables_of(pattern)) & outside, bindings)
        pattern = walk(pattern, bindings)
        known = self.known.periods(pair_key(pattern))
        periods = timeline.union([p for pair, p in known.items() if unify(pattern, pair, {}) is not None])
        return self.bind(interval, periods, bindings)

    def operation(self, op: trees.IntervalOperation, bindings: Substitution) -> Intervals:
        inputs = [intervals_of_term(i, bindings) for i in op.inputs]
        base = intervals_of_term(op.base, bindings) if op.base is not None else []
        match op.operation:
            case "union":
                return timeline.union(inputs)
            case "intersect":
                return timeline.intersect(inputs)
            case "complement":
                return timeline.complement(inputs, self.known.begin)
            case "relative_complement":
                return timeline.difference(base, inputs)
            case "same":
                return base
        assert op.amount is not None
        amount = calculate(op.amount, bindings)
        if op.operation == "longer":
            return [(s, e) for s, e in base if min(e, self._open_end(e)) - s > amount]
        return [(s, e) for s, e in base if min(e, self._open_end(e)) - s < amount]

    def _open_end(self, end: float) -> float:
        """An open interval has lasted until the query time."""
        return self.known.until if end == timeline.INF else end

    def compare(self, sign: str, left: Term, right: Term, bindings: Substitution) -> list[Substitution]:
        if sign in _ARITHMETIC:
            return [bindings] if _ARITHMETIC[sign](calculate(left, bindings), calculate(right, bindings)) else []
        if sign == "=":
            extended = unify(left, right, bindings)
            return [] if extended is None else [extended]
        self.need([*variables_of(left), *variables_of(right)], bindings)
        one, other = walk(left, bindings), walk(right, bindings)
        if sign in _STANDARD:
            return [bindings] if _STANDARD[sign](order_of(one), order_of(other)) else []
        return [bindings] if (one == other) == (sign == "==") else []

    def call(self, goal: Term, bindings: Substitution) -> list[Substitution]:
        """Answers of a background predicate; a cut in a clause keeps its first answer and the clauses before it."""
        match functor_of(goal):
            case ("true", 0):
                return [bindings]
            case ("fail" | "false", 0):
                return []
            case ("member" | "memberchk", 2):
                assert isinstance(goal, Compound)
                return self.member(goal.args[0], goal.args[1], bindings)
            case ("queryTime", 1):
                assert isinstance(goal, Compound)
                extended = unify(goal.args[0], Number(self.known.until), bindings)
                return [] if extended is None else [extended]
        if self.depth > DEPTH:
            raise ValueError(f"{goal} calls itself without end")
        self.depth += 1
        try:
            return self._resolve(goal, bindings)
        finally:
            self.depth -= 1

    def _resolve(self, goal: Term, bindings: Substitution) -> list[Substitution]:
        result: list[Substitution] = []
        for clause in self.known.clauses(functor_of(goal)):
            fresh = rename(variables_in(clause))
            head, body = walk(clause.head, fresh), substitute(clause.body, fresh)
            extended = unify(goal, head, bindings)
            if extended is None:
                continue
            outside = variables_in(head)
            cuts = [i for i, c in enumerate(body) if isinstance(c, trees.Cut)]
            if not cuts:
                result += self.solve(body, extended, outside)
                continue
            first = self.solve(body[: cuts[0]], extended, outside | variables_in(body[cuts[0] :]))[:1]
            result += [s for f in first for s in self.solve(body[cuts[0] + 1 :], f, outside)]
            if first:
                break
        return result

    @staticmethod
    def member(item: Term, items: Term, bindings: Substitution) -> list[Substitution]:
        listed = walk(items, bindings)
        if not isinstance(listed, ListTerm) or listed.tail is not None:
            raise NotReady
        matched = [unify(item, i, bindings) for i in listed.items]
        return [m for m in matched if m is not None]
