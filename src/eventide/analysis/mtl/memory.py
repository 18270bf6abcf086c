"""What a stream must hold of a DatalogMTL program, told from its rules alone. Runs nothing.

The bounds are those of Wałęga, Kaminski and Cuenca Grau (AAAI 2019; Theorem 8 for Algorithm 1, Theorem 10 for its
variant with #-facts). Their normal form has one operator per rule, so nested operators count as predicates of their
own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from eventide.syntax.mtl_trees import (
    Formula,
    Holds,
    Metric,
    Range,
    Rule,
    Since,
    formula_of,
    parts_of,
    ranges_in,
    variables_in,
)
from eventide.syntax.terms import variables_of

Variant = Literal["algorithm-1", "hash"]


@dataclass(frozen=True, slots=True)
class Memory:
    """The numbers of a program that decide how much of a stream must be held."""

    window: Fraction
    """The largest number in an operator (w): nothing that lasts looks back further."""
    granularity: Fraction | None
    """The shortest range of an operator (gran); None where no range is finite."""
    punctual: tuple[str, ...]
    """The operators that look at exactly one distance, as text."""
    since: bool
    history: tuple[str, ...]
    """What is asked for at any time in the past (H); of these atoms, that they held is held for ever."""
    reach: dict[str, Fraction]
    """How far back each predicate, or nested formula, is looked at."""
    predicates: int
    rules: int
    arity: int
    least: Fraction | None
    """The smallest bound of an operator that is not 0."""
    grid: Fraction
    """The largest number of which all bounds are multiples."""

    @property
    def variant(self) -> Variant:
        """How the program is run over a stream unless told otherwise: with #-facts where no range is a point."""
        return "algorithm-1" if self.punctual else "hash"

    @property
    def reason(self) -> str:
        """Why the variant is chosen."""
        if self.punctual:
            return f"{self.punctual[0]} looks at exactly one distance"
        return "no operator looks at exactly one distance"

    def atoms(self, constants: int) -> int:
        """How many ground atoms there are over so many constants."""
        return int(self.predicates * constants**self.arity)

    def generic_bound(self, constants: int, step: Fraction, data_grid: Fraction) -> int:
        """Theorem 8: the most elements that Algorithm 1 ever holds, for data at multiples of `data_grid`."""
        grid = _gcd((self.grid, step, data_grid))
        ends = (self.window + 2 * step) / grid + 1
        return math.ceil((4 * ends**2 + 1) * self.atoms(constants))

    def hash_bound(self, constants: int, step: Fraction) -> int | None:
        """Theorem 10: the most elements that the variant with #-facts ever holds, however dense the data are.

        None where it does not apply: an operator looks at exactly one distance, or at none.
        """
        if self.punctual or self.granularity is None or self.least is None:
            return None
        held = 2 * self.atoms(constants) * ((self.window + step) / self.granularity + 1)
        ends = (held + 2) * self.rules ** math.ceil((self.window + 2 * step) / self.least)
        bound: int = math.ceil(4 * ends**2 + self.atoms(constants))
        return bound

    def lines(self, constants: int = 100, step: Fraction | None = None) -> list[str]:
        """What `eventide check` says of a program's memory."""
        size = self.window if step is None and self.window else step or Fraction(1)
        granularity = "none" if self.granularity is None else str(self.granularity)
        lines = [f"window {self.window}, shortest range {granularity}",
                 f"streams run {'with #-facts' if self.variant == 'hash' else 'by Algorithm 1'}: {self.reason}"]
        if self.reach:
            lines.append("looked back at: " + ", ".join(f"{name} {reach}" for name, reach in self.reach.items()))
        if self.history:
            lines.append(f"held for ever, once per atom: {', '.join(self.history)}")
        each, grid = f"{constants} constants, step {size}", _gcd((self.grid, Fraction(1)))
        lines.append(f"Theorem 8, {each}, data at multiples of {grid}: at most "
                     f"{_rounded(self.generic_bound(constants, size, grid))} elements in memory")
        bound = self.hash_bound(constants, size)
        if bound is not None:
            lines.append(f"Theorem 10, {each}, data as dense as they like: at most {_rounded(bound)} elements")
        if self.since and not self.punctual:
            lines.append("the right side of a since is held exactly; for it Theorem 10 promises nothing")
        return lines


