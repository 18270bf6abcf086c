"""The tree of a LARS program: facts, rules, windows, each with its place. What readers of `.lars` files yield.

Whatever was written, a tree keeps these promises:

- the arguments of an atom are variables, words (strings are words too) and numbers; a time after `at` is a variable or
  an integer. Expressions stand in comparisons only: `z at T+1 :- a at T [2].` has the head time `T+1`, which is the
  name of a variable, and one more comparison `T+1 = T + 1`;
- the size of a time window is in time-points, whatever unit was written;
- a predicate is a name with a number of arguments: `p` and `p(X)` are two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf

from eventide.syntax.diagnostics import Span
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, arguments_of, functor_of, variables_of

Predicate = tuple[str, int]
"""The name and the number of arguments."""


@dataclass(frozen=True, slots=True)
class Window:
    """`[n]`, `[n #]` or `[n # by X]`: which part of the stream an atom is asked of, at time t.

    time       the time-points max(0, t - size) … t, that is size + 1 of them.
    tuple      the last `size` input facts of all predicates, in order of arrival; its time-points go from the one of
               the first of them to t, and from 0 with fewer facts.
    partition  the same among the facts of the atom's own predicate that agree in the arguments at the places `by`,
               counted from 0.

    Derived atoms are not counted by tuple and partition windows; they are seen if their time is in the window.
    Background facts are not counted either and are seen in every window.
    """

    kind: OneOf["time", "tuple", "partition"]
    size: int
    by: tuple[int, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


class _AtomWithTime:
    """An atom that may say a time."""

    __slots__ = ()
    atom: Atom | Compound
    time: Variable | Number | None

    @property
    def predicate(self) -> Predicate:
        """The predicate of the atom."""
        return functor_of(self.atom)

    def variables(self) -> Iterator[Variable]:
        """The variables of the atom and of its time, with repetition."""
        yield from variables_of(self.atom)
        if isinstance(self.time, Variable):
            yield self.time


@dataclass(frozen=True, slots=True)
class Literal(_AtomWithTime):
    """An atom in a body: `a` (now), `a [n]` (sometime), `a always [n]`, `a at T [n]`, each with or without `not`.

    Only `at` has a `time`, and `now` has no window. The others without a window ask the whole stream.
    """

    atom: Atom | Compound
    modality: OneOf["now", "sometime", "always", "at"] = "now"
    time: Variable | Number | None = None
    window: Window | None = None
    negated: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        parts = ["not"] if self.negated else []
        parts.append(atom_text(self.atom))
        if self.modality == "always" or (self.modality == "sometime" and self.window is None):
            parts.append(self.modality)
        if self.time is not None:
            parts.append(f"at {self.time}")
        if self.window is not None:
            by = ""
            if self.window.kind == "partition":
                by = " by " + ", ".join(argument_text(arguments_of(self.atom)[place]) for place in self.window.by)
            parts.append(f"[{self.window.size}{'' if self.window.kind == 'time' else ' #'}{by}]")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`, the sides being arguments or expressions of `+ - * / % ^` on numbers.

    `=` binds a variable that stands alone on one side when the other side is bound. `/` and `%` of integers give the
    integer quotient towards zero, and its remainder.
    """

    operator: OneOf["=", "!=", "<", "<=", ">", ">="]
    left: Term
    right: Term
    span: Span | None = field(default=None, compare=False, repr=False)

    def variables(self) -> Iterator[Variable]:
        """The variables of both sides, with repetition."""
        yield from variables_of(self.left)
        yield from variables_of(self.right)

    def __str__(self) -> str:
        return f"{expression_text(self.left)} {self.operator} {expression_text(self.right)}"


Element = Literal | Comparison


@dataclass(frozen=True, slots=True)
class Head(_AtomWithTime):
    """`a` (concluded now) or `a at T` (concluded at T; a time outside [0, t] concludes nothing)."""

    atom: Atom | Compound
    time: Variable | Number | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return atom_text(self.atom) + ("" if self.time is None else f" at {self.time}")


@dataclass(frozen=True, slots=True)
class Rule:
    """`head :- body.`; without a head, `:- body.`, it is a contradiction."""

    head: Head | None
    body: tuple[Element, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def literals(self) -> tuple[Literal, ...]:
        """The atoms of the body, in order."""
        return tuple(element for element in self.body if isinstance(element, Literal))

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons of the body, in order."""
        return tuple(element for element in self.body if isinstance(element, Comparison))

    def __str__(self) -> str:
        head = "" if self.head is None else str(self.head)
        shown = [str(element) for element in self.body if not _only_names(element)]
        body = ":- " + ", ".join(shown) if shown or self.head is None else ""
        return f"{head} {body}".strip() + "."


@dataclass(frozen=True, slots=True)
class LarsTree:
    """A whole program: background facts (ground; they hold at every time-point) and rules, in order.

    `source` is the name of the file, `text` what was read.
    """

    facts: tuple[Atom | Compound, ...]
    rules: tuple[Rule, ...]
    source: str = "<text>"
    text: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.rules), *(f"{atom_text(fact)}." for fact in self.facts)])


def _only_names(element: Element) -> bool:
    """Whether an element gives an expression its name, so that what was written shows without it."""
    return isinstance(element, Comparison) and isinstance(element.left, Variable) and \
        not element.left.name.isidentifier()


def argument_text(term: Term) -> str:
    """An argument as programs and streams write it: words that are not plain are put in double quotes.

    >>> argument_text(Atom("StreetA")), argument_text(Atom("b")), argument_text(Number(3))
    ('"StreetA"', 'b', '3')
    """
    if isinstance(term, Atom):
        name = term.name
        plain = name.isidentifier() and name.isascii() and name[0].islower() and name not in RESERVED
        return name if plain else '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return str(term)


def atom_text(atom: Term) -> str:
    """An atom as programs and streams write it, without blanks.

    >>> atom_text(Compound("speed", (Atom("StreetA"), Number(9))))
    'speed("StreetA",9)'
    """
    name, _ = functor_of(atom)
    args = arguments_of(atom)
    return f"{name}({','.join(map(argument_text, args))})" if args else name


def expression_text(term: Term) -> str:
    """A side of a comparison as text; inner operations are put in parentheses.

    >>> expression_text(Compound("+", (Variable("X"), Compound("*", (Number(2), Variable("Y"))))))
    'X + (2 * Y)'
    """
    if not isinstance(term, Compound):
        return argument_text(term)
    sides = [f"({expression_text(side)})" if isinstance(side, Compound) else argument_text(side) for side in term.args]
    return f"{sides[0]} {term.functor} {sides[1]}" if len(sides) == 2 else f"{term.functor}{sides[0]}"


RESERVED = frozenset({"not", "at", "always", "sometime", "in", "by", "mod"})
"""Words of the language, which name no predicate and are quoted as arguments."""
