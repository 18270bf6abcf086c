"""Drift: a window against the bound written out, few false alarms, a learner that follows a changed definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.applications.activity.labelled import CHANGED, MEETING, generate
from eventide.applications.labelled import modes_of
from eventide.errors import EventideError
from eventide.learning.drift import Window
from eventide.learning.learner import Learner
from eventide.learning.settings import Settings
from eventide.learning.subsumption import are_equivalent


def slow_cut(means: list[float], weights: list[float], delta: float) -> int:
    """The bound of the paper at each cut, one after the other."""
    best, found = 0.0, 0
    mean = sum(m * w for m, w in zip(means, weights, strict=True)) / max(sum(weights), 1.0)
    for cut in range(1, len(means)):
        old, new = sum(weights[:cut]), sum(weights[cut:])
        if not old or not new:
            continue
        first, second = (sum(m * w for m, w in zip(means[a], weights[a], strict=True)) / total
                         for a, total in ((slice(cut), old), (slice(cut, None), new)))
        share = math.log(2 * len(means) / delta)
        harmonic = 1 / (1 / old + 1 / new)
        bound = math.sqrt(2 / harmonic * mean * (1 - mean) * share) + 2 / (3 * harmonic) * share
        if second - first - bound > best + 1e-9:
            best, found = second - first - bound, cut
    return found


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.sampled_from([5.0, 50.0, 400.0])), max_size=15))
def test_cuts_are_where_the_bound_is_passed_most(batches: list[tuple[float, float]]) -> None:
    window = Window(delta=0.05)
    means: list[float] = []
    weights: list[float] = []
    for mean, weight in batches:
        means.append(mean)
        weights.append(weight)
        cut = slow_cut(means, weights, 0.05)
        assert window.add(mean, weight) == cut
        means, weights = means[cut:], weights[cut:]
        assert len(window) == len(means)


def test_alarms_are_few_without_drift_and_quick_with_it() -> None:
    random = np.random.default_rng(0)
    window = Window()
    calm = [window.add(random.binomial(100, 0.1) / 100, 100) for _ in range(300)]
    assert sum(map(bool, calm)) == 0
    assert any(window.add(random.binomial(100, 0.3) / 100, 100) for _ in range(8))
    assert len(window) < 20


def test_a_probability_is_asked_for() -> None:
    with pytest.raises(EventideError, match=r"between 0 and 1, it is not 1\.5"):
        Window(delta=1.5)


def test_a_learner_follows_a_definition_that_changed() -> None:
    data = generate(persons=3, points=300, streams=6, seed=3, definition=MEETING, later=CHANGED)
    modes, examples = modes_of(data.modes), data.examples()
    learner = Learner(modes, settings=Settings(drift=True))
    for batch in examples.batches(100):
        learner.partial_fit(batch)
    steps = [step for step in learner.trace if step.kind == "drift"]
    assert any(10 <= step.batch <= 12 for step in steps)  # the definition changes with the tenth batch
    assert "mistakes have become more frequent" in str(steps[0]).lower()
    assert len(data.later) == len(learner.rules)
    for clause in data.later:
        assert any(are_equivalent(clause, rule.clause) for rule in learner.rules)
