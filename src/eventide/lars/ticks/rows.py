"""Expressions of plans over single rows of Python values: what `engine.expressions` does for whole columns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from eventide.algebra.expressions import Apply, Column, Comparison, Constant, Expression, Logic
from eventide.lars.values import Value, evaluate, value_of
from eventide.syntax.terms import Compound, Number, Variable

Row = tuple[Value, ...]
Function = Callable[[Row, int], Any]
"""Of a row and the time-point at which it is looked at."""
_NUMERIC: dict[str, Callable[[Any, Any], bool]] = {
    "=:=": operator.eq, "=\\=": operator.ne, "<": operator.lt, "=<": operator.le, ">": operator.gt, ">=": operator.ge}
_NAMES = {"quotient": "/", "rem": "%"}


def _number(value: Value | None) -> int | float | None:
    return value.value if isinstance(value, Number) else value if isinstance(value, int) else None


def value_function(expression: Expression, places: Mapping[str, int]) -> Function:
    """The value of an expression; None where it has none. `places` are those of the columns.

    >>> double = Apply("*", (Constant(Number(2)), Column("X")))
    >>> value_function(double, {"X": 0})((21,), 0)
    42
    """
    match expression:
        case Column("@"):
            return lambda row, t: t
        case Column(name):
            place = places[name]
            return lambda row, t: row[place]
        case Constant(term):
            constant = value_of(term)
            return lambda row, t: constant
        case Apply(name, arguments):
            left, right = (value_function(argument, places) for argument in arguments)
            term = Compound(_NAMES.get(name, name), (Variable("left"), Variable("right")))
            return lambda row, t: evaluate(term, {"left": left(row, t), "right": right(row, t)})
    raise TypeError(f"no value: {expression}")


def tester(expression: Expression, places: Mapping[str, int]) -> Function:
    """Whether a row passes a test.

    >>> small = Comparison("=<", Column("X"), Constant(Number(3)))
    >>> tester(small, {"X": 0})((3,), 0), tester(small, {"X": 0})(("word",), 0)
    (True, False)
    """
    match expression:
        case Logic("not", (inner,)):
            refused = tester(inner, places)
            return lambda row, t: not refused(row, t)
        case Logic(kind, arguments):
            parts = [tester(argument, places) for argument in arguments]
            gather = all if kind == "and" else any
            return lambda row, t: gather(part(row, t) for part in parts)
        case Comparison("==", left, right):
            one, other = value_function(left, places), value_function(right, places)
            return lambda row, t: one(row, t) == other(row, t)
        case Comparison(name, Column(column), Constant(Number(limit))) if column != "@":
            place, compares = places[column], _NUMERIC[name]
            return lambda row, t: (number := _number(row[place])) is not None and compares(number, limit)
        case Comparison(name, left, right):
            one, other, numbers = value_function(left, places), value_function(right, places), _NUMERIC[name]
            return lambda row, t: ((a := _number(one(row, t))) is not None and (b := _number(other(row, t))) is not None
                                   and numbers(a, b))
    raise TypeError(f"no test: {expression}")
