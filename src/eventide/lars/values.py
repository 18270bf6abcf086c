"""Values while rules run: arguments of atoms as plain Python values, arithmetic and comparisons on them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping

from eventide.syntax.lars_trees import atom_text
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, arguments_of, functor_of

Value = str | int | Number
"""A word, an integer, or a float, which stays a term: 1 and 1.0 are different arguments."""


def value_of(term: Term) -> Value:
    """The value of an argument.

    >>> value_of(Atom("StreetA")), value_of(Number(3)), value_of(Number(1.0))
    ('StreetA', 3, Number(value=1.0))
    """
    if isinstance(term, Number):
        return term.value if isinstance(term.value, int) else term
    assert isinstance(term, Atom), term
    return term.name


def term_of(value: Value) -> Atom | Number:
    """The argument that has a value."""
    if isinstance(value, str):
        return Atom(value)
    return Number(value) if isinstance(value, int) else value


def python_value(value: object) -> Value:
    """The value of what a table holds: a float becomes a term, what is neither number nor text becomes text.

    >>> python_value(3), python_value(2.5), python_value("a"), python_value(True)
    (3, Number(value=2.5), 'a', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | str | Number):
        return value
    return Number(value) if isinstance(value, float) else str(value)


def ground_atom(term: Term) -> tuple[str, tuple[Value, ...]]:
    """A ground atom as its name and its values.

    >>> ground_atom(Compound("speed", (Atom("StreetA"), Number(9))))
    ('speed', ('StreetA', 9))
    """
    return functor_of(term)[0], tuple(map(value_of, arguments_of(term)))


def ground_text(name: str, row: tuple[Value, ...]) -> str:
    """An atom as programs write it.

    >>> ground_text("speed", ("StreetA", 9))
    'speed("StreetA",9)'
    """
    return atom_text(Compound(name, tuple(map(term_of, row))) if row else Atom(name))


def evaluate(term: Term, binding: Mapping[str, Value]) -> Value | None:
    """The value of an expression; none for what has none, such as a division by zero.

    >>> half = Compound("/", (Variable("X"), Number(2)))
    >>> evaluate(half, {"X": -7}), evaluate(half, {"X": "b"}), evaluate(half, {"X": Number(7.0)})
    (-3, None, Number(value=3.5))
    """
    if isinstance(term, Variable):
        return binding[term.name]
    if not isinstance(term, Compound):
        return value_of(term)
    left, right = (_number(evaluate(side, binding)) for side in term.args)
    if left is None or right is None:
        return None
    try:
        result = _OPERATIONS[term.functor](left, right)
    except (ArithmeticError, ValueError):
        return None
    if isinstance(result, int):
        return result
    return Number(result) if isinstance(result, float) and math.isfinite(result) else None


def compare(sign: str, left: Value, right: Value) -> bool:
    """Whether a comparison holds; order is between numbers, `=` and `!=` also between words.

    >>> compare("<=", 3, 18), compare("=", 1, Number(1.0)), compare("<", "a", "b"), compare("!=", 3, "b")
    (True, True, False, True)
    """
    one, other = _number(left), _number(right)
    if one is None or other is None:
        return (sign == "=" and left == right) or (sign == "!=" and left != right)
    return _COMPARISONS[sign](one, other)


def _number(value: Value | None) -> int | float | None:
    if isinstance(value, Number):
        return value.value
    return value if isinstance(value, int) else None


def _divided(left: int | float, right: int | float) -> int | float:
    """The quotient; of integers, the whole one towards zero."""
    if not (isinstance(left, int) and isinstance(right, int)):
        return left / right
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int | float, right: int | float) -> int | float:
    """What an integer division leaves."""
    if not (isinstance(left, int) and isinstance(right, int)):
        raise ValueError("remainders are of integers")
    return left - _divided(left, right) * right


def _power(left: int | float, right: int | float) -> int | float:
    """A power; one that would fill the memory has no value."""
    if right < 0 or (isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > _LONGEST):
        raise ValueError("no such power")
    power: int | float = left**right
    return power


_LONGEST = 4096  # bits of a power of integers
_OPERATIONS: dict[str, Callable[[int | float, int | float], int | float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divided, "%": _remainder, "^": _power}
_COMPARISONS: dict[str, Callable[[int | float, int | float], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
