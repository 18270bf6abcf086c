"""What the passes share: clauses in normal form, the entities of a program, and the diagnostics found so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Literal

from eventide.algebra.expressions import ARITHMETIC
from eventide.algebra.nodes import Output, Plan
from eventide.analysis.inline import Inlined
from eventide.analysis.knowledge import Knowledge, Predicate
from eventide.analysis.patterns import fill, flatten, name_of, variables_in
from eventide.syntax.diagnostics import Diagnostic, Severity, Span
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Compound, ListTerm, Term, Variable, is_ground
from eventide.syntax.trees import Body, FindAll, Happens, Not, Rule

ClauseKind = Literal["initiated", "terminated", "static", "event", "initial", "delay", "postponable", "grounding",
                     "event_grounding", "runs", "background"]
InputKind = Literal["event", "interval", "point"]
Lookup = Callable[[Predicate, tuple[Term, ...]], list[tuple[Term, ...]] | None]
BUILT_IN_TESTS = {("number", 1), ("integer", 1), ("float", 1), ("atom", 1), ("true", 0), ("fail", 0), ("false", 0),
                  ("nonvar", 1), ("ground", 1)}


class Rejected(Exception):
    """The clause has an error that was reported; it is left out of the plan."""


@dataclass(frozen=True)
class Clause:
    """A rule in normal form. `leaves` are the head's leaf terms (for fluents the value is the last)."""

    number: int
    kind: ClauseKind
    template: str
    leaves: tuple[Term, ...]
    body: Body
    time: Term | None = None
    interval: Term | None = None
    delay: Term | None = None
    target: Term | None = None
    span: Span | None = None
    probability: float | None = None
    weight: float | None = None
    rule: int = -1
    """The number of the first clause of its rule: clauses of one rule are alternatives, and have one vote."""

    @property
    def arguments(self) -> tuple[Term, ...]:
        """The leaves without the value."""
        return self.leaves[:-1]

    @cached_property
    def variables(self) -> list[str]:
        """The names of its variables, with repetition: of the head, the conditions and the delay."""
        return variables_in((self.leaves, self.body, self.delay))

    @property
    def value(self) -> Term:
        """The value of the head's fluent."""
        return self.leaves[-1]


