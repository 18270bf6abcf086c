"""θ-subsumption: when one clause says at least what another says. Exact; clauses only, no data.

A clause c subsumes d if some substitution maps its head to the head of d and each of its literals, sign included, to a
literal of d. Variables may go to variables or constants, several to the same one. The question is NP-complete; what
keeps it quick is that literals which share no open variable are searched for apart, the most constrained one first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eventide.learning.clauses import Clause, Literal
from eventide.syntax.terms import Compound, ListTerm, Term, Variable, functor_of, variables_of

Substitution = dict[str, Term]
_Kind = tuple[bool, str, int]
_Goal = tuple[Term, Sequence[Term]]  # an atom of c, and the atoms of d that it may become


def subsumption(c: Clause, d: Clause) -> Substitution | None:
    """A substitution under which `c` is part of `d`, by names of the variables of `c`; None if there is none.

    >>> from eventide.learning.clauses import clause_of
    >>> c, d = clause_of("p(X) :- q(X, Y)."), clause_of("p(Z) :- q(Z, 30), r(Z).")
    >>> {name: str(term) for name, term in subsumption(c, d).items()}
    {'X': 'Z', 'Y': '30'}
    >>> subsumption(d, c) is None
    True
    """
    atoms: dict[_Kind, list[Term]] = {}
    for each in d.body:
        atoms.setdefault(_kind(each), []).append(each.atom)
    start = _matched(c.head, d.head, {})
    if start is None or any(_kind(each) not in atoms for each in c.body):
        return None
    return _solved([(each.atom, atoms[_kind(each)]) for each in dict.fromkeys(c.body)], start)


def subsumes(c: Clause, d: Clause) -> bool:
    """Whether `c` subsumes `d`.

    >>> from eventide.learning.clauses import clause_of
    >>> subsumes(clause_of("p(X) :- q(X, Y), q(Y, Z)."), clause_of("p(X) :- q(X, X)."))
    True
    """
    return subsumption(c, d) is not None


def are_equivalent(c: Clause, d: Clause) -> bool:
    """Whether the clauses subsume each other: they differ in names, order, and literals that say nothing new.

    >>> from eventide.learning.clauses import clause_of
    >>> are_equivalent(clause_of("p(X) :- q(X, Y), q(X, Z)."), clause_of("p(A) :- q(A, B)."))
    True
    """
    return _kinds(c) == _kinds(d) and subsumes(c, d) and subsumes(d, c)


def compressed(clauses: Iterable[Clause]) -> list[Clause]:
    """The first clause of each class of equivalent ones, in order (WOLED, KR 2020, Algorithm 2, line 5).

    >>> from eventide.learning.clauses import read_clauses
    >>> print(*compressed(read_clauses("p(X) :- q(X, Y). p(X) :- r(X). p(A) :- q(A, B), q(A, C).")[0]))
    p(X) :- q(X, Y). p(X) :- r(X).
    """
    kept: list[Clause] = []
    seen: set[object] = set()  # most clauses that data suggest are the same to the letter
    alike: dict[object, list[Clause]] = {}  # equivalent clauses have the same kinds of literals
    for clause in clauses:
        letters = clause.head, frozenset(clause.body)
        if letters in seen:
            continue
        seen.add(letters)
        others = alike.setdefault(_kinds(clause), [])
        if not any(are_equivalent(clause, other) for other in others):
            others.append(clause)
            kept.append(clause)
    return kept


def _kind(literal: Literal) -> _Kind:
    return (literal.positive, *functor_of(literal.atom))


def _kinds(clause: Clause) -> tuple[object, frozenset[_Kind]]:
    return functor_of(clause.head), frozenset(map(_kind, clause.body))


def _solved(goals: Iterable[_Goal], binding: Substitution) -> Substitution | None:
    """The binding extended so that each goal becomes one of its atoms, or None."""
    narrowed: list[_Goal] = []
    for atom, choices in goals:
        possible = [choice for choice in choices if _matched(atom, choice, binding) is not None]
        if not possible:
            return None
        narrowed.append((atom, possible))
    for part in _parts(narrowed, binding):
        found = _searched(part, binding)
        if found is None:
            return None
        binding = found
    return binding


def _searched(goals: list[_Goal], binding: Substitution) -> Substitution | None:
    """The same for goals that hang together: each way of the most constrained one is tried."""
    at = min(range(len(goals)), key=lambda i: len(goals[i][1]))
    atom, choices = goals[at]
    rest = goals[:at] + goals[at + 1:]
    for choice in choices:
        extended = _matched(atom, choice, binding)
        found = None if extended is None else _solved(rest, extended)
        if found is not None:
            return found
    return None


def _parts(goals: list[_Goal], binding: Substitution) -> list[list[_Goal]]:
    """The goals that have variables without a value, in groups that share none of these."""
    parts: list[tuple[set[str], list[_Goal]]] = []
    for goal in goals:
        names = {variable.name for variable in variables_of(goal[0])} - binding.keys()
        if not names:
            continue
        together, apart = [goal], []
        for part in parts:
            if names.isdisjoint(part[0]):
                apart.append(part)
            else:
                names |= part[0]
                together = part[1] + together
        parts = [*apart, (names, together)]
    return [part for _, part in parts]


def _matched(pattern: Term, term: Term, binding: Substitution) -> Substitution | None:
    """The binding extended so that the pattern becomes the term, or None; the term's variables are constants."""
    extended = dict(binding)
    stack = [(pattern, term)]
    while stack:
        left, right = stack.pop()
        if isinstance(left, Variable):
            if extended.setdefault(left.name, right) != right:
                return None
        elif isinstance(left, Compound):
            if not isinstance(right, Compound) or functor_of(left) != functor_of(right):
                return None
            stack += zip(reversed(left.args), reversed(right.args), strict=True)
        elif isinstance(left, ListTerm):
            if not isinstance(right, ListTerm) or bool(left.items) != bool(right.items):
                return None
            if left.items:
                stack += [(_rest(left), _rest(right)), (left.items[0], right.items[0])]
        elif left != right:
            return None
    return extended


def _rest(items: ListTerm) -> Term:
    """A list without its first item; behind the last one that is its tail."""
    if len(items.items) == 1 and items.tail is not None:
        return items.tail
    return ListTerm(items.items[1:], items.tail)
