"""The search of rules: clingo's proven optimum of the paper's program, with existing rules, on random instances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.learning.test_columns import EVENTS, LIMITS, caviar, rows_of
from tests.oracle.learning import least_cost

from eventide.errors import EventideError
from eventide.kernels.enumeration import best_pair
from eventide.learning.clauses import clause_of
from eventide.learning.columns import layout_of
from eventide.learning.counts import next_labels
from eventide.learning.induction import (
    Rule,
    Search,
    Task,
    bodies_of,
    f1_of,
    fires_at,
    induce,
    mistakes_of,
    search_for_f1,
    size_of,
    with_rules,
)
from eventide.learning.induction_solver import solve
from eventide.learning.signatures import chunk_of, forced_by, signatures_of

Truths = np.ndarray[Any, Any]


@dataclass
class Problem:
    """A task, and the same as facts for the solver."""

    task: Task
    facts: list[str]


@st.composite
def problems(draw: st.DrawFn, bottoms: int = 3, points: int = 9) -> Problem:
    """Columns and labels by a hidden rule with some noise; bottom rules from seeds; existing rules with weights."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns, instances, length = draw(st.integers(2, 4)), draw(st.integers(1, 3)), draw(st.integers(2, points))
    truths = random.random((columns, instances, length)) < 0.4
    conditions = [*range(columns), *(~c for c in range(columns) if random.random() < 0.5)]
    sizes = random.integers(1, 3, len(conditions)) if draw(st.booleans()) else np.ones(len(conditions), np.int64)
    labels = np.zeros((instances, length), bool)
    for t in range(length - 1):
        labels[:, t + 1] = (truths[0] & truths[1])[:, t] | (labels[:, t] & ~truths[-1][:, t])
    labels ^= random.random(labels.shape) < 0.1
    values = np.concatenate([truths[c if c >= 0 else ~c][None] ^ (c < 0) for c in conditions])
    flat = np.ascontiguousarray(truths.reshape(columns, -1))
    following = next_labels(labels.reshape(-1), np.arange(instances + 1) * length)
    signatures = signatures_of([chunk_of(flat, labels.reshape(-1), following, np.arange(instances), length)], [0],
                               [draw(st.booleans())])
    seeds = [np.unique([values[:, i, t] for i, t in zip(random.integers(0, instances, number),
                                                        random.integers(0, length, number), strict=True)], axis=0)
             for number in random.integers(1, bottoms + 1, 2)]
    facts = [f"row({i},{t})" for i in range(instances) for t in range(length - 1)]
    facts += [f"label({i},{t},{int(labels[i, t])})" for i in range(instances) for t in range(1, length)]
    facts += [f"true({c},{i},{t})" for c, i, t in np.argwhere(truths)]
    before = {int(i) for i in np.flatnonzero(labels[:, 0])}
    if signatures.before.any():
        facts += [f"initially({i})" for i in before]
    number = 0
    for kind in (0, 1):
        for bottom in seeds[kind]:
            number += 1
            facts += [f"bottom({number},{kind})", f"size({number},0,1)"]
            for j, at in enumerate(np.flatnonzero(bottom), 1):
                column = conditions[at]
                facts += [f"literal({number},{j},{column if column >= 0 else ~column},{int(column >= 0)})",
                          f"size({number},{j},{sizes[at]})"]
    sign_truths = signatures.truths(conditions)
    on = np.zeros((2, sign_truths.shape[1]), bool)
    for rule in range(draw(st.integers(0, 2))):
        kind, weight = int(random.integers(0, 2)), random.choice([-3, 2, 5])
        body = random.integers(0, len(conditions), 2)
        facts.append(f"rule({rule},{kind},{weight})")
        fires = values[body].all(axis=0)
        facts += [f"fires({rule},{i},{t})" for i, t in np.argwhere(fires[:, :-1])]
        if weight > 0:
            on[kind] |= fires_at(sign_truths, body.tolist())
    return Problem(Task(signatures, sign_truths, sizes.astype(np.int64), (seeds[0], seeds[1]), forced_by(on)), facts)


