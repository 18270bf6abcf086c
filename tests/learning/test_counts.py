"""Groundings of rules and of all their refinements: the reference counts, and sums of columns against loops."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import ArrayError
from eventide.learning.counts import UNKNOWN, Counts, next_labels, refinement_counts, rule_counts
from eventide.learning.inference import firing

Shared = Callable[[str], Path]


def slow_counts(fires: Any, satisfied: Any, initiates: bool, labels: Any, offsets: Any) -> tuple[int, int, int, int]:
    """Row by row, instance by instance: the label at the next point decides."""
    true = false = found = wrong = 0
    for low, high in itertools.pairwise(offsets):
        for i in range(low, high - 1):
            if fires[i]:
                right = bool(labels[i + 1]) == initiates
                true += right
                false += not right
                found += right and bool(satisfied[i])
                wrong += not right and bool(satisfied[i])
    return true, false, found, wrong


def test_reference_counts(shared_data: Shared) -> None:
    golden = json.loads(shared_data("golden/learning/grounding_counts.json").read_text())
    times = np.array(golden["times"])
    following = next_labels(np.isin(times, golden["labels"]), np.array([0, len(times)]))
    rules = {case["rule"]: case for case in golden["cases"]}
    for case in rules.values():
        fires, satisfied = np.isin(times, case["fires_at"]), np.isin(times, case["satisfied_at"])
        initiates = case["head"] == "initiatedAt"
        if case["parent"] is None:
            counts = rule_counts(fires[None], satisfied[None], np.array([initiates]), following)
        else:  # what the rule has more than its parent is a column
            parent = np.isin(times, rules[case["parent"]]["fires_at"])
            assert not (fires & ~parent).any()
            counts = refinement_counts(parent, satisfied, initiates, following, fires[None]).with_column
        assert [int(n) for (n,) in counts] == [case["actual_true"], case["actual_false"], case["tp_increment"],
                                               case["fp_increment"]], case["rule"]
        assert counts.satisfied_true[0] == case["inferred_true_and_true"]
        assert counts.satisfied_false[0] == case["inferred_true_but_false"]
        assert counts.gradients.tolist() == [case["dg"]]
    assert len(rules) == 8


@given(st.randoms(use_true_random=False), st.integers(0, 30), st.integers(1, 4), st.integers(0, 6), st.booleans())
def test_counts_are_those_of_a_loop(random: Any, rows: int, instances: int, literals: int, initiates: bool) -> None:
    rng = np.random.default_rng(random.getrandbits(32))
    offsets = np.array([0, *sorted(rng.integers(0, rows + 1, instances - 1)), rows])
    labels, columns = rng.random(rows) < 0.5, rng.random((literals, rows)) < 0.6
    fires = rng.random(rows) < 0.7
    satisfied = fires & (rng.random(rows) < 0.6)
    following = next_labels(labels, offsets)
    counts = rule_counts(fires[None], satisfied[None], np.array([initiates]), following)
    assert tuple(int(n) for (n,) in counts) == slow_counts(fires, satisfied, initiates, labels, offsets)
    refined = refinement_counts(fires, satisfied, initiates, following, columns)
    for found, body in ((refined.with_column, lambda c: (c,)), (refined.with_denial, lambda c: (~c,))):
        for c in range(literals):
            (also,) = firing(columns, [body(c)])
            expected = slow_counts(fires & also, satisfied & also, initiates, labels, offsets)
            assert tuple(int(n[c]) for n in found) == expected


def test_counts_of_parts_add_up_where_the_label_after_is_known() -> None:
    rng = np.random.default_rng(3)
    labels, fires, satisfied = rng.random((3, 40)) < 0.5
    satisfied &= fires
    initiates, cut = np.array([False]), 17
    whole = rule_counts(fires[None], satisfied[None], initiates, next_labels(labels, np.array([0, 40])))
    parts = [rule_counts(fires[None, low:high], satisfied[None, low:high], initiates,
                         next_labels(labels[low:high], np.array([0, high - low]), after))
             for low, high, after in ((0, cut, labels[cut : cut + 1]), (cut, 40, None))]
    together = parts[0] + parts[1]
    assert [a.tolist() for a in whole] == [a.tolist() for a in together]


def test_wrong_arrays_are_named() -> None:
    with pytest.raises(ArrayError, match="offsets"):
        next_labels(np.zeros(3, bool), np.array([0, 2]))
    with pytest.raises(ArrayError, match="following"):
        rule_counts(np.zeros((1, 3), bool), np.zeros((1, 3), bool), np.array([True]), np.zeros(2, np.int8))
    with pytest.raises(TypeError):
        Counts(*np.zeros((4, 1), np.int64)) + 1  # type: ignore[operator]
    assert next_labels(np.zeros(0, bool), np.array([0, 0])).tolist() == []
    assert next_labels(np.ones(1, bool), np.array([0, 1])).tolist() == [UNKNOWN]
