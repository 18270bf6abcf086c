"""Python functions of NumPy columns as predicates of the rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import eventide as ev

Column = np.ndarray[Any, Any]
EVENTS = pa.table({"time": [1, 2, 3, 4], "event": ["at"] * 4, "who": ["a", "a", "b", "b"], "x": [3.0, 0.5, 6.0, 1.0],
                   "y": [4.0, 0.5, 8.0, 1.0]})


def distance(x: Column, y: Column) -> Column:
    return np.hypot(x, y)


def is_far(x: Column, y: Column) -> Column:
    return np.hypot(x, y) > 4


def run(rules: str, **predicates: Any) -> dict[str, list[tuple[int, int | None]]]:
    return ev.parse(rules, predicates=predicates).run(EVENTS).timeline()


def test_a_test() -> None:
    rules = """
        initiatedAt(away(P)=true, T) :- happensAt(at(P, X, Y), T), is_far(X, Y).
        terminatedAt(away(P)=true, T) :- happensAt(at(P, X, Y), T), \\+ is_far(X, Y).
    """
    assert run(rules, is_far=is_far) == {"away(a)=true": [(2, 3)], "away(b)=true": [(4, 5)]}


def test_a_computation() -> None:
    rules = """
        initiatedAt(away(P)=true, T) :- happensAt(at(P, X, Y), T), distance(X, Y, D), D > 6.
        initiatedAt(away(P)=exact, T) :- happensAt(at(P, X, Y), T), distance(X, Y, 5).
    """
    assert run(rules, distance=distance) == {"away(a)=exact": [(2, None)], "away(b)=true": [(4, None)]}


def test_a_computed_value_of_a_fluent() -> None:
    rules = "initiatedAt(from(P)=D, T) :- happensAt(at(P, X, Y), T), distance(X, Y, D), D > 4."
    assert run(rules, distance=distance) == {"from(a)=5.0": [(2, None)], "from(b)=10.0": [(4, None)]}


def test_symbols_come_as_python_values() -> None:
    seen: list[Any] = []

    def known(who: Column) -> Column:
        seen.extend(who.tolist())
        return np.array([name == "b" for name in who], np.bool_)

    rules = "initiatedAt(here(P)=true, T) :- happensAt(at(P, _, _), T), known(P)."
    assert run(rules, known=known) == {"here(b)=true": [(4, None)]}
    assert set(seen) == {"a", "b"}


def test_wrong_results_are_said() -> None:
    rules = "initiatedAt(away(P)=true, T) :- happensAt(at(P, X, Y), T), bad(X, Y)."

    def bad(x: Column, y: Column) -> Column:
        return x[:1] > y[:1]

    with pytest.raises(ev.EventideError, match="expected 4 truth values"):
        run(rules, bad=bad)


def test_too_few_arguments_are_said() -> None:
    program = ev.parse("initiatedAt(f(P)=true, T) :- happensAt(at(P, X, _), T), distance(X).",
                       predicates={"distance": distance})
    assert [d.code for d in program.check() if d.severity == "error"] == ["wrong-arity"]
