"""Formulas and their probabilities against truth tables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import RuleError
from eventide.kernels.formulas import FALSE, TRUE
from eventide.probability import circuits
from eventide.probability.circuits import Circuits, Histories
from eventide.probability.formulas import Formulas

CHANCES = [0.1, 0.25, 0.5, 0.9]
Group = tuple[bool, list[int]]  # whether any of them or all, and numbers that choose among the literals so far


@st.composite
def groups(draw: st.DrawFn) -> list[Group]:
    """Conjunctions and disjunctions of what was made before."""
    return draw(st.lists(st.tuples(st.booleans(), st.lists(st.integers(0, 40), max_size=30)), min_size=1, max_size=8))


def chosen(literals: list[int], number: int) -> int:
    literal = literals[number // 2 % len(literals)]
    return -literal if number % 2 else literal


def built(formulas: Formulas, made: list[Group]) -> list[int]:
    literals = [TRUE, *formulas.chances(np.array(CHANCES), np.arange(4)).tolist()]
    for any_, numbers in made:
        operands = np.array([chosen(literals, number) for number in numbers], np.int64)
        build = formulas.any_of if any_ else formulas.all_of
        literals.append(int(build(np.array([0, operands.shape[0]]), operands)[0]))
    return literals


def tabled(made: list[Group]) -> list[float]:
    """The probability of every literal, by all assignments."""
    totals = [0.0] * (1 + len(CHANCES) + len(made))
    for world in itertools.product([True, False], repeat=len(CHANCES)):
        weight = math.prod(p if true else 1 - p for p, true in zip(CHANCES, world, strict=True))
        truths = [True, *world]
        for any_, numbers in made:
            operands = [truths[number // 2 % len(truths)] != bool(number % 2) for number in numbers]
            truths.append(any(operands) if any_ else all(operands))
        totals = [total + weight * true for total, true in zip(totals, truths, strict=True)]
    return totals


@given(groups())
def test_probabilities_are_those_of_the_truth_table(made: list[Group]) -> None:
    formulas = Formulas()
    literals = np.array(built(formulas, made), np.int64)
    expected = np.array(tabled(made))
    for measure in (Circuits(formulas), Histories(formulas)):
        assert np.allclose(measure.probabilities(literals, "f"), expected, rtol=0, atol=1e-12)
        assert np.allclose(measure.probabilities(-literals, "f"), 1 - expected, rtol=0, atol=1e-12)


def test_formulas_of_one_shape_share_a_circuit() -> None:
    formulas = Formulas()
    a, b, c = (formulas.chances(np.linspace(0.1, 0.9, 1000), 0) for _ in range(3))
    either = formulas.either(formulas.both(a, b), formulas.both(a, c))
    measure = Circuits(formulas)
    p = np.linspace(0.1, 0.9, 1000)
    assert np.allclose(measure.probabilities(either, "f"), p * (2 * p - p * p), rtol=0, atol=1e-12)
    assert len(measure.compiled) == 1


def test_what_is_certain_makes_no_formula() -> None:
    formulas = Formulas()
    a, yes, no = formulas.chances(np.array([0.5, 1.0, 0.0]), 0).tolist()
    assert (yes, no) == (TRUE, FALSE)
    left, right = np.array([a, a, a, yes, no]), np.array([yes, a, -a, no, no])
    assert formulas.both(left, right).tolist() == [a, a, FALSE, FALSE, FALSE]
    many = np.array([a] * 50 + [-a])
    assert formulas.any_of(np.array([0, 50, 51]), many).tolist() == [a, -a]
    assert formulas.all_of(np.array([0, 51]), many).tolist() == [FALSE]


@pytest.mark.parametrize("measure", [Circuits, Histories])
def test_a_diagram_that_grows_too_large_is_refused(measure: type[Circuits] | type[Histories],
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuits, "MOST", 20)
    formulas = Formulas()
    chances = formulas.chances(np.full(40, 0.5), 0)
    pairs = formulas.both(chances[:20], chances[20:])
    every = formulas.any_of(np.array([0, 40]), np.concatenate((pairs, -chances[::2])))
    with pytest.raises(RuleError, match="meeting depends on too many uncertain facts"):
        measure(formulas).probabilities(every, "meeting")
