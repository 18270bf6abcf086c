"""The rules that a learner holds, with what they were seen to do. How they come and go is decided in `learner`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from eventide.kernels.arrays import Array, Mask
from eventide.learning.clauses import Clause
from eventide.learning.induction import Body, Rule


@dataclass(frozen=True, slots=True)
class WeightedRule:
    """A learnt rule as others see it.

    >>> from eventide.learning.clauses import clause_of
    >>> rule = WeightedRule(clause_of("initiatedAt(rich(X),T) :- happensAt(win(X),T)."), 1.5, True, 9, 1, 200)
    >>> rule.precision
    0.9
    """

    clause: Clause
    weight: float
    initiates: bool
    tp: int
    """Its groundings that were right."""
    fp: int
    seen: int
    """The time-points that it was there for."""
    support: int = 0
    """How many bottom rules it subsumes: these are where its further conditions would come from."""

    @property
    def precision(self) -> float:
        """The share of its groundings that were right, 0 if it has none."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0


@dataclass(slots=True, eq=False)
class HeldRule:
    """A rule in use. Conditions are numbers of the language."""

    initiates: bool
    body: Body
    weight: float
    conditions: int
    """How many there are in the language."""
    squares: float = 0.0
    """The sum of squared gradients, for AdaGrad."""
    tp: int = 0
    fp: int = 0
    seen: int = 0
    support: Mask = field(default_factory=lambda: np.zeros((0, 0), np.bool_))
    """The conditions of each bottom rule that it subsumes."""
    parent_tp: int = 0
    """Its groundings since its refinements are counted."""
    parent_fp: int = 0
    refined_tp: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    """The true groundings of the rule with each condition added."""
    refined_fp: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    leads: list[float] = field(default_factory=list)
    """By how much the best refinement led after each batch."""

    def __post_init__(self) -> None:
        self.forget_refinements()

    @property
    def rule(self) -> Rule:
        """Head and body alone."""
        return Rule(self.initiates, self.body)

    def forget_refinements(self) -> None:
        """Begin to count them anew, as after a change of the body."""
        self.parent_tp = self.parent_fp = 0
        self.refined_tp, self.refined_fp = np.zeros((2, self.conditions), np.int64)
        self.leads = []

    def open_conditions(self) -> Mask:
        """The conditions of its bottom rules that it lacks."""
        found: Mask = np.logical_or.reduce(self.support.reshape(-1, self.conditions), axis=0)
        found[list(self.body)] = False
        return found

    def add_support(self, bottoms: Mask, most: int = 256) -> None:
        """Remember those of the bottom rules that it subsumes."""
        mine = bottoms[bottoms[:, list(self.body)].all(axis=1)]
        every = np.concatenate([self.support.reshape(-1, self.conditions), mine])
        _, first = np.unique(every, axis=0, return_index=True)
        self.support = every[np.sort(first)[:most]]
