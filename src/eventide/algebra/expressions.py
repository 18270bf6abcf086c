"""Expressions over the columns of one row: arithmetic, comparisons, tests. Immutable trees; evaluated in `engine/`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from eventide.syntax.terms import Term

CONSTANTS = {"pi": 3.141592653589793, "e": 2.718281828459045, "inf": float("inf"), "epsilon": 2.220446049250313e-16}
ARITHMETIC = ("+", "-", "*", "/", "//", "mod", "rem", "**", "^", "min", "max", "atan2", "div")
FUNCTIONS = ("-", "+", "abs", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "floor", "ceiling",
             "round", "truncate", "integer", "float", "sign")


@dataclass(frozen=True, slots=True)
class Column:
    """The value of a column."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Constant:
    """A ground term."""

    value: Term

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Apply:
    """An arithmetic operator or function applied to numbers."""

    operator: str
    arguments: tuple[Expression, ...]

    def __str__(self) -> str:
        if len(self.arguments) == 2 and not self.operator.isalpha():
            return f"({self.arguments[0]} {self.operator} {self.arguments[1]})"
        if len(self.arguments) == 2 and self.operator in ("mod", "rem", "div"):
            return f"({self.arguments[0]} {self.operator} {self.arguments[1]})"
        return f"{self.operator}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A numeric comparison, or (`==` and its kind) one of terms by identity or standard order."""

    operator: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True, slots=True)
class Logic:
    """`and`, `or`, `not` of tests; `and` of nothing is true, `or` of nothing is false."""

    operator: Literal["and", "or", "not"]
    arguments: tuple[Expression, ...]

    def __str__(self) -> str:
        if self.operator == "not":
            return f"not ({self.arguments[0]})"
        if not self.arguments:
            return "true" if self.operator == "and" else "false"
        return f" {self.operator} ".join(f"({a})" if isinstance(a, Logic) else str(a) for a in self.arguments)


@dataclass(frozen=True, slots=True)
class Kind:
    """A test of what a value is: `number`, `integer`, `float`, `atom`."""

    kind: Literal["number", "integer", "float", "atom"]
    argument: Expression

    def __str__(self) -> str:
        return f"{self.kind}({self.argument})"


Expression = Column | Constant | Apply | Comparison | Logic | Kind


def columns_of(expression: Expression) -> Iterator[str]:
    """The names of the columns an expression reads, with repetition."""
    if isinstance(expression, Column):
        yield expression.name
    elif isinstance(expression, Apply | Logic):
        for argument in expression.arguments:
            yield from columns_of(argument)
    elif isinstance(expression, Comparison):
        yield from columns_of(expression.left)
        yield from columns_of(expression.right)
    elif isinstance(expression, Kind):
        yield from columns_of(expression.argument)
