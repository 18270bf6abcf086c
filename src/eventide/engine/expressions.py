"""Expressions over whole columns, with Prolog's arithmetic: integers stay integers, `mod` follows the divisor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.algebra.expressions import Apply, Column, Comparison, Constant, Expression, Kind, Logic, columns_of
from eventide.algebra.nodes import NUMBER, STAMP, TIME
from eventide.engine.domains import Domain, value_of
from eventide.engine.relation import Rows, Space
from eventide.errors import ProgramError, RuleError
from eventide.kernels.arrays import Array, Mask
from eventide.syntax.terms import Number

Values = Any  # an array or a scalar: NumPy broadcasts


def _integral(*values: Values) -> bool:
    return all(np.asarray(v).dtype.kind in "iub" for v in values)


def _divide(a: Values, b: Values) -> Values:
    # int / int is an integer when it divides exactly, as in SWI-Prolog; as a column it is a float then, equal in value
    return np.true_divide(a, b)


def _quotient(a: Values, b: Values) -> Values:
    if not _integral(a, b):
        return _whole(np.trunc(np.true_divide(a, b)))
    down = np.floor_divide(a, b)
    return down + ((down < 0) & (down * b != a))


def _shared(a: Values, b: Values) -> Values:
    return _quotient(a, b) if _integral(a, b) else np.true_divide(a, b)


def _power(a: Values, b: Values) -> Values:
    return np.power(a, b) if _integral(a, b) and np.all(np.asarray(b) >= 0) else np.power(np.asarray(a, np.float64), b)


def _undefined_at_zero(function: Callable[[Values, Values], Values]) -> Callable[[Values, Values], Values]:
    """The function with not-a-number where the divisor is zero: such a row has no answer, the others have theirs."""
    def guarded(a: Values, b: Values) -> Values:
        zero = np.equal(b, 0)
        if not np.any(zero):
            return function(a, b)
        return np.where(zero, np.nan, function(a, np.where(zero, 1, b)))

    return guarded


def _whole(values: Values) -> Values:
    """Rounded numbers as integers, unless one of them is none."""
    return values.astype(np.int64) if np.all(np.isfinite(values)) else values


def _differ(a: Values, b: Values) -> Values:
    return np.not_equal(a, b) & np.equal(a, a) & np.equal(b, b)  # what has no value differs from nothing


_BINARY: dict[str, Any] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": _undefined_at_zero(_divide),
    "//": _undefined_at_zero(_quotient), "quotient": _undefined_at_zero(_shared),
    "div": _undefined_at_zero(np.floor_divide),
    "mod": _undefined_at_zero(np.mod), "rem": _undefined_at_zero(np.fmod),
    "**": _power, "^": _power, "min": np.minimum, "max": np.maximum,
    "atan2": np.arctan2,
}
_UNARY: dict[str, Any] = {
    "-": np.negative, "+": np.positive, "abs": np.abs, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "exp": np.exp, "log": np.log, "sign": np.sign,
    "floor": lambda a: _whole(np.floor(a)), "ceiling": lambda a: _whole(np.ceil(a)),
    "round": lambda a: _whole(np.floor(np.asarray(a) + 0.5)), "truncate": lambda a: _whole(np.trunc(a)),
    "integer": lambda a: _whole(np.floor(np.asarray(a) + 0.5)), "float": lambda a: np.asarray(a, np.float64),
}
_NUMERIC: dict[str, Any] = {
    "=:=": np.equal, "=\\=": _differ, "<": np.less, "=<": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}
_ORDER: dict[str, Any] = {"@<": np.less, "@=<": np.less_equal, "@>": np.greater, "@>=": np.greater_equal}


_MOST = 1 << 63
_GROWING = ("+", "-", "*", "**", "^")


def _check_range(operator: str, operands: list[Values]) -> None:
    """Integers have 64 bits: refuse what might not fit, by the extremes of the operands."""
    sizes = [np.asarray(o) for o in operands]
    if any(size.size == 0 for size in sizes):
        return
    largest = [max(abs(int(size.min())), abs(int(size.max()))) for size in sizes]
    if operator in ("+", "-"):
        fits = sum(largest) < _MOST
    elif operator == "*":
        fits = largest[0] * largest[-1] < _MOST
    else:
        fits = largest[0] <= 1 or (largest[1] < 64 and largest[0] ** largest[1] < _MOST)
    if not fits:
        raise RuleError("arithmetic-overflow", f"a result of '{operator}' does not fit 64 bits",
                        "use floating-point numbers, such as 1.0 * X", operator=operator)


def numbers(expression: Expression, rows: Rows, space: Space) -> Values:
    """The numeric value of an expression for every row (an array, or a scalar if it does not depend on the row)."""
    match expression:
        case Constant(Number(value)):
            return value if isinstance(value, float) or -_MOST <= value < _MOST else float(value)
        case Constant(value):
            raise ProgramError(f"'{value}' is not a number")
        case Column("@"):
            return rows.time + space.timeline.origin
        case Column(name):
            values = rows.column(name)
            type_ = rows.type(name)
            if type_ == STAMP:
                return values + space.timeline.origin
            return values if type_ == NUMBER else space.domains[type_].numbers_of(values)
        case Apply(operator, arguments):
            operands = [numbers(a, rows, space) for a in arguments]
            if operator in _GROWING and _integral(*operands):
                _check_range(operator, operands)
            with np.errstate(all="ignore"):
                return (_BINARY if len(operands) == 2 else _UNARY)[operator](*operands)
    raise ProgramError(f"'{expression}' is not arithmetic")


def _domain(expression: Expression, rows: Rows, space: Space) -> Domain | None:
    if isinstance(expression, Column):
        type_ = rows.type(expression.name)
        return None if type_ in (NUMBER, STAMP) else space.domains[type_]
    return None


def _codes(expression: Expression, rows: Rows, domain: Domain) -> Values:
    if isinstance(expression, Column):
        return rows.column(expression.name)
    assert isinstance(expression, Constant)
    return domain.find(value_of(expression.value))


def _identity(left: Expression, right: Expression, rows: Rows, space: Space) -> Values:
    domain = _domain(left, rows, space) or _domain(right, rows, space)
    if domain is not None:
        return np.equal(_codes(left, rows, domain), _codes(right, rows, domain))
    if isinstance(left, Constant) and isinstance(right, Constant):
        return left.value == right.value
    a, b = numbers(left, rows, space), numbers(right, rows, space)
    return np.equal(a, b) if _integral(a) == _integral(b) else np.False_


def _ranks(left: Expression, right: Expression, rows: Rows, domain: Domain) -> tuple[Values, Values]:
    for side in (left, right):
        if isinstance(side, Constant):
            domain.code(value_of(side.value))  # so that it has a rank
    return domain.ranks[_codes(left, rows, domain)], domain.ranks[_codes(right, rows, domain)]


def test(expression: Expression, rows: Rows, space: Space) -> npt.NDArray[np.bool_]:
    """Which rows pass a test."""
    result = np.asarray(_test(expression, rows, space), np.bool_)
    return np.broadcast_to(result, (rows.length,)) if result.ndim == 0 else result


def _test(expression: Expression, rows: Rows, space: Space) -> Values:
    match expression:
        case Comparison("==", left, right):
            return _identity(left, right, rows, space)
        case Comparison("\\==", left, right):
            return np.logical_not(_identity(left, right, rows, space))
        case Comparison(operator, left, right) if operator in _ORDER:
            domain = _domain(left, rows, space) or _domain(right, rows, space)
            if domain is None:
                return _ORDER[operator](numbers(left, rows, space), numbers(right, rows, space))
            return _ORDER[operator](*_ranks(left, right, rows, domain))
        case Comparison(operator, left, right):
            with np.errstate(invalid="ignore"):
                return _NUMERIC[operator](numbers(left, rows, space), numbers(right, rows, space))
        case Logic("not", (argument,)):
            return np.logical_not(_test(argument, rows, space))
        case Logic("and", arguments):
            result: Values = np.True_
            for argument in arguments:
                result = np.logical_and(result, _test(argument, rows, space))
            return result
        case Logic("or", arguments):
            result = np.False_
            for argument in arguments:
                result = np.logical_or(result, _test(argument, rows, space))
            return result
        case Kind(kind, argument):
            return _kind(kind, argument, rows, space)
    raise ProgramError(f"'{expression}' is not a test")


def _kind(kind: str, argument: Expression, rows: Rows, space: Space) -> Values:
    tests: dict[str, tuple[type, ...]] = {"number": (int, float), "integer": (int,), "float": (float,), "atom": (str,)}
    domain = _domain(argument, rows, space)
    if domain is not None:
        flags = np.array([isinstance(v, tests[kind]) for v in domain.values], np.bool_)
        return flags[_codes(argument, rows, domain)]
    if isinstance(argument, Constant):
        return isinstance(value_of(argument.value), tests[kind])
    values = numbers(argument, rows, space)
    if _integral(values):
        return {"number": True, "integer": True, "float": False, "atom": False}[kind]
    words = np.isnan(values)  # a column of numbers has a word as not-a-number, and then all its numbers as floats
    whole = np.logical_and(np.any(words), np.equal(values, np.floor(values)))
    return {"number": ~words, "integer": whole, "float": ~words & ~whole, "atom": words}[kind]


def call_function(function: Callable[..., Any], name: str, inputs: Sequence[Expression], outputs: int, rows: Rows,
                  space: Space) -> list[npt.NDArray[Any]]:
    """What a registered function gives for the rows: one array per output, or one of truth values.

    Inputs are arrays of numbers, or of Python values where a column holds symbols.
    """
    columns = [np.broadcast_to(_plain(e, rows, space), (rows.length,)) for e in inputs]
    answer = function(*columns)
    parts = list(answer) if isinstance(answer, tuple) else [answer]
    if len(parts) != max(outputs, 1):
        raise RuleError("function-result", f"the function {name} gave {len(parts)} arrays, "
                        f"{max(outputs, 1)} expected", "return one array per computed argument")
    result = []
    for part in parts:
        array = np.asarray(part)
        wanted = "b" if not outputs else "if"
        if array.shape != (rows.length,) or array.dtype.kind not in wanted:
            kinds = "truth values" if not outputs else "numbers"
            raise RuleError("function-result", f"the function {name} gave an array of {array.dtype} with shape "
                            f"{array.shape}; expected {rows.length} {kinds}", "return one value per row")
        result.append(np.ascontiguousarray(array.astype(np.int64 if array.dtype.kind == "i" else array.dtype)))
    return result


def _plain(expression: Expression, rows: Rows, space: Space) -> Values:
    domain = _domain(expression, rows, space)
    if domain is not None and not all(isinstance(v, int | float) for v in domain.values):
        values = np.empty(len(domain.values), object)
        values[:] = domain.values
        return values[_codes(expression, rows, domain)]
    if isinstance(expression, Constant) and not isinstance(expression.value, Number):
        return np.asarray(value_of(expression.value), object)
    return numbers(expression, rows, space)


def computed(expression: Expression, rows: Rows, space: Space, domain: Domain | None) -> tuple[Values, Mask]:
    """The value of an expression for every row that has one, and which have; with a domain, as its codes there.

    Rows of integers are computed by themselves then, so that their values are integers whatever stands in other rows.
    """
    defined = np.ones(rows.length, np.bool_)
    if domain is None:
        return _defined(expression, rows, space, defined, np.arange(rows.length)), defined
    codes = np.empty(rows.length, np.int64)
    whole = _of_integers(expression, rows, space)
    for part in (whole, ~whole) if not whole.all() else (whole,):
        at = np.flatnonzero(part)
        values = _defined(expression, rows, space, defined, at)
        codes[at[defined[at]]] = domain.encode_numbers(np.ascontiguousarray(values))
    return codes[defined], defined


def _defined(expression: Expression, rows: Rows, space: Space, defined: Mask, at: Array) -> Values:
    """The values of some rows that have one; the others are struck off `defined`."""
    values: Values = np.empty(0, np.int64)
    for _ in range(2):  # again without rows that have no value: integers stay integers
        chosen = rows if at.shape[0] == rows.length else rows.take(at)
        values = np.broadcast_to(np.asarray(numbers(expression, chosen, space)), (chosen.length,))
        undefined = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, np.bool_)
        if not undefined.any():
            break
        defined[at[undefined]] = False
        at = at[~undefined]
    return values.astype(np.int64) if values.dtype.kind in "bu" else values


def _of_integers(expression: Expression, rows: Rows, space: Space) -> Mask:
    """Which rows have integers only in the columns of an expression."""
    whole = np.ones(rows.length, np.bool_)
    for name in set(columns_of(expression)) - {TIME}:
        type_ = rows.type(name)
        if type_ not in (NUMBER, STAMP) and space.domains[type_].numbers.dtype.kind == "f":
            whole &= space.domains[type_].integral()[rows.column(name)]
    return whole
