"""The tree of an Event Calculus program: rules, their conditions, and declarations, each with its place.

A condition is one of the classes below; a body is a tuple of conditions, read as a conjunction from left to right.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from eventide.syntax.diagnostics import Span
from eventide.syntax.terms import Term, Variable


@dataclass(frozen=True, slots=True)
class FluentValue:
    """`fluent = value`, both terms."""

    fluent: Term
    value: Term
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.fluent}={self.value}"


@dataclass(frozen=True, slots=True)
class Happens:
    """`happensAt(event, time)`."""

    event: Term
    time: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Boundary:
    """`happensAt(start(F=V), T)`, `startI`, `end`."""

    kind: Literal["start", "startI", "end"]
    pair: FluentValue
    time: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Holds:
    """`holdsAt(F=V, T)`."""

    pair: FluentValue
    time: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Changed:
    """`initiatedAt(F=V, T)` or `terminatedAt(F=V, T)` as a condition (also the forms with a search range)."""

    kind: Literal["initiated", "terminated"]
    pair: FluentValue
    time: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HoldsFor:
    """`holdsFor(F=V, I)` as a condition; `interval` is the variable it binds."""

    pair: FluentValue
    interval: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IntervalOperation:
    """`union_all`, `intersect_all`, `complement_all` (inputs), `relative_complement_all` (base, inputs),
    `intDurGreater`/`intDurLess` (base, `amount`), or `I = J` (`same`, base)."""

    operation: Literal["union", "intersect", "complement", "relative_complement", "longer", "shorter", "same"]
    base: Term | None
    inputs: tuple[Term, ...]
    amount: Term | None
    output: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Allen:
    """`allen(relation, S, T, mode, I)`; mode is one of source, target, union, intersection,
    complement (S' minus T'), inverse_complement (T' minus S'), whatever family of names was written."""

    relation: Literal["before", "meets", "starts", "finishes", "during", "overlaps", "equal"]
    source: Term
    target: Term
    mode: Literal["source", "target", "union", "intersection", "complement", "inverse_complement"]
    output: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Guard:
    """`I \\= []` (nonempty) or `I = []` (empty)."""

    interval: Variable
    nonempty: bool
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison: arithmetic `=:= =\\= < =< > >=`, term `== \\== = \\=`, standard order `@< @=< @> @>=`."""

    operator: str
    left: Term
    right: Term
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def arithmetic(self) -> bool:
        """Whether both sides are computed before they are compared."""
        return self.operator in ("<", "=<", ">", ">=", "=:=", "=\\=")


@dataclass(frozen=True, slots=True)
class Is:
    """`target is expression`."""

    target: Term
    expression: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A background predicate, such as `vesselType(V, tug)`."""

    predicate: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Function:
    """A registered function of columns: it tests `inputs` or computes `outputs` from them (made by the analysis)."""

    name: str
    inputs: tuple[Term, ...]
    outputs: tuple[Term, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FindAll:
    """`findall(template, goals, output)`."""

    template: Term
    goals: Body
    output: Variable
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Length:
    """`length(list, amount)`."""

    items: Term
    amount: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    """`\\+ goals`."""

    goals: Body
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Or:
    """`(A ; B ; …)`; `(C -> A ; B)` is read as `(C, A ; \\+ C, B)`."""

    alternatives: tuple[Body, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cut:
    """`!`."""

    span: Span | None = field(default=None, compare=False, repr=False)


Condition = (
    Happens | Boundary | Holds | Changed | HoldsFor | IntervalOperation | Allen | Guard | Compare | Is | Call
    | Function | FindAll | Length | Not | Or | Cut
)
Body = tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """`initiatedAt(F=V, T) :- body` or `terminatedAt(F=V, T) :- body`; legacy forms are rewritten to it.

    `0.8::initiatedAt(F=V, T) :- body` has a `probability`; so may derived events and initial values.
    `weight(0.8)::initiatedAt(F=V, T) :- body` has a `weight`: the rule has a vote in whether the change takes place.
    """

    kind: Literal["initiated", "terminated"]
    pair: FluentValue
    time: Term
    body: Body
    span: Span | None = field(default=None, compare=False, repr=False)
    probability: float | None = field(default=None, repr=False)
    weight: float | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class StaticRule:
    """`holdsFor(F=V, I) :- body`."""

    pair: FluentValue
    interval: Term
    body: Body
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EventRule:
    """`happensAt(E, T) :- body`."""

    event: Term
    time: Term
    body: Body
    span: Span | None = field(default=None, compare=False, repr=False)
    probability: float | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class InitialRule:
    """`initially(F=V) :- body` (body atemporal, often empty)."""

    pair: FluentValue
    body: Body
    span: Span | None = field(default=None, compare=False, repr=False)
    probability: float | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class DelayRule:
    """`fi(F=V, F=W, D) :- body`."""

    source: FluentValue
    target: FluentValue
    delay: Term
    body: Body
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Postponable:
    """`p(F=V)`."""

    pair: FluentValue
    body: Body
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Grounding:
    """`grounding(subject) :- body`; subject is an event term or a FluentValue."""

    subject: Term | FluentValue
    body: Body
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Declaration:
    """`dynamicDomain`, `collectIntervals`, `buildFromPoints`, `points`, `index`, `needsGrounding`, `cachingOrder`, …:
    `name` is the declaration's name, `subject` its first argument."""

    name: str
    subject: Term | FluentValue
    rest: tuple[Term, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BackgroundClause:
    """Any other clause: a fact (`body` empty) or a non-recursive definition of an atemporal predicate."""

    head: Term
    body: Body
    span: Span | None = field(default=None, compare=False, repr=False)


Rule = (
    ChangeRule | StaticRule | EventRule | InitialRule | DelayRule | Postponable | Grounding | Declaration
    | BackgroundClause
)
