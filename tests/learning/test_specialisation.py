"""Gain and the Hoeffding test: golden cases, the formula of the paper written out, what is chosen among refinements."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import EventideError
from eventide.learning.specialisation import best_refinement, epsilon, gain, hoeffding

COUNT = st.integers(0, 50)


def test_golden_gains_and_decisions(shared_data: Callable[[str], Path]) -> None:
    golden = json.loads(shared_data("golden/learning/hoeffding.json").read_text())
    assert (len(golden["gain"]), len(golden["hoeffding"])) == (9, 8)
    for case in golden["gain"]:
        found = gain([case["child_tp"]], [case["child_fp"]], case["parent_tp"], case["parent_fp"])
        assert found.tolist() == pytest.approx([case["gain_normalised"]], abs=1e-12), case["name"]
    for case in golden["hoeffding"]:
        found = hoeffding(case["best"] - case["second"], case["n"], case["delta"], case["tie_threshold"], case["seen"],
                          case["min_seen"])
        assert found.difference == case["difference"]
        assert found.epsilon == (math.inf if case["epsilon"] is None else pytest.approx(case["epsilon"], rel=1e-14))
        assert (found.passes, found.tie, found.specialise) == (case["passes"], case["tie"], case["specialise"])


@given(st.lists(st.tuples(COUNT, COUNT), min_size=1, max_size=5), COUNT, COUNT)
def test_gains_are_those_of_the_formula(counts: list[tuple[int, int]], parent_tp: int, parent_fp: int) -> None:
    for (tp, fp), found in zip(counts, gain(*np.array(counts).T, parent_tp, parent_fp).tolist(), strict=True):
        expected = 0.0
        if tp and parent_tp and parent_fp:
            own, parent = tp / (tp + fp), parent_tp / (parent_tp + parent_fp)
            expected = max(0.0, tp * (math.log(own) - math.log(parent))) / (parent_tp * -math.log(parent))
        assert found == pytest.approx(expected)
        if tp <= parent_tp and fp <= parent_fp:
            assert 0.0 <= found <= 1.0 + 1e-12


@given(st.lists(st.tuples(COUNT, COUNT, st.booleans()), max_size=6), COUNT, COUNT,
       st.sampled_from(["gain", "precision", "f-score"]))
def test_the_best_refinement_is_the_best_and_the_second_the_next(
        counts: list[tuple[int, int, bool]], parent_tp: int, parent_fp: int, score: str) -> None:
    tp, fp, possible = (np.array([each[i] for each in counts], dtype) for i, dtype in enumerate((int, int, bool)))
    found = best_refinement(tp, fp, possible, parent_tp, parent_fp, score)  # type: ignore[arg-type]

    def slow(true: int, false: int) -> float:
        if score == "gain":
            return float(gain([true], [false], parent_tp, parent_fp)[0])
        if score == "precision":
            return true / (true + false) if true + false else 0.0
        return 2 * true / (true + false + parent_tp) if true + false + parent_tp else 0.0

    rival = 0.0 if score == "gain" else slow(parent_tp, parent_fp)
    ranked = sorted((slow(a, b) for a, b, yes in counts if yes), reverse=True)
    if not ranked or ranked[0] <= rival:
        assert found is None
    else:
        assert found is not None
        assert found.best == ranked[0] == slow(*counts[found.condition][:2])
        assert counts[found.condition][2]
        assert found.second == max([rival, *ranked[1:2]])


def test_more_observations_allow_less_chance() -> None:
    assert epsilon(0.05, 0) == math.inf
    assert epsilon(0.05, 400) == epsilon(0.05, 100) / 2
    assert epsilon(0.01, 100) > epsilon(0.05, 100)


def test_an_unknown_score_is_refused() -> None:
    with pytest.raises(EventideError, match="one of gain, precision, f-score, not 'luck'"):
        best_refinement(np.array([1]), np.array([0]), np.array([True]), 2, 2, "luck")  # type: ignore[arg-type]
