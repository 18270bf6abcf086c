"""Costs of theories over runs: one state at a time as the oracle, and what the search leaves out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import ArrayError
from eventide.kernels.enumeration import best_pair, each_cost, theory_costs
from eventide.kernels.runs import CLEARED, FREE, SET, Runs


def slow_cost(runs: Runs, sets: list[bool], clears: list[bool]) -> int:
    """One theory, one step after the other."""
    total = 0
    for j, state in enumerate(runs.before.tolist()):
        for k in range(runs.offsets[j], runs.offsets[j + 1]):
            s = runs.signatures[k]
            if sets[s] or runs.forced[s] == SET:
                state = True
            elif clears[s] or runs.forced[s] == CLEARED:
                state = False
            total += int(runs.on_costs[k] if state else runs.off_costs[k])
    return total


@st.composite
def problems(draw: st.DrawFn) -> tuple[Runs, np.ndarray, np.ndarray]:
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    signatures, sequences = draw(st.integers(1, 5)), draw(st.sampled_from([0, 1, 2, 4, 40]))
    offsets = np.concatenate([[0], np.cumsum(random.integers(0, 9, sequences))]).astype(np.int64)
    steps = int(offsets[-1])
    most = draw(st.sampled_from([1, 3, 1000, 2**32]))
    runs = Runs(offsets, random.random(sequences) < 0.3, random.integers(0, signatures, steps),
                random.integers(0, most + 1, steps), random.integers(0, most + 1, steps),
                random.choice(np.array([FREE, FREE, CLEARED, SET], np.int8), signatures))
    fires = [random.random((draw(st.sampled_from([1, 3, 64, 70])), signatures)) < chance for chance in (0.3, 0.4)]
    return runs, fires[0], fires[1]


@given(problems())
def test_costs_of_all_pairs_are_those_of_each(problem: tuple[Runs, np.ndarray, np.ndarray]) -> None:
    runs, sets, clears = problem
    assert theory_costs(runs, sets, clears).tolist() == [
        [slow_cost(runs, one, two) for two in clears.tolist()] for one in sets.tolist()]


@given(problems(), st.integers(1, 70))
def test_costs_of_rules_that_go_together(problem: tuple[Runs, np.ndarray, np.ndarray], number: int) -> None:
    runs, sets, clears = problem
    every = theory_costs(runs, sets, clears)
    if not every.size:
        assert each_cost(runs, sets, clears).tolist() == []
        return
    i, j = np.arange(number) % sets.shape[0], np.arange(number) * 3 % clears.shape[0]
    assert each_cost(runs, sets[i], clears[j]).tolist() == every[i, j].tolist()
    assert each_cost(runs, sets[i], clears[:1]).tolist() == every[i, 0].tolist()
    assert each_cost(runs, sets[:1], clears[j]).tolist() == every[0, j].tolist()
    with pytest.raises(ArrayError, match="clears: expected 1 or 5 rules, got 2"):
        each_cost(runs, sets[np.zeros(5, np.int64)], clears[np.zeros(2, np.int64)])


@given(problems(), st.integers(0, 2**32 - 1))
def test_the_best_pair_is_the_least_of_all(problem: tuple[Runs, np.ndarray, np.ndarray], seed: int) -> None:
    runs, sets, clears = problem
    random = np.random.default_rng(seed)
    sizes = random.integers(0, 4, sets.shape[0]), random.integers(0, 4, clears.shape[0])
    every = theory_costs(runs, sets, clears) + sizes[0][:, None] + sizes[1]
    found = best_pair(runs, sets, clears, *sizes)
    assert every[found.sets, found.clears] == found.cost == every.min()
    assert found.exact
    assert best_pair(runs, sets, clears, *sizes, turned=np.ascontiguousarray(sets.T)) == found
    assert best_pair(runs, sets, clears, *sizes, least=int(every.min()))[:2] == (-1, -1)


def test_rules_that_could_not_pay_are_not_looked_at() -> None:
    runs = Runs(np.array([0, 2]), np.array([False]), np.array([0, 1]), np.array([0, 9]), np.array([9, 0]),
                np.zeros(2, np.int8))
    sets = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], bool)
    found = best_pair(runs, sets, np.array([[0, 1]], bool), np.zeros(4, np.int64), np.zeros(1, np.int64))
    assert found == (0, 0, 0, 1, True)
    assert best_pair(runs, sets, sets, *np.zeros((2, 4), np.int64), most=0) == (-1, -1, 1 << 60, 0, False)
    with pytest.raises(ArrayError, match=r"turned: expected the shape \(2, 4\), got \(4, 2\)"):
        best_pair(runs, sets, sets, *np.zeros((2, 4), np.int64), turned=sets)


@pytest.mark.parametrize(("change", "problem"), [
    ({"signatures": np.array([0, 5])}, "signatures: expected numbers below 2 at index 1"),
    ({"on_costs": np.array([0, -1])}, "on_costs: expected numbers that are 0 or more"),
    ({"before": np.array([True, False])}, "before: has 2 elements, offsets without its last has 1"),
])
def test_runs_that_do_not_fit_are_refused(change: dict[str, np.ndarray], problem: str) -> None:
    runs = Runs(np.array([0, 2]), np.array([False]), np.array([0, 1]), np.array([0, 9]), np.array([9, 0]),
                np.zeros(2, np.int8))._replace(**change)
    with pytest.raises(ArrayError, match=problem):
        theory_costs(runs, np.zeros((1, 2), bool), np.zeros((1, 2), bool))