@dataclass
class Model:
    """A program on its way through the passes."""

    rules: tuple[Rule, ...]
    tables: Mapping[str, int] = field(default_factory=dict)
    functions: Mapping[str, int] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    knowledge: Knowledge = field(default_factory=Knowledge)
    clauses: list[Clause] = field(default_factory=list)
    inputs: dict[str, InputKind] = field(default_factory=dict)
    dynamic: set[Predicate] = field(default_factory=set)
    types: dict[tuple[str, str, int], str] = field(default_factory=dict)
    variable_types: dict[tuple[int, str], str] = field(default_factory=dict)
    constants: dict[str, list[Term]] = field(default_factory=dict)
    open_types: set[str] = field(default_factory=set)
    plan: Plan = field(default_factory=lambda: Plan(()))
    background: Plan = field(default_factory=lambda: Plan(()))
    """The relations of background knowledge: they are evaluated once, before anything else, and are tables then."""
    outputs: list[Output] = field(default_factory=list)
    numeric: dict[tuple[str, str, int], Span | None] = field(default_factory=dict)
    component: dict[str, int] = field(default_factory=dict)
    parts: dict[str, dict[str, tuple[Term, ...]]] = field(default_factory=dict)
    """By template, the statically determined parts of a fluent: rules whose heads have the same constants."""
    lookup: Lookup = field(default=lambda predicate, pattern: None)
    levels: dict[str, int] = field(default_factory=dict)
    origins: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """By definition, the numbers of the clauses that its alternatives are made of, in the order of the plan: of a
    simple fluent its changes, then its initial values, then its delays."""
    cycles: list[tuple[str, ...]] = field(default_factory=list)
    fresh: Iterator[int] = field(default_factory=lambda: count(1))
    """Numbers for the names of columns that no rule names."""
    inlined: Inlined = field(default_factory=Inlined)
    """What is known of the rules from an earlier reading of the program."""
    _about: dict[str, list[Clause]] = field(default_factory=dict)
    _indexed: int = 0

    @property
    def counted(self) -> set[str]:
        """The templates of events that a findall counts: for these, equal facts must be one."""
        return {template for clause in self.clauses for template in _counted(clause.body)}

    def report(self, severity: Severity, code: str, message: str, span: Span | None, hint: str | None = None) -> None:
        """Note a problem."""
        diagnostic = Diagnostic(severity, code, message, span, hint)
        if diagnostic not in self.diagnostics:
            self.diagnostics.append(diagnostic)

    def of_kind(self, *kinds: ClauseKind) -> list[Clause]:
        """The clauses of some kinds, in order."""
        return [clause for clause in self.clauses if clause.kind in kinds]

    def about(self, template: str | None, *kinds: ClauseKind) -> list[Clause]:
        """The clauses that define a fluent or an event, or say something of it, in order; those of some kinds only."""
        for clause in self.clauses[self._indexed:]:  # clauses are added, never taken away
            self._about.setdefault(clause.template, []).append(clause)
        self._indexed = len(self.clauses)
        return [clause for clause in self._about.get(template or "", ()) if not kinds or clause.kind in kinds]

    @property
    def failed(self) -> bool:
        """Whether an error was found."""
        return any(d.severity == "error" for d in self.diagnostics)

    def simple(self, template: str) -> bool:
        """Whether a fluent has rules for simple values."""
        return bool(self.about(template, "initiated", "initial", "delay"))

    def is_point_event(self, template: str) -> bool:
        """Whether an input fluent comes as points that no declaration makes into intervals."""
        return self.inputs.get(template) == "point" and ("build", template, 0) not in self.types


def are_plain(model: Model, leaves: Sequence[Term], span: Span | None) -> bool:
    """Whether leaves can be columns: no lists, no values with variables inside; the first other is reported."""
    for leaf in leaves:
        place = getattr(leaf, "span", None) or span
        if isinstance(leaf, ListTerm):
            model.report("error", "list-argument", f"the list {leaf} cannot be an argument or a value", place,
                         "use several arguments, or a background table with one row per element")
            return False
        if isinstance(leaf, Compound) and not is_ground(leaf):
            model.report("error", "compound-value", f"the value {term_text(leaf)} has variables inside", place,
                         "make them arguments of the fluent; values are constants or single variables"
                         if leaf.functor not in ARITHMETIC else
                         f"to compute it write {unused(leaf)} is {term_text(leaf)} as a condition, and "
                         f"{unused(leaf)} here")
            return False
    return True


def time_number(time: str) -> str:
    """The variable that has the time of a rule as a number, where that is an argument or a value."""
    return f"{time}#0"


def unused(term: Term) -> str:
    """A name for a number that is not one of the term's own variables."""
    return next(name for name in ("N", "M", "Number") if name not in variables_in(term))


def may_match(pattern: Sequence[Term], other: Sequence[Term]) -> bool:
    """Whether two patterns agree wherever both have a constant."""
    return all(a == b for a, b in zip(pattern, other, strict=True)
               if not isinstance(a, Variable) and not isinstance(b, Variable))


def part_name(template: str, leaves: Sequence[Term]) -> str:
    """The name of a statically determined part of a fluent: its constants and its value, `_` for variables."""
    *arguments, value = ["_" if isinstance(leaf, Variable) else str(leaf) for leaf in leaves]
    inner = ",".join(fill(template, arguments))
    return f"{name_of(template)}({inner})={value}" if inner else f"{template}={value}"



def _counted(body: Body) -> Iterator[str]:
    for condition in body:
        if isinstance(condition, FindAll):
            yield from (flatten(goal.event)[0] for goal in condition.goals if isinstance(goal, Happens))
        elif isinstance(condition, Not):
            yield from _counted(condition.goals)
