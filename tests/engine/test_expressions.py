"""Expressions over columns: Prolog's arithmetic, comparisons by value, identity and standard order, kinds."""

from __future__ import annotations

import math
from operator import add, mul
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.world import World, term

from eventide.algebra import nodes as n
from eventide.algebra.expressions import Apply, Column, Comparison, Constant, Expression, Kind, Logic
from eventide.engine.expressions import numbers, test
from eventide.engine.relation import Rows
from eventide.errors import ProgramError, RuleError
from eventide.syntax.terms import Atom, Number

test.__test__ = False  # type: ignore[attr-defined]  # the engine's function, not a test of ours


def constant(value: int | float | str) -> Constant:
    return Constant(term(value))


def compute(operator: str, *arguments: Any) -> Any:
    """The value of an operator on one row whose columns are the arguments."""
    world = World()
    names = [f"a{i}" for i in range(len(arguments))]
    node = world.rows(" ".join(f"{name}:number" for name in names), [arguments])
    executor = world.executor()
    rows = executor.evaluate(node)
    assert isinstance(rows, Rows)
    value = numbers(Apply(operator, tuple(map(Column, names))), rows, executor.space)
    return np.asarray(value).reshape(-1)[0].item()


def holds(expression: Expression, text: str, *row: Any) -> bool:
    """Whether one row passes a test."""
    world = World()
    return bool(world.run(n.Select(world.rows(text, [row]), expression)))


# ------------------------------------------------------------------------------------------------ arithmetic


@pytest.mark.parametrize(
    "operator, a, b, expected",
    [
        ("+", 2, 3, 5), ("-", 2, 3, -1), ("*", 2, -3, -6), ("/", 7, 2, 3.5),
        ("//", 7, 2, 3), ("//", -7, 2, -3), ("//", 7, -2, -3),  # truncates
        ("div", 7, 2, 3), ("div", -7, 2, -4), ("div", 7, -2, -4),  # rounds down
        ("mod", 7, 3, 1), ("mod", -7, 3, 2), ("mod", 7, -3, -2),  # the sign of the divisor
        ("rem", 7, 3, 1), ("rem", -7, 3, -1), ("rem", 7, -3, 1),  # the sign of the dividend
        ("**", 2, 10, 1024), ("^", 2, 0, 1), ("**", 2, -1, 0.5), ("**", 2.0, 3, 8.0),
        ("min", 2, 3, 2), ("max", 2, 3, 3), ("atan2", 1.0, 1.0, math.pi / 4),
    ],
)  # fmt: skip
def test_two_arguments(operator: str, a: Any, b: Any, expected: Any) -> None:
    found = compute(operator, a, b)
    assert found == pytest.approx(expected) and type(found) is type(expected)


@pytest.mark.parametrize(
    "operator, a, expected",
    [
        ("-", 3, -3), ("+", 3, 3), ("abs", -3, 3), ("sign", -2.5, -1.0), ("sqrt", 9, 3.0), ("exp", 0, 1.0),
        ("log", 1, 0.0), ("sin", 0, 0.0), ("cos", 0, 1.0), ("tan", 0, 0.0), ("asin", 1, math.pi / 2),
        ("acos", 1, 0.0), ("atan", 0, 0.0), ("float", 2, 2.0),
        ("floor", -2.5, -3), ("ceiling", -2.5, -2), ("truncate", -2.5, -2), ("round", 2.5, 3), ("integer", 2.4, 2),
    ],
)  # fmt: skip
def test_one_argument(operator: str, a: Any, expected: Any) -> None:
    found = compute(operator, a)
    assert found == pytest.approx(expected) and type(found) is type(expected)


INTEGERS = st.integers(-1000, 1000) | st.integers(-(2**62), 2**62)


@given(INTEGERS, INTEGERS.filter(bool))
def test_the_laws_of_division(a: int, b: int) -> None:
    assert b * compute("//", a, b) + compute("rem", a, b) == a
    assert b * compute("div", a, b) + compute("mod", a, b) == a


@pytest.mark.parametrize("operator, a, b", [
    ("+", 2**62, 2**62), ("-", -(2**63), 1), ("*", 2**32, 2**32), ("**", 10, 19)])
def test_integers_that_outgrow_64_bits(operator: str, a: int, b: int) -> None:
    with pytest.raises(RuleError, match="does not fit 64 bits") as caught:
        compute(operator, a, b)
    assert (caught.value.code, caught.value.operator) == ("arithmetic-overflow", operator)


@pytest.mark.parametrize("operator, a, b", [("*", 2.0**62, 4), ("+", 2**62, 2**61), ("**", 1, 1000), ("**", 2, 62)])
def test_floats_and_what_fits_do_not_overflow(operator: str, a: int | float, b: int) -> None:
    assert compute(operator, a, b) == {"*": mul, "+": add, "**": pow}[operator](a, b)


def test_nothing_overflows_without_rows() -> None:
    world = World()
    doubled = n.Compute(world.rows("N:number", []), n.Field("M", n.NUMBER), Apply("+", (Column("N"), Column("N"))))
    assert world.run(doubled) == []


