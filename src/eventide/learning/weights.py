"""Weights of rules: AdaGrad with a soft threshold. Not for choosing rules; the gradients come from `counts`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eventide.errors import ArrayError
from eventide.kernels.arrays import Mask, check_array, check_same_length
from eventide.kernels.votes import Floats

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

    `rate` is its eta, `regularization` its lambda, `delta` what is added to the root of the squares.

    >>> AdaGrad().step(Weights.fresh(1), np.array([-3.0])).values.round(5).tolist()
    [0.74976]
    """

    rate: float = 1.0
    regularization: float = 0.001
    delta: float = 1.0

    def __post_init__(self) -> None:
        for name, least in (("rate", "positive"), ("regularization", "0 or more"), ("delta", "0 or more")):
            value = getattr(self, name)
            if not np.isfinite(value) or value < 0 or (value == 0 and least == "positive"):
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
