"""Where the names of a program stand: what each clause defines and what it asks for, and what follows for the names.

Only syntax trees are read, so names are known while other clauses are half-typed. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from eventide.analysis.graphs import components
from eventide.analysis.patterns import flatten, name_of
from eventide.syntax import lars_trees, mtl_trees
from eventide.syntax.diagnostics import Span
from eventide.syntax.terms import Atom, Compound, Term, Variable, functor_of, template_of
from eventide.syntax.trees import (
    BackgroundClause,
    Body,
    Boundary,
    Call,
    Changed,
    ChangeRule,
    Declaration,
    DelayRule,
    EventRule,
    FindAll,
    FluentValue,
    Grounding,
    Happens,
    Holds,
    HoldsFor,
    InitialRule,
    Not,
    Or,
    Postponable,
    Rule,
    StaticRule,
)

Kind = Literal["fluent", "event", "predicate"]
Role = Literal["definition", "declaration", "use"]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at a place: `span` is that of the whole term, `clause` that of the clause it stands in."""

    kind: Kind
    template: str
    role: Role
    word: str
    span: Span
    clause: Span
    value: str | None = None


@dataclass
class Names:
    """All occurrences of a program and its background, and what follows from them."""

    occurrences: list[Occurrence]
    reads: dict[str, dict[str, None]] = field(default_factory=dict)
    """By template of what is defined, the templates that its clauses ask for."""
    levels: dict[str, int] = field(default_factory=dict)
    """The level of what is derived: one more than the highest of what it reads; inputs have none."""

    def __post_init__(self) -> None:
        self.kinds: dict[str, Kind] = {}
        self.values: dict[str, dict[str, None]] = {}
        self._starts: dict[tuple[str, int, int], Occurrence] = {}
        self._named: dict[str, list[Occurrence]] = {}
        heads: dict[Span, str] = {}
        for each in self.occurrences:
            self.kinds.setdefault(each.template, each.kind)
            self._starts[each.span.source, each.span.line, each.span.column] = each
            self._named.setdefault(each.template, []).append(each)
            if each.role == "definition":
                heads.setdefault(each.clause, each.template)
            if each.value is not None:
                self.values.setdefault(each.template, {})[each.value] = None
        for each in self.occurrences:
            head = heads.get(each.clause)
            if head is not None and each.span != each.clause:  # a bare fact reads nothing and has no level
                read = self.reads.setdefault(head, {})
                if each.role == "use":
                    read[each.template] = None
        timed = {name: [r for r in read if r in self.reads and self.is_timed(r)]
                 for name, read in self.reads.items() if self.is_timed(name)}
        for members in components(timed):
            below = [self.levels[r] for member in members for r in timed[member] if r not in members]
            self.levels.update(dict.fromkeys(members, 1 + max(below, default=0)))

    def is_timed(self, template: str) -> bool:
        """Whether a name is of something that changes with time, and so has a level."""
        return self.kinds[template] != "predicate" or "/" not in template

    def at(self, source: str, line: int, column: int) -> Occurrence | None:
        """The occurrence whose name begins at a place."""
        return self._starts.get((source, line, column))

    def of(self, template: str) -> list[Occurrence]:
        """All occurrences of a name, in order."""
        return self._named.get(template, [])

    def definitions(self, template: str) -> list[Occurrence]:
        """Where a name is defined; where it is declared if nothing defines it."""
        found = self.of(template)
        return [each for each in found if each.role == "definition"] or \
            [each for each in found if each.role == "declaration"]

    def called(self, word: str) -> list[str]:
        """The templates of a word, those with a definition first."""
        found = [template for template in self._named if word_of(template) == word]
        return sorted(found, key=lambda template: not self.definitions(template))

    def templates(self, *kinds: Kind) -> list[str]:
        """All names of some kinds."""
        return [template for template, kind in self.kinds.items() if kind in kinds]

    def readers(self, template: str) -> list[str]:
        """What asks for a name."""
        return [head for head, read in self.reads.items() if template in read]


def word_of(template: str) -> str:
    """The word that a template begins with.

    >>> word_of("near(_,_)"), word_of("port/2")
    ('near', 'port')
    """
    return name_of(template).rpartition("/")[0] or name_of(template)


# -- the Event Calculus -----------------------------------------------------------------------------------------------