@given(problems())
def test_any_number_of_rules_of_any_length_cost_what_the_papers_program_costs(problem: Problem) -> None:
    found = solve(problem.task, Search())
    assert found.proven
    assert found.cost == least_cost(problem.facts)
    assert found.rules is not None
    assert found.cost == mistakes_of(problem.task, found.rules) + sum(
        size_of(rule, problem.task.sizes) for rule in found.rules)


@given(problems(), st.integers(0, 2), st.integers(0, 3))
def test_the_best_rule_of_each_kind_is_that_of_the_papers_program(problem: Problem, terminating: int,
                                                                  initiating: int) -> None:
    task = problem.task
    kinds = [bodies_of(task.truths, task.bottoms[kind], task.sizes, longest, 10_000)
             for kind, longest in enumerate((terminating, initiating))]
    found = best_pair(task.runs(Search()), kinds[1].fires, kinds[0].fires, kinds[1].sizes, kinds[0].sizes)
    assert found.cost == least_cost(problem.facts, (terminating, initiating, 1))


@given(problems(bottoms=6, points=20), st.integers(0, 2))
def test_rules_added_and_exchanged_cost_what_is_said_and_each_pays(problem: Problem, literal_cost: int) -> None:
    task, search = problem.task, Search(longest=(3, 3), literal_cost=literal_cost)
    found = induce(task, search)
    sizes = sum(size_of(rule, task.sizes) for rule in found.rules) * literal_cost
    assert found.cost == mistakes_of(task, found.rules, search) + sizes == found.mistakes + sizes
    assert found.cost <= found.cost_before == mistakes_of(task, (), search)
    for rule in found.rules:
        assert any(bottom[list(rule.body)].all() for bottom in task.bottoms[rule.initiates])
        rest = [each for each in found.rules if each != rule]
        less = mistakes_of(task, rest, search) + sizes - size_of(rule, task.sizes) * literal_cost
        assert less >= found.cost
    assert induce(task, search, found.rules).cost == found.cost
    assert induce(task, search) == found


@given(problems())
def test_rules_by_steps_are_not_better_than_the_optimum_and_the_solver_mends_the_rest(problem: Problem) -> None:
    task = problem.task
    steps = induce(task, Search(longest=(1, 1)))
    mended = induce(task, Search(longest=(1, 1), conflicts=100_000))
    optimum = solve(task, Search()).cost
    # A bottom rule gives one rule to the solver, but any number of them to the search by steps.
    assert mended.cost <= min(optimum, steps.cost)
    assert solve(task, Search(), bound=optimum).rules is None


@given(problems(bottoms=6, points=20), st.integers(0, 40))
def test_effort_bounds_all_steps_together(problem: Problem, effort: int) -> None:
    whole, found = induce(problem.task, Search(grown=0)), induce(problem.task, Search(grown=0, effort=effort))
    assert not whole.spent
    assert whole.exact
    assert found.cost == found.mistakes + sum(size_of(rule, problem.task.sizes) for rule in found.rules)
    assert found.cost <= found.cost_before
    none = induce(problem.task, Search(grown=0, effort=0))
    assert (none.rules, none.theories, none.exact, none.spent) == ((), 0, False, True)


@given(problems())
def test_rules_add_to_what_existing_ones_do(problem: Problem) -> None:
    task = problem.task
    number = task.truths.shape[0]
    rules = [Rule(True, (0,)), Rule(False, (number - 1,)), Rule(True, (0, number - 1))]
    forced = with_rules(task, rules)
    assert mistakes_of(task, rules) == mistakes_of(replace(task, forced=forced), ())
    sets = fires_at(task.truths, (0,)) | (task.forced == 2)
    assert (forced == 2).tolist() == sets.tolist()
    assert (forced == 1).tolist() == (~sets & ((task.forced == 1) | fires_at(task.truths, (number - 1,)))).tolist()


