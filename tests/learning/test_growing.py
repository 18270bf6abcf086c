"""Rules with long bodies: definitions that the enumeration cannot reach, costs that are what is said, few on noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.learning.test_induction import Problem, problems

from eventide.learning.clauses import clause_of
from eventide.learning.counts import next_labels
from eventide.learning.examples import examples_of, table
from eventide.learning.growing import grown
from eventide.learning.induction import Rule, Search, Task, cost_of, induce, mistakes_of, size_of
from eventide.learning.learner import Learner
from eventide.learning.modes import read_modes
from eventide.learning.settings import Settings
from eventide.learning.signatures import chunk_of, signatures_of
from eventide.learning.subsumption import are_equivalent

COLUMNS = 12


def task_of(seed: int, starts: int, ends: int, wrong: float = 0.0) -> Task:
    """States begin where the first `starts` columns are true, and end where `ends` others are, or at once for 0."""
    random = np.random.default_rng(seed)
    instances, length = 6, 300
    truths = random.random((COLUMNS, instances, length)) < 0.8
    begins = truths[:starts].all(axis=0)
    over = truths[starts : starts + ends].all(axis=0)
    labels = np.zeros((instances, length), bool)
    for t in range(length - 1):
        labels[:, t + 1] = begins[:, t] | (labels[:, t] & ~over[:, t])
    labels ^= random.random(labels.shape) < wrong
    flat = np.ascontiguousarray(truths.reshape(COLUMNS, -1))
    following = next_labels(labels.reshape(-1), np.arange(instances + 1) * length)
    signatures = signatures_of([chunk_of(flat, labels.reshape(-1), following, np.arange(instances), length)], [0],
                               [True])
    found = signatures.truths(range(COLUMNS))
    bottoms = [np.ascontiguousarray(found[:, np.unique(signatures.steps[each > 0])].T)
               for each in (signatures.downs, signatures.ups)]
    return Task(signatures, found, np.ones(COLUMNS, np.int64), (bottoms[0], bottoms[1]))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("starts", "ends"), [(5, 0), (7, 0), (6, 1), (5, 5)])
def test_a_definition_that_is_too_long_for_the_enumeration(starts: int, ends: int, seed: int) -> None:
    task = task_of(seed, starts, ends)
    search = Search(missed_cost=10, false_cost=10)
    short = induce(task, replace(search, grown=0))
    assert mistakes_of(task, short.rules) > 20
    found = induce(task, search)
    assert set(found.rules) == {Rule(True, tuple(range(starts))), Rule(False, tuple(range(starts, starts + ends)))}
    assert found.mistakes == 0
    assert induce(task, search, found.rules, anew=False) == replace(found, theories=found.theories)


def test_noise_is_not_explained_by_long_rules() -> None:
    """Labels by chance have long rules that fit some of them, but none that halves what short ones get wrong."""
    for seed in range(3):
        task = task_of(seed, 2, 1, wrong=0.1)
        search = Search(missed_cost=10, false_cost=10)
        assert induce(task, search).rules == induce(task, replace(search, grown=0)).rules


@given(problems(bottoms=6, points=20), st.integers(0, 2), st.booleans())
def test_rules_that_grew_cost_what_is_said_and_each_pays(problem: Problem, literal_cost: int, anew: bool) -> None:
    task, search = problem.task, Search(longest=(1, 1), literal_cost=literal_cost)
    start = list(induce(task, replace(search, grown=0)).rules)
    rules, cost = grown(task, search, start, start, anew)
    assert cost == cost_of(task, rules, search) == mistakes_of(task, rules, search) + literal_cost * sum(
        size_of(rule, task.sizes) for rule in rules)
    assert cost <= cost_of(task, start, search) or not start
    for rule in rules:
        assert any(bottom[list(rule.body)].all() for bottom in task.bottoms[rule.initiates])
        assert cost_of(task, [each for each in rules if each != rule], search) > cost
    assert grown(task, search, start, start, anew) == (rules, cost)
    assert all(len(rule.body) <= 1 for rule in induce(task, replace(search, grown=0)).rules)


@pytest.mark.parametrize("changes", [{"effort": 0}, {"grown": 5}])
def test_without_effort_or_room_nothing_grows(changes: dict[str, int]) -> None:
    search = replace(Search(missed_cost=10, false_cost=10), **changes)
    assert all(len(rule.body) <= 5 for rule in induce(task_of(0, 6, 0), search).rules)


GATES, _ = read_modes("\n".join([
    "modeh(initiatedAt(open(+gate),+time))", "modeh(terminatedAt(open(+gate),+time))",
    *(f"modeb({sign}happensAt({name}(+gate),+time))" for name in "abcdef" for sign in ("", "not ")),
    "examplePattern(holdsAt(open(+gate),+time))"]))


def gates(seed: int) -> Any:
    """A gate opens where a, b and c are seen and neither d nor e nor f, and stays open for one point."""
    random = np.random.default_rng(seed)
    names, points = np.array(["north", "south", "east"]), 600
    seen = {name: random.random((3, points)) < (0.7 if name in "abc" else 0.3) for name in "abcdef"}
    opens = np.logical_and.reduce([seen[name] for name in "abc"]) & ~np.logical_or.reduce([seen[n] for n in "def"])
    tables = [table(f"happensAt({name}(+gate),+time)", names[np.nonzero(each)[0]], np.nonzero(each)[1])
              for name, each in seen.items()]
    who, at = np.nonzero(opens[:, :-1])
    return examples_of(GATES, tables, table("holdsAt(open(+gate),+time)", names[who], at + 1))


def test_learners_find_long_definitions_and_forget_them_if_told() -> None:
    learner, plain = Learner(GATES), Learner(GATES, settings=Settings().with_(grown=0))
    for batch in gates(3).batches(100):
        last, other = learner.partial_fit(batch), plain.partial_fit(batch)
    assert last.mistakes == 0 < other.mistakes
    text = ("initiatedAt(open(X), T) :- happensAt(a(X), T), happensAt(b(X), T), happensAt(c(X), T), "
            "not happensAt(d(X), T), not happensAt(e(X), T), not happensAt(f(X), T).")
    assert sum(are_equivalent(rule.clause, clause_of(text)) for rule in learner.rules) == 1
    assert len(learner.rules) == 2
    assert all(len(rule.clause.body) <= 3 for rule in plain.rules)
