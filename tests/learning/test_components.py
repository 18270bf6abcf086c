"""Coupled states: the reference cases, and dynamic programming and the solver's backend against clingo on the text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import clingo
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.learning import Program, as_arrays, optimum, states_as_text

from eventide.errors import ArrayError, EventideError
from eventide.learning.components import (
    Best,
    Conditions,
    Groundings,
    GroundProgram,
    best_states,
    components,
    label_costs,
)
from eventide.learning.inference import Mode
from eventide.learning.solver import whole_weights

Shared = Callable[[str], Path]
WAYS = pytest.mark.parametrize("largest", [6, 0], ids=["paths", "solver"])
FLUENTS, TIMES = ("f", "g(p)", "g(q)"), (1, 2, 3, 7)

HEADS = st.builds("{}({},T)".format, st.sampled_from(["initiatedAt", "terminatedAt"]), st.sampled_from(FLUENTS))
INPUT = st.sampled_from(["happensAt(a,T)", "happensAt(b,T)", "not happensAt(a,T)"])
STATE = st.sampled_from(["holdsAt(f,T)", "not holdsAt(f,T)", "holdsAt(g(p),T)", "not holdsAt(g(q),T)",
                         "holdsAt(g(X),T)", "person(X), not holdsAt(g(X),T)"])
BODIES = st.one_of(INPUT, st.builds("{}, {}".format, INPUT, STATE), st.builds("{}, {}".format, STATE, STATE))
CONSTRAINTS = st.sampled_from([":- holdsAt(f,T), holdsAt(g(p),T)", ":- holdsAt(g(p),T), not holdsAt(g(q),T)",
                               ":- happensAt(b,T), holdsAt(f,T)", ":- happensAt(a,T), not holdsAt(g(q),T)"])
LABELS = st.sets(st.builds("holdsAt({},{})".format, st.sampled_from(FLUENTS), st.sampled_from(TIMES)))
PROGRAMS = st.builds(
    lambda facts, rules, initially, constraints, labels: Program(
        FLUENTS, TIMES, ("person(p)", "person(q)", *sorted(facts)), tuple(rules), tuple(initially),
        tuple(constraints), labels),
    st.sets(st.builds("happensAt({},{})".format, st.sampled_from("ab"), st.sampled_from(TIMES)), max_size=6),
    st.lists(st.tuples(st.integers(-4, 4), HEADS, BODIES), min_size=1, max_size=5),
    st.sets(st.sampled_from(FLUENTS), max_size=2).map(sorted), st.sets(CONSTRAINTS, max_size=1).map(sorted),
    st.one_of(st.none(), LABELS.map(lambda atoms: tuple(sorted(atoms)))))


def satisfied(program: Program, arrays: GroundProgram, best: Best) -> frozenset[tuple[str, int]]:
    """The satisfied groundings: head, and number of the rule."""
    given = arrays.groundings
    return frozenset(
        (f"{'initiatedAt' if given.initiates[g] else 'terminatedAt'}({program.fluents[given.instances[g]]},"
         f"{program.times[given.points[g]]})", int(given.rules[g]) + 1) for g in np.flatnonzero(best.satisfied))


@WAYS
def test_reference_cases(shared_data: Shared, largest: int) -> None:
    cases = json.loads(shared_data("golden/learning/map_inference.json").read_text())["cases"]
    checked = 0
    for case in cases:
        program = Program.of_case(case)
        arrays = as_arrays(program)
        for name, expected in case["expected"].items():
            if name == "crisp":
                continue
            best, checked = best_states(arrays, "vote" if name == "eq123" else "algorithm1", largest), checked + 1
            assert best.objective == expected["objective"], (case["name"], name)
            assert states_as_text(program, best.holds) == set(expected["holdsAt"]), (case["name"], name)
            shown = {f"satisfied({head},{rule})" if name == "algorithm1" else f"on({head})"
                     for head, rule in satisfied(program, arrays, best)}
            assert shown == set(expected["satisfied"]), (case["name"], name)
    assert checked == 27


@WAYS
@given(program=PROGRAMS, mode=st.sampled_from(["vote", "algorithm1"]))
def test_the_optimum_is_that_of_the_solver_on_the_text(largest: int, program: Program, mode: Mode) -> None:
    arrays, expected = as_arrays(program), optimum(program, mode)
    if expected is None:
        with pytest.raises(EventideError, match="the constraints leave no states"):
            best_states(arrays, mode, largest)
        return
    best = best_states(arrays, mode, largest)
    assert best.objective == expected.objective
    assert (states_as_text(program, best.holds), satisfied(program, arrays, best)) in expected.best


def random_program(rng: np.random.Generator, instances: int, points: int) -> GroundProgram:
    """Rules that ask about two neighbours at most, in rings; every third instance has a ban with the next."""
    number = 3 * points
    at = rng.integers(0, instances, number)
    asks = [[int(i) if rng.random() < 0.6 else ~int(i) for i in {(at[g] + 1) % instances, at[g]} if rng.random() < 0.7]
            for g in range(number)]
    given = Groundings(rng.integers(0, points, number), at, rng.random(number) < 0.6, rng.integers(0, 8, number),
                       Conditions.of(asks))
    bans = [[i, (i + 1) % instances] for i in range(0, instances, 3)] * (points + 1) if instances > 1 else []
    times = np.repeat(np.arange(points + 1), len(bans) // (points + 1))
    labels = rng.random((instances, points + 1)) < 0.3
    return GroundProgram(points, np.zeros(instances, bool), rng.integers(-2, 3, 8) / 2, given, times,
                         Conditions.of(bans), label_costs(labels, 0.5))


@given(st.randoms(use_true_random=False), st.integers(1, 6), st.integers(1, 12),
       st.sampled_from(["vote", "algorithm1"]))
def test_paths_and_solver_agree(random: Any, instances: int, points: int, mode: Mode) -> None:
    program = random_program(np.random.default_rng(random.getrandbits(32)), instances, points)
    paths, solved = best_states(program, mode, 6), best_states(program, mode, 0)
    assert paths.objective == solved.objective
    assert value(program, paths) == paths.objective and value(program, solved) == solved.objective
    assert chosen_heads(program, paths, mode) == chosen_heads(program, solved, mode)


def test_the_solver_goes_on_after_a_first_model_that_is_not_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    program, original = random_program(np.random.default_rng(175), 2, 3), clingo.Control
    best, solved = best_states(program), best_states(program, largest=0)
    monkeypatch.setattr(clingo, "Control", lambda options: original(["--models=1", *options[1:]]))
    first = best_states(program, largest=0)
    assert [chosen_heads(program, each, "vote") for each in (best, solved, first)] == [1, 1, 2]
    assert best.objective == solved.objective


def value(program: GroundProgram, best: Best) -> float:
    """The sum of weights less costs, counted from the answer."""
    given = program.groundings
    heads = {(int(given.points[g]), int(given.instances[g]), bool(given.initiates[g]), int(given.rules[g]))
             for g in np.flatnonzero(best.satisfied)}
    lost = np.where(best.holds, program.costs[1], program.costs[0]).sum()
    return float(sum(program.weights[rule] for *_, rule in heads) - lost)


def chosen_heads(program: GroundProgram, best: Best, mode: Mode) -> int:
    """How many choices were made."""
    given = program.groundings
    return len({(int(given.points[g]), int(given.instances[g]), bool(given.initiates[g]),
                 0 if mode == "vote" else int(given.rules[g])) for g in np.flatnonzero(best.satisfied)})


def test_a_margin_favours_wrong_states() -> None:
    given = Groundings(np.array([0]), np.array([0]), np.array([True]), np.array([0]), Conditions.of([[]]))
    labels = np.array([[False, True, True]])
    for cost, holds in ((0.0, True), (-0.4, True), (-0.6, False)):
        program = GroundProgram(2, np.zeros(1, bool), np.array([1.0]), given, costs=label_costs(labels, cost))
        assert best_states(program).holds[0].tolist() == [False, holds, holds]


def test_components_are_who_meets_in_bodies_and_bans() -> None:
    given = Groundings(np.zeros(2, np.int64), np.array([4, 1]), np.ones(2, bool), np.zeros(2, np.int64),
                       Conditions.of([[~2], []]))
    program = GroundProgram(1, np.zeros(6, bool), np.ones(1), given, np.array([0]), Conditions.of([[3, ~0]]))
    assert components(program).tolist() == [0, 1, 2, 0, 2, 3]


def test_a_body_that_contradicts_itself_is_never_true() -> None:
    given = Groundings(np.array([0]), np.array([0]), np.array([True]), np.array([0]), Conditions.of([[0, ~0]]))
    program = GroundProgram(1, np.ones(1, bool), np.ones(1), given)
    assert [best_states(program, "vote", largest).objective for largest in (6, 0)] == [0.0, 0.0]


def test_weights_that_the_solver_cannot_tell_apart_are_refused() -> None:
    given = Groundings(np.array([0, 0]), np.array([0, 1]), np.ones(2, bool), np.array([0, 1]),
                       Conditions.of([[1], [0]]))
    program = GroundProgram(1, np.ones(2, bool), np.array([1.0, 1.0 + 1e-12]), given)
    assert best_states(program).objective == 2.0 + 1e-12
    with pytest.raises(ArrayError, match="too close"):
        best_states(program, largest=0)
    whole, factor = whole_weights(np.array([3.0, -0.001, 0.0]))
    assert np.allclose(whole / factor, [3.0, -0.001, 0.0], atol=1e-8) and np.abs(whole).sum() < 2**30


def test_wrong_arrays_are_named() -> None:
    one, given = np.zeros(1, bool), Groundings(np.array([0]), np.array([0]), np.array([True]), np.array([0]),
                                               Conditions.of([[]]))
    with pytest.raises(ArrayError, match=r"conditions: 1 is not within -1 \.\. 0 at index 0"):
        GroundProgram(1, one, np.ones(1), given._replace(conditions=Conditions.of([[1]])))
    with pytest.raises(ArrayError, match="rules"):
        GroundProgram(1, one, np.ones(0), given)
    with pytest.raises(ArrayError, match="weights: not a finite number at index 0"):
        GroundProgram(1, one, np.array([np.inf]), given)
    with pytest.raises(ArrayError, match="costs"):
        GroundProgram(1, one, np.ones(1), given, costs=np.zeros((2, 1, 1)))
    with pytest.raises(ArrayError, match="mode"):
        best_states(GroundProgram(1, one, np.ones(1), given), "crisp")
    with pytest.raises(ArrayError, match="without conditions"):
        best_states(GroundProgram(1, one, np.ones(1), given, np.array([0]), Conditions.of([[]])))