def test_time_is_the_time_of_the_input() -> None:
    world = World()
    later = Apply("+", (Column("@"), constant(5)))
    assert world.run(n.Compute(world.points("X", [("ann", 7)]), n.Field("N", n.NUMBER), later)) == [("ann", 12, 7)]


def test_numbers_of_a_domain_and_huge_constants() -> None:
    world = World()
    rows = world.rows("X", [(4,), (2.5,)])
    product = Apply("*", (Column("X"), constant(2**70)))
    assert sorted(row[1] for row in world.run(n.Compute(rows, n.Field("N", n.NUMBER), product))) == [
        2.5 * 2.0**70, 4 * 2.0**70]


@pytest.mark.parametrize("expression", [Constant(Atom("red")), Comparison("<", Column("X"), Column("X"))])
def test_what_is_no_number(expression: Expression) -> None:
    world = World()
    with pytest.raises(ProgramError, match="is not"):
        world.run(n.Compute(world.rows("X", [("ann",)]), n.Field("N", n.NUMBER), expression))


def test_what_is_no_test() -> None:
    with pytest.raises(ProgramError, match="'X' is not a test"):
        holds(Column("X"), "X", "ann")


# ------------------------------------------------------------------------------------------------ comparisons


@pytest.mark.parametrize("operator, expected", [
    ("=:=", [False, True, False]), ("=\\=", [True, False, True]), ("<", [True, False, False]),
    ("=<", [True, True, False]), (">", [False, False, True]), (">=", [False, True, True])])
def test_numbers_compare_by_value(operator: str, expected: list[bool]) -> None:
    assert [holds(Comparison(operator, Column("N"), constant(2.0)), "N:number", v) for v in (1, 2, 3)] == expected


def test_symbols_are_no_numbers() -> None:
    for operator in ("=:=", "<", ">"):
        assert not holds(Comparison(operator, Column("X"), constant(2)), "X", "red")


def test_identity_tells_integers_from_floats() -> None:
    same = Comparison("==", Column("X"), constant(1))
    assert holds(same, "X", 1)
    assert not holds(same, "X", 1.0)
    assert not holds(same, "X", "1")
    assert holds(Comparison("==", Column("N"), constant(1)), "N:number", 1)
    assert not holds(Comparison("==", Column("N"), constant(1)), "N:number", 1.0)


def test_identity_of_columns_and_of_constants() -> None:
    assert holds(Comparison("==", Column("X"), Column("Y")), "X Y", "ann", "ann")
    assert holds(Comparison("\\==", Column("X"), Column("Y")), "X Y", "ann", "bob")
    assert holds(Comparison("==", constant("a"), constant("a")), "X", "ann")
    assert not holds(Comparison("==", constant("a"), constant(1)), "X", "ann")


@pytest.mark.parametrize("operator, expected", [
    ("@<", [True, True, False, False]), ("@=<", [True, True, True, False]),
    ("@>", [False, False, False, True]), ("@>=", [False, False, True, True])])
def test_standard_order_of_terms(operator: str, expected: list[bool]) -> None:
    """Numbers come before atoms, atoms by their letters."""
    values = (7, "ann", "bob", "cat")
    assert [holds(Comparison(operator, Column("X"), constant("bob")), "X", v) for v in values] == expected


def test_standard_order_of_numbers_and_of_two_columns() -> None:
    assert holds(Comparison("@<", Column("N"), constant(3)), "N:number", 2)
    assert holds(Comparison("@<", Column("X"), Column("Y")), "X Y", "ann", "bob")


# ------------------------------------------------------------------------------------------------ logic and kinds


def test_logic() -> None:
    yes, no = Comparison("<", constant(1), constant(2)), Comparison(">", constant(1), constant(2))
    assert holds(Logic("and", (yes, yes)), "X", "ann") and not holds(Logic("and", (yes, no)), "X", "ann")
    assert holds(Logic("or", (no, yes)), "X", "ann") and not holds(Logic("or", (no, no)), "X", "ann")
    assert holds(Logic("not", (no,)), "X", "ann")
    assert holds(Logic("and", ()), "X", "ann") and not holds(Logic("or", ()), "X", "ann")


@pytest.mark.parametrize("kind, expected", [
    ("number", [True, True, False]), ("integer", [True, False, False]), ("float", [False, True, False]),
    ("atom", [False, False, True])])
def test_kinds(kind: Any, expected: list[bool]) -> None:
    values = (1, 1.5, "ann")
    assert [holds(Kind(kind, Column("X")), "X", value) for value in values] == expected
    assert [holds(Kind(kind, constant(value)), "X", "bob") for value in values] == expected
    assert [holds(Kind(kind, Column("N")), "N:number", value) for value in values[:2]] == expected[:2]


def test_expressions_as_text() -> None:
    product = Apply("*", (Column("X"), Constant(Number(2))))
    assert str(Comparison("<", product, Apply("mod", (Column("Y"), Constant(Number(3)))))) == "(X * 2) < (Y mod 3)"
    assert str(Apply("min", (Column("X"), Column("Y")))) == "min(X, Y)"
    assert str(Logic("not", (Kind("atom", Column("X")),))) == "not (atom(X))"
    assert str(Logic("and", (Logic("or", ()), Kind("atom", Column("X"))))) == "(false) and atom(X)"
    assert str(Logic("and", ())) == "true"