def memory_of(rules: Sequence[Rule]) -> Memory:
    """The memory of a program.

    >>> from eventide.syntax.mtl import parse
    >>> memory = memory_of(parse("F(X) :- []-[0,4] <>-[1,2] S(X), <>-[0,inf) G(X).").rules)
    >>> memory.window, memory.granularity, memory.variant, memory.history
    (Fraction(4, 1), Fraction(1, 1), 'hash', ('G(_)',))
    """
    operators = [(f"{operator}{reach}", reach) for rule in rules for operator, reach in ranges_in(rule)]
    bounds = [bound for _, reach in operators for bound in (reach.low, reach.high) if bound is not None]
    lengths = [reach.high - reach.low for _, reach in operators if reach.high is not None]
    looks = [look for rule in rules for look in _looks(rule)]
    arities = {predicate.template: len(predicate.arguments) for rule in rules for predicate in _named(rule)}
    fresh = [arity for rule in rules for arity in _fresh(rule)]
    return Memory(
        max(bounds, default=Fraction(0)), min(lengths, default=None),
        tuple(text for text, reach in operators if reach.is_punctual), any("since" in text for text, _ in operators),
        tuple(sorted({name for name, operator, reach in looks if operator != "[]-" and reach.high is None})),
        {name: max(_finite(reach) for other, _, reach in looks if other == name)
         for name in sorted({name for name, _, _ in looks})},
        len(arities) + len(fresh), len(rules) + len(fresh), max([*arities.values(), *fresh], default=0),
        min((bound for bound in bounds if bound), default=None), _gcd(bounds))


def _formulas(rule: Rule) -> Iterator[Formula]:
    for condition in rule.body:
        formula = formula_of(condition)
        if formula is not None:
            yield from parts_of(formula)


def _named(rule: Rule) -> Iterator[Holds]:
    yield rule.head
    yield from (part for part in _formulas(rule) if isinstance(part, Holds))


def _looks(rule: Rule) -> Iterator[tuple[str, str, Range]]:
    """What each operator looks at, its kind, and how far it looks."""
    for part in _formulas(rule):
        if isinstance(part, Metric):
            yield _described(part.child), part.operator, part.range
        elif isinstance(part, Since):
            yield _described(part.left), "[]-", part.range
            yield _described(part.right), part.operator, part.range
    for operator in rule.operators:
        yield f"the body of {rule.head.template}", "<>-", operator.range


def _described(formula: Formula) -> str:
    return formula.template if isinstance(formula, Holds) else str(formula)


def _fresh(rule: Rule) -> list[int]:
    """The arities of the predicates that the normal form adds for a rule: one per operator, unless it has one only."""
    parts = [part for part in _formulas(rule) if isinstance(part, Metric | Since)]
    if not rule.operators and len(rule.body) == 1 and len(parts) == 1:
        return []
    return [*(len(set(variables_in(part))) for part in parts),
            *(len({v for argument in rule.head.arguments for v in variables_of(argument)}) for _ in rule.operators)]


def _finite(reach: Range) -> Fraction:
    return reach.low if reach.high is None else reach.high


def _gcd(numbers: Iterable[Fraction]) -> Fraction:
    """The largest number of which all are multiples; 1 if they are all zero."""
    parts = list(numbers)
    bottom = math.lcm(*(part.denominator for part in parts))
    top = math.gcd(*(int(part * bottom) for part in parts))
    return Fraction(top, bottom) if top else Fraction(1)


def _rounded(number: int) -> str:
    """A count as people read it; one of more than nine digits as a power of ten that is not below it."""
    return f"{number:,}" if number < 10**9 else f"10^{len(str(number))}"
