"""Background clauses by predicate, and which predicates are relations that are evaluated once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Compound, ListTerm, Term, arguments_of, functor_of, is_ground
from eventide.syntax.trees import BackgroundClause, Body, Call, FindAll, Not, Or

Predicate = tuple[str, int]
Wrong = tuple[str, str, str]
"""The code of a problem, what is wrong, and what to try."""
FACTS = " facts"
"""After the name of a relation: the table of those of its rows that are facts of the rules."""
LIST = "member "
"""Before the values of a list of `member` that is a table."""
_SHOWN = 6


@dataclass
class Knowledge:
    """Background clauses by predicate: ground facts are tables; definitions are relations, or are written out."""

    clauses: dict[Predicate, list[BackgroundClause]] = field(default_factory=dict)
    facts: dict[Predicate, list[tuple[Term, ...]]] = field(default_factory=dict)
    functions: Mapping[str, int] = field(default_factory=dict)
    """Registered functions by name: how many of their arguments are inputs."""
    dynamic: set[Predicate] = field(default_factory=set)
    """Predicates that the input fills."""
    relations: set[Predicate] = field(default_factory=set)
    """Predicates that are evaluated once, as relations; all others are written out where they are called."""
    tabled: set[tuple[Term, ...]] = field(default_factory=set)
    """The lists of `member` that are tables; the items of others are alternatives."""
    tests: set[Predicate] = field(default_factory=set)
    """Predicates with very many clauses that can only be asked about what is bound: a call of them is a test."""
    refused: dict[Predicate, Wrong] = field(default_factory=dict)
    """Predicates that can neither be relations nor be written out, and why."""
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @staticmethod
    def of(clauses: Sequence[BackgroundClause]) -> Knowledge:
        """Sort clauses into facts and definitions."""
        knowledge = Knowledge()
        for clause in clauses:
            predicate = functor_of(clause.head)
            if not clause.body and is_ground(clause.head):
                knowledge.facts.setdefault(predicate, []).append(arguments_of(clause.head))
            else:
                knowledge.clauses.setdefault(predicate, []).append(clause)
        return knowledge

    def set_facts_apart(self) -> None:
        """Give the facts of relations a table of their own."""
        for predicate in self.relations & self.facts.keys():
            self.facts[own_facts(predicate)] = self.facts.pop(predicate)


def own_facts(predicate: Predicate) -> Predicate:
    """The name under which the facts of a relation are a table."""
    return predicate[0] + FACTS, predicate[1]


def listed(call: Call) -> tuple[Term, ...] | None:
    """The values of `member(X, [a, b])`; None for other calls, and where an item is no plain value."""
    arguments = arguments_of(call.predicate)
    if functor_of(call.predicate) not in (("member", 2), ("memberchk", 2)) or not isinstance(arguments[1], ListTerm):
        return None
    items = arguments[1].items
    plain = not isinstance(arguments[0], Compound | ListTerm) and all(
        is_ground(item) and not isinstance(item, ListTerm) for item in items)
    return items if plain else None


def list_name(items: Sequence[Term]) -> str:
    """The name of the table of a list: its first items, and a mark that tells it from other lists."""
    shown = ", ".join([*map(term_text, items[:_SHOWN]), *(["…"] if len(items) > _SHOWN else [])])
    mark = blake2b(repr([term_text(item) for item in items]).encode(), digest_size=4).hexdigest()
    return f"{LIST}[{shown}] {mark}"


def calls_in(body: Body) -> Iterator[Call]:
    """The calls of a body, also those inside of alternatives, negations and findall."""
    for condition in body:
        match condition:
            case Call():
                yield condition
            case Not(goals) | FindAll(_, goals):
                yield from calls_in(goals)
            case Or(alternatives):
                for each in alternatives:
                    yield from calls_in(each)

