"""Substitutions, unification, arithmetic and the plain values of terms. Not for conditions over time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable, variables_of

from .timeline import INF, Intervals

Substitution = dict[Variable, Term]
Plain = str | int | float
_fresh = itertools.count()


class NotReady(Exception):
    """A condition has too few bound variables to be looked at now."""


def walk(term: Term, bindings: Substitution) -> Term:
    """The term with every bound variable replaced."""
    if isinstance(term, Variable):
        return walk(bindings[term], bindings) if term in bindings else term
    if isinstance(term, Compound):
        return Compound(term.functor, tuple(walk(a, bindings) for a in term.args))
    if isinstance(term, ListTerm):
        items = tuple(walk(a, bindings) for a in term.items)
        tail = walk(term.tail, bindings) if term.tail is not None else None
        if isinstance(tail, ListTerm):
            return ListTerm(items + tail.items, tail.tail)
        return ListTerm(items, tail)
    return term


def unify(left: Term, right: Term, bindings: Substitution) -> Substitution | None:
    """The bindings extended so that both terms are equal, or None."""
    left, right = walk(left, bindings), walk(right, bindings)
    if left == right:
        return bindings
    if isinstance(left, Variable):
        return None if left in variables_of(right) else {**bindings, left: right}
    if isinstance(right, Variable):
        return unify(right, left, bindings)
    if isinstance(left, Compound) and isinstance(right, Compound):
        if (left.functor, len(left.args)) != (right.functor, len(right.args)):
            return None
        return unify_all(left.args, right.args, bindings)
    if isinstance(left, ListTerm) and isinstance(right, ListTerm):
        return _unify_lists(left, right, bindings)
    return None


def unify_all(lefts: tuple[Term, ...], rights: tuple[Term, ...], bindings: Substitution) -> Substitution | None:
    """Pairwise `unify`."""
    extended: Substitution | None = bindings
    for left, right in zip(lefts, rights, strict=True):
        extended = unify(left, right, extended) if extended is not None else None
    return extended


def _unify_lists(left: ListTerm, right: ListTerm, bindings: Substitution) -> Substitution | None:
    shared = min(len(left.items), len(right.items))
    extended = unify_all(left.items[:shared], right.items[:shared], bindings)
    if extended is None:
        return None
    rest_left, rest_right = _rest(left, shared), _rest(right, shared)
    if isinstance(rest_left, ListTerm) and isinstance(rest_right, ListTerm):
        return extended if rest_left == rest_right else None
    return unify(rest_left, rest_right, extended)


def _rest(items: ListTerm, shared: int) -> Term:
    if len(items.items) == shared and items.tail is not None:
        return items.tail
    return ListTerm(items.items[shared:], items.tail)


def rename(variables: Iterable[Variable]) -> Substitution:
    """A substitution of variables by new ones."""
    return {v: Variable(f"{v.name}#{next(_fresh)}", v.anonymous) for v in set(variables)}


def canonical(term: Term) -> Term:
    """The term with its variables named by their places, so that equal patterns are equal terms."""
    places = {v: Variable(f"_{i}") for i, v in enumerate(dict.fromkeys(variables_of(term)))}
    return walk(term, dict(places)) if places else term


def is_bound(term: Term, bindings: Substitution) -> bool:
    """Whether no variable is left in the term."""
    return next(variables_of(walk(term, bindings)), None) is None


_FUNCTIONS: dict[tuple[str, int], Callable[..., int | float]] = {
    ("+", 2): lambda a, b: a + b,
    ("-", 2): lambda a, b: a - b,
    ("*", 2): lambda a, b: a * b,
    ("/", 2): lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) and a % b == 0 else a / b,
    ("//", 2): lambda a, b: int(a / b),
    ("mod", 2): lambda a, b: a % b,
    ("rem", 2): lambda a, b: int(math.fmod(a, b)),
    ("min", 2): min,
    ("max", 2): max,
    ("**", 2): lambda a, b: a**b,
    ("^", 2): lambda a, b: a**b,
    ("-", 1): lambda a: -a,
    ("+", 1): lambda a: a,
    ("abs", 1): abs,
    ("sqrt", 1): math.sqrt,
    ("sin", 1): math.sin,
    ("cos", 1): math.cos,
    ("tan", 1): math.tan,
    ("atan2", 2): math.atan2,
    ("exp", 1): math.exp,
    ("log", 1): math.log,
    ("floor", 1): math.floor,
    ("ceiling", 1): math.ceil,
    ("round", 1): lambda a: math.floor(a + 0.5),
    ("truncate", 1): math.trunc,
    ("integer", 1): lambda a: math.floor(a + 0.5),
    ("float", 1): float,
}


def calculate(term: Term, bindings: Substitution) -> int | float:
    """The number an arithmetic expression stands for."""
    term = walk(term, bindings)
    if isinstance(term, Variable):
        raise NotReady(str(term))
    if isinstance(term, Number):
        return term.value
    if isinstance(term, Atom) and term.name in ("pi", "e", "inf"):
        return float(getattr(math, term.name))
    if isinstance(term, Compound) and (term.functor, len(term.args)) in _FUNCTIONS:
        return _FUNCTIONS[term.functor, len(term.args)](*(calculate(a, bindings) for a in term.args))
    raise ValueError(f"not arithmetic: {term}")


def order_of(term: Term) -> tuple[Any, ...]:
    """Where a ground term is in the standard order: numbers by value (of equal ones a float comes first), symbols,
    compounds by the number of their arguments, their names, and the arguments."""
    if isinstance(term, Number):
        return 0, term.value, isinstance(term.value, int)
    if isinstance(term, Compound):
        return 2, len(term.args), term.functor, tuple(map(order_of, term.args))
    return 1, str(term)


def term_of(value: Plain | Term) -> Term:
    """A plain value as a term: text is a symbol, numbers are numbers."""
    if isinstance(value, str):
        return Atom(value)
    return Number(value) if isinstance(value, int | float) else value


def plain(term: Term) -> Plain:
    """A ground term as a plain value: symbols and compounds as text."""
    return term.value if isinstance(term, Number) else str(term)


def term_of_call(name: str, args: tuple[Term, ...]) -> Term:
    return Compound(name, args) if args else Atom(name)


def term_of_intervals(intervals: Intervals) -> ListTerm:
    """Intervals as the list of pairs that rules see."""
    ends = [Atom("inf") if e == INF else Number(int(e)) for _, e in intervals]
    pairs = zip(intervals, ends, strict=True)
    return ListTerm(tuple(Compound(",", (Number(int(s)), end)) for (s, _), end in pairs))


def intervals_of_term(term: Term, bindings: Substitution) -> Intervals:
    """The list of pairs that a variable of a rule is bound to."""
    term = walk(term, bindings)
    if isinstance(term, Variable):
        raise NotReady(str(term))
    if not isinstance(term, ListTerm) or term.tail is not None:
        raise ValueError(f"not a list of intervals: {term}")
    return [_pair(item) for item in term.items]


def _pair(item: Term) -> tuple[float, float]:
    if not (isinstance(item, Compound) and item.functor == "," and len(item.args) == 2):
        raise ValueError(f"not an interval: {item}")
    start, end = item.args
    return calculate(start, {}), INF if end == Atom("inf") else calculate(end, {})
