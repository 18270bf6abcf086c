"""AdaGrad: the reference rows and the sequence, and what a step may do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import ArrayError
from eventide.learning.weights import INITIAL, AdaGrad, Weights

Shared = Callable[[str], Path]
NUMBERS = st.floats(-5, 5).map(lambda x: round(x, 3))


def test_reference_rows(shared_data: Shared) -> None:
    golden = json.loads(shared_data("golden/learning/adagrad.json").read_text())
    assert len(golden["rows"]) == 18
    for row in golden["rows"]:
        learner = AdaGrad(row["eta"], row["lam"], row["delta"])
        weights = Weights(np.array([row["w"]]), np.array([float(row["sum_sq"])]))
        after = learner.step(weights, np.array([float(row["dg_inferred_minus_true"])]), np.array([row["is_new"]]))
        assert after.values[0] == pytest.approx(row["w_out"], abs=1e-12), row["name"]
        assert after.squares[0] == row["sum_sq_out"], row["name"]
        assert learner.coefficients(after.squares)[0] == pytest.approx(row["coefficient"], abs=1e-12), row["name"]


def test_reference_sequence(shared_data: Shared) -> None:
    golden = json.loads(shared_data("golden/learning/adagrad.json").read_text())
    learner, defaults = AdaGrad(), golden["defaults"]
    assert (learner.rate, learner.regularization, learner.delta, INITIAL) == (
        defaults["eta"], defaults["lam"], defaults["delta"], defaults["initial_weight"])
    weights = Weights.fresh(1)
    for step in golden["sequence"]:
        weights = learner.step(weights, np.array([float(step["dg"])]))
        assert weights.values[0] == pytest.approx(step["w_out"], abs=1e-12)
        assert weights.squares[0] == step["sum_sq_out"]


@given(st.lists(st.tuples(NUMBERS, NUMBERS.map(abs), st.integers(-9, 9), st.booleans()), min_size=1, max_size=8))
def test_rules_are_stepped_each_by_itself(rows: list[tuple[float, float, int, bool]]) -> None:
    values, squares, gradients, fresh = (np.array(column) for column in zip(*rows, strict=True))
    gradients = gradients.astype(float)
    together = AdaGrad().step(Weights(values, squares), gradients, fresh)
    for i in range(len(rows)):
        at = slice(i, i + 1)
        alone = AdaGrad().step(Weights(values[at], squares[at]), gradients[at], fresh[at])
        assert (together.values[i], together.squares[i]) == (alone.values[0], alone.squares[0])


@given(NUMBERS, st.integers(-9, 9))
def test_a_gradient_moves_against_itself_and_regularization_only_towards_zero(weight: float, gradient: int) -> None:
    start = Weights(np.array([weight]), np.zeros(1))
    free = AdaGrad(regularization=0.0).step(start, np.array([float(gradient)])).values[0]
    pulled = AdaGrad(regularization=0.5).step(start, np.array([float(gradient)])).values[0]
    assert np.sign(free - weight) == -np.sign(gradient)
    assert abs(pulled) <= abs(free) and free * pulled >= 0


@pytest.mark.parametrize(("wrong", "name"), [({"rate": 0.0}, "rate"), ({"regularization": -1.0}, "regularization"),
                                             ({"delta": float("nan")}, "delta")])
def test_settings_are_checked(wrong: dict[str, float], name: str) -> None:
    with pytest.raises(ArrayError, match=name):
        AdaGrad(**wrong)


def test_no_step_without_any_size_to_go_by() -> None:
    after = AdaGrad(delta=0.0).step(Weights(np.array([0.5]), np.zeros(1)), np.zeros(1))
    assert after.values.tolist() == [0.5]