@given(problems(), st.integers(1, 9))
def test_costs_for_f1_are_low_where_f1_is_higher(problem: Problem, tenths: int) -> None:
    task, number = problem.task, problem.task.truths.shape[0]
    search = search_for_f1(Search(literal_cost=0), tenths / 10)
    labels = int(task.signatures.ups.sum())
    sets, clears = Rule(True, (0,)), Rule(False, (number - 1,))
    for rules in ([], [sets], [clears], [sets, clears], [Rule(True, ()), clears]):
        low = mistakes_of(task, rules, search) < 2 * (10 - tenths) * labels
        assert low == (f1_of(task, rules) > tenths / 10 + 1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_bodies_that_are_left_out_fire_like_shorter_ones(seed: int, longest: int) -> None:
    random = np.random.default_rng(seed)
    truths, bottoms = random.random((5, 6)) < 0.6, random.random((3, 5)) < 0.7
    sizes = random.integers(1, 3, 5)
    found = bodies_of(truths, bottoms, sizes, longest, 10_000)
    known = {row.tobytes(): size for row, size in zip(found.fires, found.sizes.tolist(), strict=True)}
    assert len(known) == len(found.bodies)
    for mask in range(32):
        body = [number for number in range(5) if mask >> number & 1]
        size = 1 + int(sizes[body].sum())
        if size <= longest + 1 and bottoms[:, body].all(axis=1).any():
            assert known[fires_at(truths, body).tobytes()] <= size
    for body, fires in zip(found.bodies[1:], found.fires[1:], strict=True):
        assert body is not None
        assert bottoms[:, list(body)].all(axis=1).any()
        assert fires.tolist() == fires_at(truths, body).tolist()


def test_what_does_not_fit_is_said() -> None:
    random = np.random.default_rng(1)
    found = bodies_of(random.random((8, 200)) < 0.5, np.ones((1, 8), bool), np.ones(8, np.int64), 3, 20)
    assert not found.complete
    assert len(found.bodies) == 21


def test_more_mistakes_than_the_solver_can_count_are_refused() -> None:
    labels = np.zeros(3, bool)
    chunk = chunk_of(np.zeros((1, 3), bool), labels, np.zeros(3, np.int8), np.array([0]), 3)
    found = signatures_of([replace(chunk, downs=chunk.downs + (1 << 40))], [0], [True])
    none = np.zeros((0, 1), bool)
    with pytest.raises(EventideError, match="more than the solver can count"):
        solve(Task(found, found.truths([0]), np.ones(1, np.int64), (none, none)), Search())


@pytest.mark.parametrize(("fluent", "least"), [("meeting", 651), ("moving", 4041)])
def test_the_best_pair_of_rules_for_all_of_caviar_is_the_solvers(shared_data: Callable[[str], Path], fluent: str,
                                                                 least: int) -> None:
    """Nineteen conditions and bodies of any length over 606,840 rows, which are less than 7,000 runs."""
    seen, labelled = (rows_of(shared_data(f"data/caviar/{name}.csv.gz"))
                      for name in ("sde_objframes", "labels_pairframes"))
    examples = caviar(seen, labelled, fluent)
    literals = [f"happensAt({event}({who}),T)" for event in (*EVENTS, "appear", "disappear") for who in "XY"]
    literals += [f"close(X,Y,{limit},T)" for limit in LIMITS]
    layout = layout_of([clause_of(f"initiatedAt({fluent}(X,Y),T) :- {each}.") for each in literals], examples)
    chunks = [chunk_of(layout.columns(batch), batch.labels, batch.following(), batch.instances, batch.times.shape[0])
              for batch in examples.batches(10_000)]
    signatures = signatures_of(chunks, range(len(chunks)), [True] * len(chunks))
    assert sum(int(chunk.ups.sum() + chunk.downs.sum()) for chunk in chunks) > 600_000
    assert signatures.steps.shape[0] < 7_000
    every = np.ones((1, len(literals)), bool)
    task = Task(signatures, signatures.truths([body[0] for body in layout.bodies]), np.ones(len(literals), np.int64),
                (every, every))
    kinds = [bodies_of(task.truths, every, task.sizes, len(literals), 10**6) for _ in range(2)]
    found = best_pair(task.runs(Search()), kinds[1].fires, kinds[0].fires, kinds[1].sizes, kinds[0].sizes)
    assert found.cost == least
    solved = solve(task, Search())
    assert (solved.cost, solved.proven) == (least, True)
