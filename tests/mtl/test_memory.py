"""What `check` says of a program's memory: window, granularity, history, and the bounds of Theorems 8 and 10."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from eventide.analysis.mtl.memory import Memory, memory_of
from eventide.syntax.mtl import parse


def memory(text: str) -> Memory:
    return memory_of(parse(text).rules)


def test_golden_cases(shared_data: Callable[[str], Path]) -> None:
    for case in json.loads(shared_data("golden/mtl/cases.json").read_text()):
        found = memory("\n".join(case["program"]))
        assert str(found.window) == case["window_w"], case["name"]
        assert (None if found.granularity is None else str(found.granularity)) == case["gran"], case["name"]
        assert bool(found.punctual) == case["punctual_operators"], case["name"]
        assert found.variant == ("algorithm-1" if case["punctual_operators"] else "hash")


def test_the_window_is_of_single_operators_not_of_chains() -> None:
    assert memory("F(X) :- []-[0,4] <>-(1/2,2] S(X).\n[]+[0,3] M(X) :- F(X).").window == 4


def test_history_is_what_is_asked_for_at_any_time_in_the_past() -> None:
    found = memory("Q(X) :- <>-[2,inf) A(X), []-[0,inf) B(X), <>-[0,inf) <>-[0,1] C(X).\n[]+[1,inf) E :- D.")
    assert found.history == ("<>-[0,1] C(X)", "A(_)", "the body of E")
    assert found.reach["A(_)"] == 2
    assert found.reach["C(_)"] == 1


def test_theorem_8() -> None:
    """Two predicates of arity 1, w = 2, everything at multiples of 1/2: 4((2+2)/(1/2)+1)²+1 per atom."""
    found = memory("B(X) :- <>-[1,2] A(X).")
    assert found.generic_bound(10, Fraction(1), Fraction(1, 2)) == (4 * 9**2 + 1) * 2 * 10
    assert found.generic_bound(10, Fraction(1), Fraction(1, 1000)) > 10**8, "dense data need much more"


def test_theorem_10() -> None:
    """G = 2·10 atoms, one rule, gran = 1, K = 1: 4((2G((2+1)/1+1)+2)·1⁴)²+G, whatever the data."""
    found = memory("B(X) :- <>-[1,2] A(X).")
    assert found.hash_bound(10, Fraction(1)) == 4 * (2 * 20 * 4 + 2) ** 2 + 20
    assert memory("B :- <>-[1,1] A.").hash_bound(10, Fraction(1)) is None
    assert memory("B :- A.").hash_bound(10, Fraction(1)) is None, "without operators it is plain Datalog"


def test_the_normal_form_counts_nested_operators_as_predicates() -> None:
    plain, nested = memory("F(X) :- <>-[0,2] S(X)."), memory("F(X) :- []-[0,4] <>-[0,2] S(X).")
    assert (plain.predicates, plain.rules) == (2, 1)
    assert (nested.predicates, nested.rules) == (4, 3)


def test_what_check_prints() -> None:
    assert memory("Q(X) :- <>-[0,inf) A(X), []-[1,2] B(X).").lines(constants=10, step=Fraction(1)) == [
        "window 2, shortest range 1",
        "streams run with #-facts: no operator looks at exactly one distance",
        "looked back at: A(_) 0, B(_) 2",
        "held for ever, once per atom: A(_)",
        "Theorem 8, 10 constants, step 1, data at multiples of 1: at most 5,050 elements in memory",
        "Theorem 10, 10 constants, step 1, data as dense as they like: at most 10^10 elements",
    ]
    assert "[]-[1,1] looks at exactly one distance" in memory("Q :- []-[1,1] A.").lines()[1]
