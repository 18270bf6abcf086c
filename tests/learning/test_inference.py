"""Inference without a search: the reference cases, clingo on random programs, states carried over batches."""

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
from tests.oracle.learning import Program, as_rows, optimum, states_as_text

from eventide.errors import ArrayError
from eventide.learning.inference import MODES, Carried, Inferred, Mode, Theory, firing, infer

Shared = Callable[[str], Path]
NAMES: dict[str, Mode] = {"eq123": "vote", "algorithm1": "algorithm1", "crisp": "crisp"}
TIMES = (1, 2, 4, 5, 9)

HEADS = st.sampled_from(["initiatedAt(f,T)", "terminatedAt(f,T)", "initiatedAt(g,T)", "terminatedAt(g,T)"])
BODIES = st.sampled_from(["happensAt(a,T)", "happensAt(b,T)", "happensAt(a,T), happensAt(b,T)",
                          "happensAt(a,T), not happensAt(b,T)", "not happensAt(c,T)", "happensAt(b,T), happensAt(c,T)"])
PROGRAMS = st.builds(
    lambda facts, rules, initially: Program(("f", "g"), TIMES, tuple(sorted(facts)), tuple(rules), tuple(initially)),
    st.sets(st.builds("happensAt({},{})".format, st.sampled_from("abc"), st.sampled_from(TIMES)), max_size=9),
    st.lists(st.tuples(st.integers(-4, 4), HEADS, BODIES), min_size=1, max_size=6),
    st.sets(st.sampled_from("fg")).map(sorted))


def inferred(program: Program, mode: Mode) -> Inferred:
    """The program by columns."""
    points = len(program.times)
    return infer(as_rows(program), np.array([head.startswith("init") for _, head, _ in program.rules]),
                 np.array([float(weight) for weight, _, _ in program.rules]),
                 np.arange(len(program.fluents) + 1) * points,
                 np.array([fluent in program.initially for fluent in program.fluents]), mode)


def satisfied(program: Program, found: Inferred) -> set[tuple[str, int]]:
    """The satisfied groundings: head, and number of the rule."""
    points, atoms = len(program.times), set()
    for rule, row in np.argwhere(found.satisfied()).tolist():
        kind = program.rules[rule][1].partition("(")[0]
        atoms.add((f"{kind}({program.fluents[row // points]},{program.times[row % points]})", rule + 1))
    return atoms


def states(program: Program, found: Inferred) -> frozenset[str]:
    return states_as_text(program, found.holds.reshape(len(program.fluents), -1))


def test_reference_cases(shared_data: Shared) -> None:
    cases = json.loads(shared_data("golden/learning/map_inference.json").read_text())["cases"]
    checked = 0
    for case in cases:
        program = Program.of_case(case)
        if any("holdsAt" in body for _, _, body in program.rules) or program.constraints or program.labels:
            continue  # coupled: see test_components
        for name, expected in case["expected"].items():
            found, checked = inferred(program, NAMES[name]), checked + 1
            assert states(program, found) == set(expected["holdsAt"]), (case["name"], name)
            if name == "crisp":
                continue
            assert found.objective() == expected["objective"], (case["name"], name)
            atoms = satisfied(program, found)
            shown = {f"satisfied({head},{rule})" if name == "algorithm1" else f"on({head})" for head, rule in atoms}
            assert shown == set(expected["satisfied"]), (case["name"], name)
    assert checked == 23


def test_real_weights_need_no_scaling(shared_data: Shared) -> None:
    cases = json.loads(shared_data("golden/learning/map_inference.json").read_text())["cases"]
    (case,) = (case for case in cases if case["name"] == "scaling_loses_a_small_weight")
    program = Program.of_case(case)
    found = infer(as_rows(program), np.ones(3, bool), np.array([float(rule["weight"]) for rule in case["rules"]]),
                  np.arange(4) * 5, np.zeros(3, bool))
    assert {"holdsAt(f,2)", "holdsAt(g,3)", "holdsAt(k,4)"} <= states(program, found)


@given(PROGRAMS, st.sampled_from(MODES))
def test_columns_give_the_optimum_of_the_solver(program: Program, mode: Mode) -> None:
    found, expected = inferred(program, mode), optimum(program, mode)
    assert expected is not None
    ((best, chosen),) = expected.best
    assert states(program, found) == best
    assert satisfied(program, found) == chosen
    if mode != "crisp":
        assert found.objective() == expected.objective


@given(st.randoms(use_true_random=False), st.integers(1, 4), st.integers(1, 30), st.sampled_from(MODES))
def test_batches_with_carried_states_are_one_pass(random: Any, instances: int, points: int, mode: Mode) -> None:
    rng = np.random.default_rng(random.getrandbits(32))
    fires = rng.random((4, instances, points)) < 0.2
    present = rng.random(instances) < 0.7  # the others are away in every second batch, where nothing happens to them
    initiates, weights = np.array([True, False, True, False]), rng.integers(-3, 5, 4).astype(float)
    cuts = [0, *sorted(set(rng.integers(0, points + 1, 3).tolist()) - {0, points}), points]
    for number, (low, high) in enumerate(itertools.pairwise(cuts)):
        if number % 2:
            fires[:, ~present, low:high] = False
    whole = infer(fires.reshape(4, -1), initiates, weights, np.arange(instances + 1) * points,
                  np.zeros(instances, bool), mode).holds.reshape(instances, points)
    state = Carried()
    for number, (low, high) in enumerate(itertools.pairwise(cuts)):
        here = np.flatnonzero(present) if number % 2 else np.arange(instances)
        part = infer(np.ascontiguousarray(fires[:, here, low:high].reshape(4, -1)), initiates, weights,
                     np.arange(len(here) + 1) * (high - low), state.take(here), mode)
        assert np.array_equal(part.holds.reshape(len(here), high - low), whole[here, low:high])
        state.put(here, part.after)


