"""Weights of rules: AdaGrad with a soft threshold, and remedies. Not for choosing rules.

The gradients of the paper come from `counts`. With them a rule that is on is only ever demoted, one that is off only
promoted: its weight swings around 0, and whether it is on depends on where it stopped. The mean over all batches does
not (`Average`). `logistic_gradients` are those of a smooth loss on the vote, under which a weight settles where the
rule is right as often as its vote says. For a margin see `margins`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eventide.errors import ArrayError
from eventide.kernels.arrays import Mask, check_array, check_same_length
from eventide.kernels.votes import Floats, check_matrix
from eventide.learning.counts import UNKNOWN, Judgements

INITIAL = 1e-5


class Weights(NamedTuple):
    """A weight for each rule, and the sum of its squared gradients so far."""

    values: Floats
    squares: Floats

    @classmethod
    def fresh(cls, number: int) -> Weights:
        """The weights of new rules.

        >>> Weights.fresh(2).values.tolist()
        [1e-05, 1e-05]
        """
        return cls(np.full(number, INITIAL), np.zeros(number))


@dataclass(frozen=True, slots=True)
class AdaGrad:
    """Steps that get smaller where gradients were large, pulled to 0 by `regularization` (paper of `inference`, 4.2).

    AdaGrad is of Duchi, Hazan and Singer, "Adaptive subgradient methods" (JMLR 2011).

    `rate` is its eta, `regularization` its lambda, `delta` what is added to the root of the squares.

    >>> AdaGrad().step(Weights.fresh(1), np.array([-3.0])).values.round(5).tolist()
    [0.74976]
    """

    rate: float = 1.0
    """How large the first steps of weights are."""
    regularization: float = 0.001
    """How strongly weights are pulled to 0."""
    delta: float = 1.0
    """What is added to the root of the squares of the gradients: larger, smaller steps."""

    def __post_init__(self) -> None:
        for name, least in (("rate", "positive"), ("regularization", "0 or more"), ("delta", "0 or more")):
            value = getattr(self, name)
            if (isinstance(value, bool | str) or not np.isfinite(value) or value < 0
                    or (value == 0 and least == "positive")):
                raise ArrayError(name, f"expected a number that is {least}, got {value}")

    def coefficients(self, squares: Floats) -> Floats:
        """How much of a gradient is taken, for sums of squares that include it. Without any gradient and with delta 0
        nothing is known about the size of a step, and none is made."""
        below = self.delta + np.sqrt(squares)
        return np.divide(self.rate, below, out=np.zeros_like(below), where=below > 0)

    def step(self, weights: Weights, gradients: Floats, fresh: Mask | None = None) -> Weights:
        """The weights after one batch. Gradients are inferred minus true groundings, so they demote.

        Rules that are `fresh` forget the weight they were made with, and do not become negative.
        """
        check_array("gradients", gradients, np.float64)
        check_same_length("gradients", gradients, "weights", weights.values.shape[0])
        squares = weights.squares + gradients**2
        step = self.coefficients(squares)
        moved = weights.values - step * gradients
        values = np.sign(moved) * np.maximum(0.0, np.abs(moved) - self.regularization * step)
        if fresh is not None:
            values = np.where(fresh, np.maximum(0.0, step * (-gradients - self.regularization)), values)
        return Weights(values, squares)


@dataclass(frozen=True, slots=True)
class Average:
    """The mean of each rule's weight over the batches it was there for (Freund and Schapire 1999 for perceptrons).

    >>> mean = Average.fresh(1).add(np.array([1.0])).add(np.array([0.0]))
    >>> mean.values.tolist()
    [0.5]
    """

    sums: Floats
    numbers: Floats

    @classmethod
    def fresh(cls, number: int) -> Average:
        """No batches yet."""
        return cls(np.zeros(number), np.zeros(number))

    @property
    def values(self) -> Floats:
        """The means; 0 for rules that were there for no batch."""
        return np.divide(self.sums, self.numbers, out=np.zeros_like(self.sums), where=self.numbers > 0)

    def add(self, weights: Floats) -> Average:
        """With the weights after one more batch."""
        check_same_length("weights", weights, "sums", self.sums.shape[0])
        return Average(self.sums + weights, self.numbers + 1.0)


def logistic_gradients(fires: Mask, initiates: Mask, weights: Floats, following: Judgements) -> Floats:
    """The gradients of the logistic loss on the votes for initiations and on those for terminations.

    A vote of v says that the head is right with probability 1 / (1 + exp(-v)); each judged row at which a rule of the
    kind fires counts. As in `counts` they are what was said minus what is true, so they demote. `fires` has a row for
    each rule.

    >>> fires, following = np.array([[1, 1, 0, 1]], bool), np.array([1, 0, 1, UNKNOWN], np.int8)
    >>> logistic_gradients(fires, np.array([True]), np.array([0.0]), following).tolist()
    [0.0]
    >>> logistic_gradients(fires, np.array([True]), np.array([2.0]), following).round(3).tolist()
    [0.762]
    """
    check_matrix("fires", fires)
    check_array("initiates", initiates, np.bool_)
    check_array("weights", weights, np.float64)
    check_array("following", following, np.int8)
    check_same_length("initiates", initiates, "fires", fires.shape[0])
    check_same_length("weights", weights, "fires", fires.shape[0])
    check_same_length("following", following, "a row of fires", fires.shape[1])
    gradients = np.zeros(fires.shape[0])
    for kind in (False, True):
        own = np.flatnonzero(initiates == kind)
        rows = np.flatnonzero(fires[own].any(axis=0) & (following != UNKNOWN))
        bodies = fires[np.ix_(own, rows)].astype(np.float64)
        said = 0.5 * (1.0 + np.tanh(0.5 * (weights[own] @ bodies)))  # never overflows
        gradients[own] = bodies @ (said - (following[rows] == int(kind)))
    return gradients
