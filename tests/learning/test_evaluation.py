"""Evaluation: scores, prequential loss, folds; committees of learners."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.applications.activity.labelled import generate
from eventide.applications.labelled import definition_of, modes_of
from eventide.errors import EventideError
from eventide.learning.columns import layout_of
from eventide.learning.committee import Committee, Votes
from eventide.learning.counts import rule_counts
from eventide.learning.evaluation import (
    Score,
    cross_validated,
    dealt,
    prequential,
    scores_by_stream,
    size_of,
)
from eventide.learning.examples import Batch, Examples, examples_of, table
from eventide.learning.inference import Carried, firing, infer
from eventide.learning.learner import Learner
from eventide.learning.modes import Modes, read_modes
from eventide.learning.weighing import Weigher
from eventide.learning.weights import AdaGrad, Weights


@cache
def people() -> tuple[Modes, Examples]:
    data = generate(persons=3, points=120, streams=4)
    return modes_of(data.modes), data.examples()


class Copier:
    """Says of every batch what it was told last: a learner whose mistakes are known."""

    rules = ()

    def __init__(self) -> None:
        self.seen: list[tuple[object, int]] = []

    def partial_fit(self, batch: Batch) -> Report:
        self.seen.append((batch.stream, int(batch.times[0])))
        return Report(batch, self.predict(batch))

    def predict(self, batch: Batch) -> np.ndarray:
        return np.zeros_like(batch.labels)


class Report:
    def __init__(self, batch: Batch, holds: np.ndarray) -> None:
        self.points = len(batch.times)
        self.tp, self.fp, self.fn = Score.of(holds, batch)


def test_what_says_nothing_misses_every_label() -> None:
    _, examples = people()
    curve = prequential(Copier(), examples.batches(50))
    labels = len(examples.label_points)
    assert sum(curve.mistakes) == labels > 0
    assert curve.loss == labels / len(curve.mistakes)
    assert curve.per_point == labels / len(examples.times)
    assert curve.losses[-1] == curve.loss
    assert sum(scores_by_stream(Copier(), examples, examples.streams).values(), Score()) == Score(0, 0, labels)


def test_batches_are_tested_before_they_are_used() -> None:
    modes, examples = people()
    curve, learner = prequential(Learner(modes), examples.batches(60)), Learner(modes)
    for batch, mistakes in zip(examples.batches(60), curve.mistakes, strict=True):
        state = np.zeros(len(batch.instances), bool) if batch.begins else learner._state.take(batch.instances)
        layout = layout_of([rule.clause for rule in learner.rules], examples)
        found = infer(firing(layout.columns(batch), layout.bodies), layout.initiates,
                      np.array([rule.weight for rule in learner.rules], np.float64), batch.offsets, state)
        assert np.count_nonzero(found.holds != batch.labels) + batch.outside == mistakes
        learner.partial_fit(batch)


def test_folds_learn_from_other_streams_only() -> None:
    _, examples = people()
    made: list[Copier] = []

    def make() -> Copier:
        made.append(Copier())
        return made[-1]

    folds = ((1,), (0, 3), (2,))
    names = [tuple(examples.streams[at] for at in fold) for fold in folds]
    found = cross_validated(make, examples, names, size=50, together=[(examples.streams[1], examples.streams[2])])
    assert [set(fold) for fold in found.folds] == [set(fold) for fold in names]
    seen = [{stream for stream, _ in learner.seen} for learner in made]
    first, second, third, fourth = examples.streams
    assert seen == [{first, fourth}, {second, third}, {first, fourth}]
    assert found.total == Score(0, 0, len(examples.label_points))
    assert found.macro == 0.0


def test_orders_differ_by_seed_and_repeat() -> None:
    _, examples = people()
    orders = []
    for seed in (1, 1, 2, 3):
        learner = Copier()
        cross_validated(lambda learner=learner: learner, examples, [examples.streams[:1]], size=1000, seed=seed)
        orders.append(tuple(stream for stream, _ in learner.seen))
    assert orders[0] == orders[1]
    assert len(set(orders)) > 1
    with pytest.raises(EventideError, match="none left"):
        cross_validated(Copier, examples, [examples.streams])


@given(st.integers(2, 6), st.integers(0, 5), st.integers(6, 20))
def test_dealt_streams_are_a_partition(number: int, seed: int, streams: int) -> None:
    together = [(0, 1, 2)]
    folds = dealt(range(streams), number, seed, together)
    assert sorted(stream for fold in folds for stream in fold) == list(range(streams))
    assert len(folds) == number
    assert any({0, 1, 2} <= set(fold) for fold in folds)
    assert max(map(len, folds)) - min(map(len, folds)) <= 3


# -- committees ----------------------------------------------------------------------------------------------------


def test_a_committee_decides_by_the_votes_of_its_members() -> None:
    modes, examples = people()
    committee = Committee(modes, votes=Votes(members=5, sees=0.6, seed=3))
    for batch in examples.batches(60):
        committee.partial_fit(batch)
    members = [member for member in committee.members if member.rules]
    assert size_of(committee.rules) > 0
    state = Carried()
    for batch in examples.batches(10_000):
        state.reset()
        heads = np.zeros((2, batch.labels.shape[0]))
        for rule in (rule for member in members for rule in member.rules):
            layout = layout_of([rule.clause], examples)
            heads[int(rule.initiates)] += firing(layout.columns(batch), layout.bodies)[0]
        on = np.stack([heads[0] > 0.6 * 5 + 1e-9, heads[1] > 0.4 * 5 + 1e-9])
        holds = np.zeros_like(batch.labels)
        for low, high in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
            now = False
            for row in range(low, high):
                holds[row] = now
                now = bool(on[1, row] or (now and not on[0, row]))
        assert (committee.predict(batch) == holds).all()


def test_a_committee_of_one_that_sees_all_is_its_member() -> None:
    modes, examples = people()
    committee, learner = Committee(modes, votes=Votes(1, 0.5, 1.0)), Learner(modes)
    for batch in examples.batches(60):
        committee.partial_fit(batch)
        learner.partial_fit(batch)
    for batch in examples.batches(10_000):
        assert (committee.predict(batch) == learner.predict(batch)).all()
    assert {rule.clause for rule in learner.rules} <= {rule.clause for rule in committee.rules}
    assert committee.trace == learner.trace


def test_committees_are_told_what_is_wrong() -> None:
    modes, examples = people()
    with pytest.raises(EventideError, match="at least one member"):
        Votes(0)
    with pytest.raises(EventideError, match=r"at most 0\.5"):
        Votes(share=0.6)
    with pytest.raises(EventideError, match="at most 1"):
        Votes(sees=0)
    with pytest.raises(EventideError, match="nothing was learnt"):
        Committee(modes).predict(next(iter(examples.batches(10))))


# -- weights of rules that are given -----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "margin"])  # the weights of the paper swing
def test_weights_of_a_definition_come_to_infer_its_labels(loss: Any) -> None:
    data = generate(persons=3, points=120, streams=4)
    wrong = definition_of("initiatedAt(meet(X,Y),T) :- happensAt(running(X),T).")
    weigher = Weigher([*data.definition, *wrong], loss=loss)
    curve = prequential(weigher, data.examples().batches(40))
    assert sum(curve.mistakes[-3:]) < sum(curve.mistakes[:3])
    first, second, third = (rule.weight for rule in weigher.rules)
    assert first > third
    assert second > 0
    assert weigher.rules[0].precision == 1.0


def test_weights_move_as_in_the_paper() -> None:
    data = generate(persons=3, points=60, streams=1)
    examples, weights = data.examples(), Weights.fresh(2)
    weigher, layout = Weigher(data.definition, loss="paper", averaged=False), layout_of(data.definition, examples)
    state = Carried()
    for batch in examples.batches(20):
        fires, before = firing(layout.columns(batch), layout.bodies), state.take(batch.instances)
        found = infer(fires, layout.initiates, weights.values, batch.offsets, before)
        counts = rule_counts(fires, found.satisfied(), layout.initiates, batch.following_inside())
        weights = AdaGrad().step(weights, counts.gradients)
        state.put(batch.instances, infer(fires, layout.initiates, weights.values, batch.offsets, before).after)
        weigher.partial_fit(batch)
        assert weigher.weights.tolist() == weights.values.tolist()


def test_an_unknown_loss_is_refused() -> None:
    with pytest.raises(EventideError, match="one of paper, logistic, margin"):
        Weigher([], loss="hinge")  # type: ignore[arg-type]


def test_limits_of_comparisons_come_from_what_is_learnt_from() -> None:
    """Numbers of the streams that are tested decide nothing: the quantiles are those of the others."""
    modes, _ = read_modes("""modeh(initiatedAt(hot(+place),+time))
