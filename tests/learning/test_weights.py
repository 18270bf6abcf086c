"""AdaGrad: the reference rows and the sequence, and what a step may do. Means, logistic and margin gradients."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import ArrayError
from eventide.learning.counts import UNKNOWN, next_labels, rule_counts
from eventide.learning.inference import infer
from eventide.learning.margins import margin_gradients
from eventide.learning.weights import INITIAL, AdaGrad, Average, Weights, logistic_gradients

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


# -- remedies ----------------------------------------------------------------------------------------------------------


@st.composite
def groundings(draw: st.DrawFn, most: int) -> tuple[np.ndarray, ...]:
    """Where rules fire at the points of one instance, what they conclude, their weights, labels and what follows."""
    rules, points = draw(st.integers(1, 4)), draw(st.integers(1, most))
    fires = np.array(draw(st.lists(st.booleans(), min_size=rules * points, max_size=rules * points)), bool)
    initiates = np.array(draw(st.lists(st.booleans(), min_size=rules, max_size=rules)), bool)
    # Different powers of two, so that no two sums are equal.
    weights = np.array(draw(st.permutations([0.53, -1.07, 2.19, -4.31]))[:rules])
    labels = np.array(draw(st.lists(st.booleans(), min_size=points, max_size=points)), bool)
    after = draw(st.sampled_from([None, np.array([True]), np.array([False])]))
    return (fires.reshape(rules, points), initiates, weights, labels,
            next_labels(labels, np.array([0, points]), after))


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=5))
def test_averages_are_means(steps: list[list[float]]) -> None:
    mean = Average.fresh(3)
    assert mean.values.tolist() == [0.0] * 3
    for step in steps:
        mean = mean.add(np.array(step))
    assert mean.values == pytest.approx(np.mean(steps, axis=0))


@given(groundings(8))
def test_logistic_gradients_are_the_derivatives_of_the_loss(given_: tuple[np.ndarray, ...]) -> None:
    fires, initiates, weights, _, following = given_

    def loss(at: np.ndarray) -> float:
        total = 0.0
        for kind in (False, True):
            for row in range(fires.shape[1]):
                own = fires[:, row] & (initiates == kind)
                if own.any() and following[row] != UNKNOWN:
                    sign = 1.0 if following[row] == int(kind) else -1.0
                    total += np.log1p(np.exp(-sign * at[own].sum()))
        return total

    found = logistic_gradients(fires, initiates, weights, following)
    for r, step in enumerate(np.eye(len(weights)) * 1e-5):
        assert found[r] == pytest.approx((loss(weights + step) - loss(weights - step)) / 2e-5, abs=1e-5)


def test_logistic_weights_settle_where_the_rule_is_right_as_often_as_they_say() -> None:
    fires, following = np.ones((1, 100), bool), np.array([1] * 80 + [0] * 20, np.int8)
    weights, learner = Weights.fresh(1), AdaGrad(regularization=0.0)
    for _ in range(500):
        weights = learner.step(weights, logistic_gradients(fires, np.array([True]), weights.values, following))
    assert weights.values[0] == pytest.approx(np.log(80 / 20), abs=0.05)


@given(groundings(5), st.sampled_from([0.0, 1.0, 1.9]))
def test_margin_gradients_are_those_of_the_best_of_all_states(given_: tuple[np.ndarray, ...], reward: float) -> None:
    fires, initiates, weights, labels, following = given_
    points = fires.shape[1]
    best, wanted = -np.inf, None
    for heads in itertools.product((False, True), repeat=2 * points):
        on = np.array(heads).reshape(2, points)
        if any(on[int(kind), row] and not fires[initiates == kind, row].any()
               for kind in (False, True) for row in range(points)):
            continue  # only what fires can be satisfied
        satisfied = fires & on[initiates.astype(int)]
        state, value = False, float(weights @ satisfied.sum(axis=1))
        for row in range(points):
            state = bool(on[1, row] or (state and not on[0, row]))
            if following[row] != UNKNOWN:
                value += reward * (state != (following[row] == 1))
        # Of equal ones the fewest satisfied count, as in `components`.
        value -= 1e-9 * satisfied.sum()
        if value > best:
            best = value
            judged = following != UNKNOWN
            right = (following == 1) == initiates[:, None]
            wanted = ((satisfied.astype(int) - right * fires) * judged).sum(axis=1)
    found = margin_gradients(fires, initiates, weights, labels, following, np.array([0, points]), np.array([False]),
                             reward)
    assert wanted is not None
    assert found.tolist() == wanted.tolist()


@given(groundings(6))
def test_without_a_reward_a_margin_is_what_is_inferred(given_: tuple[np.ndarray, ...]) -> None:
    fires, initiates, weights, labels, following = given_
    rows, none = np.array([0, fires.shape[1]]), np.array([False])
    counts = rule_counts(fires, infer(fires, initiates, weights, rows, none).satisfied(), initiates, following)
    assert margin_gradients(fires, initiates, weights, labels, following, rows, none, 0.0).tolist() == pytest.approx(
        counts.gradients.tolist())
