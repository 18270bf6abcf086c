"""DatalogMTL programs as trees: rules, metric operators with exact rational ranges, every part with its place.

A rule `[]+[0,3] H(X) :- A(X), <>-[1,2] B(X).` holds at every rational time, not only where facts are.

- `<>-r F` holds at t if F holds at some s with t-s in r, `[]-r F` if F holds at all of them;
- `F since r G` holds at t if G holds at some s with t-s in r, and F at every time strictly between s and t (so with 0
  in r, wherever G holds, whatever F does);
- `not F` holds wherever F does not, for bindings that the positive conditions of the body give; the dual operators
  carry it outwards: `[]-r not F` is read as `not <>-r F`, `<>-r not F` as `not []-r F`;
- a head `[]+r H` makes H hold at every t with t-s in r when the body holds at s.

The operators `<>+`, `[]+` in bodies, `until`, and `[]-` in heads are read, too, so that a check can say why a rule
with them is refused: they look ahead in time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.terms import Compound, Term, Variable, template_of, variables_of

Operator = Literal["<>-", "[]-", "<>+", "[]+"]


@dataclass(frozen=True, slots=True)
class Range:
    """How far an operator looks: from `low` to `high` (None: without end), each bound included or not.

    >>> str(Range(Fraction(1, 2), True, None, False))
    '[1/2,inf)'
    """

    low: Fraction
    low_closed: bool
    high: Fraction | None
    high_closed: bool
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def is_empty(self) -> bool:
        """Whether no distance lies within."""
        if self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and not (self.low_closed and self.high_closed))

    @property
    def is_punctual(self) -> bool:
        """Whether exactly one distance lies within."""
        return self.low == self.high and not self.is_empty

    @property
    def has_zero(self) -> bool:
        """Whether the present lies within."""
        return self.low == 0 and self.low_closed and not self.is_empty

    def __str__(self) -> str:
        left, right = "[" if self.low_closed else "(", "]" if self.high_closed else ")"
        return f"{left}{self.low},{'inf' if self.high is None else self.high}{right}"


@dataclass(frozen=True, slots=True)
class Holds:
    """A predicate with its arguments."""

    name: str
    arguments: tuple[Term, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def template(self) -> str:
        """What a predicate is known by: its name and number of arguments, `Mon(_,_)`."""
        return template_of(self.name, len(self.arguments))

    def __str__(self) -> str:
        return f"{self.name}({','.join(map(str, self.arguments))})" if self.arguments else self.name


@dataclass(frozen=True, slots=True)
class Metric:
    """One of the operators `<>-`, `[]-`, `<>+`, `[]+` over a formula."""

    operator: Operator
    range: Range
    child: Formula
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        inner = f"({self.child})" if isinstance(self.child, Since) else str(self.child)
        return f"{self.operator}{self.range} {inner}"


@dataclass(frozen=True, slots=True)
class Since:
    """`left since[…] right`, or `until`."""

    operator: Literal["since", "until"]
    range: Range
    left: Formula
    right: Formula
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        left, right = (f"({side})" if isinstance(side, Since) else str(side) for side in (self.left, self.right))
        return f"{left} {self.operator}{self.range} {right}"


Formula = Holds | Metric | Since


@dataclass(frozen=True, slots=True)
class Not:
    """A formula that must not hold."""

    formula: Formula
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"not ({self.formula})" if isinstance(self.formula, Since) else f"not {self.formula}"


@dataclass(frozen=True, slots=True)
class Compare:
    """`X < 5`, `X != Y`, `Z = X + 1`; sides are terms, arithmetic ones as compounds."""

    operator: Literal["=", "!=", "<", "<=", ">", ">="]
    left: Term
    right: Term
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{_infix(self.left)} {self.operator} {_infix(self.right)}"


Condition = Holds | Metric | Since | Not | Compare


@dataclass(frozen=True, slots=True)
class HeadOperator:
    """An operator before the predicate of a head."""

    operator: Operator
    range: Range
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.operator}{self.range}"


@dataclass(frozen=True, slots=True)
class Rule:
    """`operators head :- body`; without a body it holds at all times."""

    operators: tuple[HeadOperator, ...]
    head: Holds
    body: tuple[Condition, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        head = " ".join(map(str, (*self.operators, self.head)))
        return f"{head} :- {', '.join(map(str, self.body))}." if self.body else f"{head}."


@dataclass(frozen=True, slots=True)
class ParsedRules:
    """The rules of a text in order, and what is wrong with it."""

    rules: tuple[Rule, ...]
    diagnostics: tuple[Diagnostic, ...]
    text: str
    source: str


def formula_of(condition: Condition) -> Formula | None:
    """The formula of a condition, negated or not; None for a comparison."""
    if isinstance(condition, Not):
        return condition.formula
    return None if isinstance(condition, Compare) else condition


def parts_of(formula: Formula) -> Iterator[Formula]:
    """A formula and all formulas inside it, outer ones first."""
    yield formula
    if isinstance(formula, Metric):
        yield from parts_of(formula.child)
    elif isinstance(formula, Since):
        yield from parts_of(formula.left)
        yield from parts_of(formula.right)


def predicates_in(formula: Formula) -> Iterator[Holds]:
    """The predicates of a formula, left to right."""
    return (part for part in parts_of(formula) if isinstance(part, Holds))


def variables_in(condition: Condition) -> Iterator[Variable]:
    """The variables of a condition, with repetition."""
    if isinstance(condition, Compare):
        yield from variables_of(condition.left)
        yield from variables_of(condition.right)
        return
    formula = formula_of(condition)
    assert formula is not None
    for predicate in predicates_in(formula):
        for argument in predicate.arguments:
            yield from variables_of(argument)


def ranges_in(rule: Rule) -> Iterator[tuple[str, Range]]:
    """Every operator of a rule with its range: those of the head, then those of the body."""
    yield from ((operator.operator, operator.range) for operator in rule.operators)
    for condition in rule.body:
        formula = formula_of(condition)
        for part in parts_of(formula) if formula is not None else ():
            if isinstance(part, Metric | Since):
                yield part.operator, part.range


def _infix(term: Term) -> str:
    if not isinstance(term, Compound):
        return str(term)
    parts = list(map(_infix, term.args))
    if len(parts) == 2 and (term.functor == "mod" or not term.functor.isalnum()):
        return f"({parts[0]} {term.functor} {parts[1]})"
    return f"-{parts[0]}" if term.functor == "-" else f"{term.functor}({', '.join(parts)})"