def test_a_new_stream_begins_with_nothing() -> None:
    state = Carried()
    state.put(np.array([4, 2]), np.array([True, True]))
    state.reset()
    assert not state.take(np.array([2, 4])).any()


def test_instances_may_have_any_number_of_points() -> None:
    fires = np.array([[1, 0, 0, 1, 0]], bool)
    found = infer(fires, np.array([True]), np.ones(1), np.array([0, 2, 2, 3, 5]), np.array([0, 1, 1, 0], bool))
    assert found.holds.tolist() == [False, True, True, False, True]
    assert found.after.tolist() == [True, True, True, True]


@given(st.randoms(use_true_random=False), st.integers(0, 40), st.integers(1, 5))
def test_bodies_are_conjunctions_of_columns(random: Any, rows: int, literals: int) -> None:
    rng = np.random.default_rng(random.getrandbits(32))
    columns = rng.random((literals, rows)) < 0.5
    bodies = [rng.integers(-literals, literals, size).tolist() for size in (0, 1, 2, 3)]
    expected = [[all(columns[c, i] if c >= 0 else not columns[~c, i] for c in body) for i in range(rows)]
                for body in bodies]
    assert firing(columns, bodies).tolist() == expected


def test_votes_do_not_depend_on_where_a_block_of_rows_ends() -> None:
    rng = np.random.default_rng(5)
    fires, kinds = rng.random((5, 5000)) < 0.4, np.array([True, False, True, False, True])
    weights = rng.integers(-4, 5, 5).astype(float)
    found = infer(fires, kinds, weights, np.array([0, 5000]), np.zeros(1, bool))
    for kind in (False, True):
        assert np.array_equal(found.on[int(kind)], weights[kinds == kind] @ fires[kinds == kind] > 0)


def test_wrong_arrays_are_named() -> None:
    fires, one = np.zeros((1, 3), bool), np.ones(1)
    with pytest.raises(ArrayError, match="weights: not a finite number at index 0"):
        infer(fires, np.array([True]), one * np.nan, np.array([0, 3]), np.zeros(1, bool))
    with pytest.raises(ArrayError, match="fires: expected a contiguous array"):
        infer(np.zeros((3, 2), bool).T, np.ones(2, bool), np.ones(2), np.array([0, 3]), np.zeros(1, bool))
    with pytest.raises(ArrayError, match="offsets"):
        infer(fires, np.array([True]), one, np.array([0, 2]), np.zeros(1, bool))
    with pytest.raises(ArrayError, match="before"):
        infer(fires, np.array([True]), one, np.array([0, 3]), np.zeros(2, bool))
    with pytest.raises(ArrayError, match="mode"):
        infer(fires, np.array([True]), one, np.array([0, 3]), np.zeros(1, bool), "best")  # type: ignore[arg-type]
    with pytest.raises(ArrayError, match="there is no column 3"):
        firing(fires, [(~3,)])


@given(st.randoms(use_true_random=False), st.sampled_from([0, 1, 7, 3000]), st.sampled_from(MODES))
def test_a_prepared_theory_infers_the_same(random: Any, rows: int, mode: Mode) -> None:
    rng = np.random.default_rng(random.getrandbits(32))
    columns = rng.random((4, rows)) < 0.5
    bodies = [rng.integers(-4, 4, size).tolist() for size in rng.integers(0, 4, rng.integers(0, 7))]
    initiates, weights = rng.random(len(bodies)) < 0.5, rng.integers(-3, 4, len(bodies)) / 2
    offsets = np.concatenate([[0], np.sort(rng.integers(0, rows + 1, rng.integers(0, 5))), [rows]])
    before = rng.random(len(offsets) - 1) < 0.5
    expected = infer(firing(columns, bodies), initiates, weights, offsets, before, mode)
    found = Theory(bodies, initiates, weights, mode).infer(columns, offsets, before)
    for name in ("fires", "on", "holds", "after"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert found.objective() == expected.objective()


def test_wrong_arguments_of_a_prepared_theory_are_named() -> None:
    theory, no, one = Theory([(0, ~2)], np.array([True]), np.ones(1)), np.zeros((3, 4), bool), np.zeros(1, bool)
    with pytest.raises(ArrayError, match="bodies: there is no column 2"):
        theory.infer(no[:2], np.array([0, 4]), one)
    with pytest.raises(ArrayError, match="offsets: not ascending at index 2"):
        theory.infer(no, np.array([0, 3, 2, 4]), np.zeros(3, bool))
    for offsets, before in (([0, 3], one), ([1, 4], one), ([0, 4], np.zeros(2, bool))):
        with pytest.raises(ArrayError, match=r"offsets|before"):
            theory.infer(no, np.array(offsets), before)
    with pytest.raises(ArrayError, match="weights: not a finite number at index 0"):
        Theory([()], np.array([True]), np.array([np.nan]))
    with pytest.raises(ArrayError, match="initiates"):
        Theory([()], np.ones(2, bool), np.ones(1))
