"""Terms of the rule languages: what a parser yields and what a dictionary holds. Not evaluated here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from eventide.syntax.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable; every `_` of a clause is a variable of its own (`_1`, `_2`, … with `anonymous` set)."""

    name: str
    anonymous: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return "_" if self.anonymous else self.name


@dataclass(frozen=True, slots=True)
class Atom:
    """A symbol such as `farFromPorts` or `'Truck 3,5 t'`."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Number:
    """An integer or a float; `1` and `1.0` are different terms, as in Prolog."""

    value: int | float
    span: Span | None = field(default=None, compare=False, repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class Compound:
    """A functor with at least one argument; operators are compounds too (`=`, `+`, `,`)."""

    functor: str
    args: tuple[Term, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.functor}({','.join(map(str, self.args))})"


@dataclass(frozen=True, slots=True)
class ListTerm:
    """A list `[a, b | Tail]`; `tail` is None for a proper list."""

    items: tuple[Term, ...]
    tail: Term | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        tail = f"|{self.tail}" if self.tail is not None else ""
        return f"[{','.join(map(str, self.items))}{tail}]"


Term = Variable | Atom | Number | Compound | ListTerm


def functor_of(term: Term) -> tuple[str, int]:
    """Name and arity of an atom or compound: `f(X,Y)` is `("f", 2)`, `f` is `("f", 0)`."""
    if isinstance(term, Compound):
        return term.functor, len(term.args)
    return str(term), 0


def template_of(name: str, arity: int) -> str:
    """What a predicate is known by: its name, with a place for each argument.

    >>> template_of("near", 2), template_of("rain", 0)
    ('near(_,_)', 'rain')
    """
    return f"{name}({','.join('_' * arity)})" if arity else name


def arguments_of(term: Term) -> tuple[Term, ...]:
    """The arguments of a compound, and none for any other term."""
    return term.args if isinstance(term, Compound) else ()


def variables_of(term: Term) -> Iterator[Variable]:
    """The variables of a term, left to right, with repetition."""
    if isinstance(term, Variable):
        yield term
    elif isinstance(term, Compound):
        for arg in term.args:
            yield from variables_of(arg)
    elif isinstance(term, ListTerm):
        for arg in term.items:
            yield from variables_of(arg)
        if term.tail is not None:
            yield from variables_of(term.tail)


def is_ground(term: Term) -> bool:
    """Whether the term has no variable."""
    return next(variables_of(term), None) is None
