"""Weights for rules that are given, learnt batch by batch; the rules stay as they are. For new rules see `learner`.

With `loss="paper"` weights move as in section 4.2 of KR 2020 (`HandCrafted-WL` there), with `logistic` and `margin` as
`weights` and `margins` describe. `averaged` infers with the mean of all weights so far.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from eventide.errors import EventideError
from eventide.kernels.arrays import Mask
from eventide.kernels.votes import Floats
from eventide.learning.clauses import Clause
from eventide.learning.columns import Layout, layout_of
from eventide.learning.counts import Counts, rule_counts
from eventide.learning.evaluation import Score
from eventide.learning.examples import Batch, Examples
from eventide.learning.inference import Carried, Inferred, Theory
from eventide.learning.learner import Report
from eventide.learning.margins import margin_gradients
from eventide.learning.theory import WeightedRule
from eventide.learning.weights import AdaGrad, Average, Weights, logistic_gradients
from eventide.syntax.terms import functor_of

Loss = Literal["paper", "logistic", "margin"]


class Weigher:
    """A learner of weights alone; `partial_fit`, `predict` and `rules` are as in `learner.Learner`.

    >>> from eventide.learning.clauses import read_clauses
    >>> from eventide.learning.examples import examples_of, table
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+person),+time))")
    >>> rules, _ = read_clauses('''initiatedAt(rich(X),T) :- happensAt(win(X),T).
    ... initiatedAt(rich(X),T) :- happensAt(lose(X),T).''')
    >>> days = list(range(8))
    >>> tables = [table("happensAt(win(+person),+time)", ["ann"], [3]),
    ...           table("happensAt(lose(+person),+time)", ["ann"] * 2, [0, 1]), table("day(+time)", days)]
    >>> examples = examples_of(modes, tables, table("holdsAt(rich(+person),+time)", ["ann"] * 4, days[4:]))
    >>> weigher = Weigher(rules, loss="logistic", averaged=False)
    >>> for _ in range(3):
    ...     report = weigher.partial_fit(next(examples.batches(10)))
    >>> report.fp, report.fn, [rule.weight > 0 for rule in weigher.rules]
    (0, 0, [True, False])
    """

    def __init__(self, clauses: Sequence[Clause], *, loss: Loss = "logistic", averaged: bool = True,
                 adagrad: AdaGrad | None = None, reward: float = 1.0) -> None:
        if loss not in get_args(Loss):
            raise EventideError(f"loss is one of {', '.join(get_args(Loss))}, not {loss!r}")
        self.clauses, self.loss, self.averaged, self.reward = tuple(clauses), loss, averaged, reward
        self.adagrad = adagrad or AdaGrad()
        self.batches = 0
        """How many batches were learnt from."""
        self._weights, self._mean = Weights.fresh(len(clauses)), Average.fresh(len(clauses))
        self._seen = 0
        nothing = np.zeros(len(clauses), np.int64)
        self._counts = Counts(nothing, nothing, nothing, nothing)
        self._state, self._test_state = Carried(), Carried()
        self._known: tuple[Examples, Layout] | None = None

    @property
    def weights(self) -> Floats:
        """The weights to infer with."""
        return self._mean.values if self.averaged and self.batches else self._weights.values

    @property
    def rules(self) -> tuple[WeightedRule, ...]:
        """The rules with their weights now."""
        return tuple(WeightedRule(clause, float(weight), functor_of(clause.head)[0] == "initiatedAt", int(tp), int(fp),
                                  self._seen) for clause, weight, tp, fp in
                     zip(self.clauses, self.weights, self._counts.true, self._counts.false, strict=True))

    def predict(self, batch: Batch) -> Mask:
        """The state at each row of a batch; states are carried as in `Learner.predict`."""
        if batch.begins:
            self._test_state.reset()
        found = self._infer(batch, self._test_state.take(batch.instances), self.weights)
        self._test_state.put(batch.instances, found.after)
        return found.holds

    def partial_fit(self, batch: Batch) -> Report:
        """Infer a batch, then learn from it."""
        started = time.perf_counter()
        if batch.begins:
            self._state.reset()
        before = self._state.take(batch.instances)
        found = self._infer(batch, before, self.weights)
        score, following = Score.of(found.holds, batch), batch.following_inside()
        # Gradients are those of the weights that move, not of their mean.
        moving = self._infer(batch, before, self._weights.values) if self.averaged else found
        counts = rule_counts(moving.fires, moving.satisfied(), moving.initiates, following)
        gradients = counts.gradients
        if self.loss == "logistic":
            gradients = logistic_gradients(moving.fires, moving.initiates, self._weights.values, following)
        elif self.loss == "margin":
            gradients = margin_gradients(moving.fires, moving.initiates, self._weights.values, batch.labels, following,
                                         batch.offsets, before, self.reward)
        self._weights = self.adagrad.step(self._weights, gradients)
        self._mean = self._mean.add(self._weights.values)
        self._counts, self._seen, self.batches = self._counts + counts, self._seen + len(batch.times), self.batches + 1
        self._state.put(batch.instances, self._infer(batch, before, self.weights).after)
        return Report(self.batches, batch.times.shape[0], *score, time.perf_counter() - started)

    def _infer(self, batch: Batch, before: Mask, weights: Floats) -> Inferred:
        if self._known is None or self._known[0] is not batch.examples:
            self._known = (batch.examples, layout_of(self.clauses, batch.examples))
            self._batch: Batch | None = None
        layout = self._known[1]
        if self._batch is not batch:
            self._batch, self._columns = batch, layout.columns(batch)
        return Theory(layout.bodies, layout.initiates, weights).infer(self._columns, batch.offsets, before)