def event_calculus(rules: Iterable[Rule]) -> Iterator[Occurrence]:
    """The names of Event Calculus rules, in order."""
    for rule in rules:
        if rule.span is None:
            continue
        clause = rule.span
        match rule:
            case ChangeRule(pair=pair) | StaticRule(pair=pair) | InitialRule(pair=pair):
                yield from _fluent(pair, "definition", clause)
            case EventRule(event):
                yield from _event(event, "definition", clause)
            case DelayRule(source, target):
                yield from _fluent(target, "definition", clause)
                yield from _fluent(source, "use", clause)
            case Declaration("buildFromPoints", FluentValue() as pair, (event,)):
                yield from _fluent(pair, "definition", clause)
                yield from _event(event, "use", clause)
            case Postponable(pair) | Grounding(FluentValue() as pair) | Declaration(_, FluentValue() as pair):
                yield from _fluent(pair, "declaration", clause)
            case Grounding(subject):
                yield from _event(subject, "declaration", clause)  # type: ignore[arg-type]
            case Declaration("inputEntity" | "event", subject):
                yield from _event(subject, "declaration", clause)  # type: ignore[arg-type]
            case BackgroundClause(head):
                yield from _predicate(head, "definition", clause)
        if not isinstance(rule, Declaration):
            yield from _conditions(rule.body, clause)


def _conditions(body: Body, clause: Span) -> Iterator[Occurrence]:
    for condition in body:
        match condition:
            case Happens(event):
                yield from _event(event, "use", clause)
            case Holds(pair) | Boundary(_, pair) | Changed(_, pair) | HoldsFor(pair):
                yield from _fluent(pair, "use", clause)
            case Call(predicate):
                yield from _predicate(predicate, "use", clause)
            case Not(goals) | FindAll(_, goals):
                yield from _conditions(goals, clause)
            case Or(alternatives):
                for alternative in alternatives:
                    yield from _conditions(alternative, clause)


def _fluent(pair: FluentValue, role: Role, clause: Span) -> Iterator[Occurrence]:
    value = None if isinstance(pair.value, Variable) else str(pair.value)
    if isinstance(pair.fluent, Atom | Compound) and pair.fluent.span is not None:
        yield Occurrence("fluent", flatten(pair.fluent)[0], role, functor_of(pair.fluent)[0], pair.fluent.span, clause,
                         value)


def _event(event: Term, role: Role, clause: Span) -> Iterator[Occurrence]:
    if isinstance(event, Atom | Compound) and event.span is not None:
        yield Occurrence("event", flatten(event)[0], role, functor_of(event)[0], event.span, clause)


def _predicate(term: Term, role: Role, clause: Span) -> Iterator[Occurrence]:
    if isinstance(term, Atom | Compound) and term.span is not None:
        name, arity = functor_of(term)
        yield Occurrence("predicate", f"{name}/{arity}", role, name, term.span, clause)


# -- DatalogMTL and LARS ----------------------------------------------------------------------------------------------


def metric(rules: Iterable[mtl_trees.Rule]) -> Iterator[Occurrence]:
    """The names of DatalogMTL rules, in order."""
    for rule in rules:
        if rule.span is None:
            continue
        yield from _holds(rule.head, "definition", rule.span)
        for condition in rule.body:
            formula = mtl_trees.formula_of(condition)
            for predicate in mtl_trees.predicates_in(formula) if formula is not None else ():
                yield from _holds(predicate, "use", rule.span)


def _holds(atom: mtl_trees.Holds, role: Role, clause: Span) -> Iterator[Occurrence]:
    if atom.span is not None:
        yield Occurrence("predicate", atom.template, role, atom.name, atom.span, clause)


def windowed(tree: lars_trees.LarsTree) -> Iterator[Occurrence]:
    """The names of a LARS program: its rules, then its facts."""
    for rule in tree.rules:
        if rule.span is None:
            continue
        if rule.head is not None:
            yield from _atom(rule.head.atom, "definition", rule.span)
        for literal in rule.literals:
            yield from _atom(literal.atom, "use", rule.span)
    for fact in tree.facts:
        if fact.span is not None:
            yield from _atom(fact, "definition", fact.span)


def _atom(atom: Atom | Compound, role: Role, clause: Span) -> Iterator[Occurrence]:
    if atom.span is not None:
        yield Occurrence("predicate", template_of(*functor_of(atom)), role, functor_of(atom)[0], atom.span, clause)