modeh(terminatedAt(hot(+place),+time))
modeb(heat(+place,#degrees,+time))
comparisonPredicate(heat(+place,#degrees,+time), greaterThan, comparison_term_position(2))""")
    names = np.repeat(["a", "b"], 20)
    heat = np.append(np.arange(20) / 20, np.arange(20) + 1000.0)
    facts = table("heat(+place,#degrees,+time)", ["here"] * 40, heat, list(range(20)) * 2, streams=names)
    hot = table("holdsAt(hot(+place),+time)", ["here"] * 20, list(range(10, 20)) * 2, streams=np.repeat(["a", "b"], 10))
    found = cross_validated(lambda: Learner(modes), examples_of(modes, [facts], hot), [("b",)], size=10)
    (learner,) = found.learners
    assert isinstance(learner, Learner) and learner.language is not None
    limits = [float(str(condition[0].atom.args[1])) for condition in learner.language.conditions]
    assert len(limits) == 8 and all(0 < limit < 1 for limit in limits)


def test_a_member_counts_from_its_first_batch_on() -> None:
    """Also if it finds no rule there; and what rules tell of themselves is up to date after each batch."""
    modes, examples = people()
    committee = Committee(modes, votes=Votes(members=5, seed=2))
    for batch in examples.batches(30):
        committee.partial_fit(batch)
        assert committee.rules == committee._voted()
