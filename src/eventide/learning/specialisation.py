"""When a rule is replaced by one with one more condition: gain and the Hoeffding test. Counting is done in `counts`.

Katzouris and Artikis (KR 2020), section 4.3, after Domingos and Hulten, "Mining high-speed data streams" (2000): the
best refinement seen so far is the best indeed, with probability 1 - delta, if it leads by more than epsilon.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from eventide.errors import EventideError
from eventide.kernels.arrays import Array, Mask
from eventide.kernels.votes import Floats

Score = Literal["gain", "precision", "f-score"]
SCORES: tuple[Score, ...] = get_args(Score)


def precision(tp: npt.ArrayLike, fp: npt.ArrayLike) -> Floats:
    """The share of true groundings, 0 where there are none.

    >>> precision([3, 0], [1, 0]).tolist()
    [0.75, 0.0]
    """
    true = np.asarray(tp, np.float64)
    every = true + np.asarray(fp, np.float64)
    return np.divide(true, every, out=np.zeros_like(every), where=every > 0)


def gain(tp: npt.ArrayLike, fp: npt.ArrayLike, parent_tp: float, parent_fp: float) -> Floats:
    """The information gain of refinements over their parent, as a share of the greatest that is possible.

    >>> gain([50, 100, 10], [0, 0, 90], 100, 100).tolist()
    [0.5, 1.0, 0.0]
    """
    true, own, parent = np.asarray(tp, np.float64), precision(tp, fp), float(precision(parent_tp, parent_fp))
    found = np.zeros_like(own)
    if 0.0 < parent < 1.0:
        some = own > 0
        found[some] = np.maximum(0.0, true[some] * (np.log(own[some]) - np.log(parent)))
        found /= parent_tp * -np.log(parent)
    return found


def f_score(tp: npt.ArrayLike, fp: npt.ArrayLike, parent_tp: float) -> Floats:
    """The F1 of refinements among the groundings of their parent, whose true ones are all there is to find.

    >>> f_score([3], [1], 6).round(3).tolist()
    [0.6]
    """
    true = np.asarray(tp, np.float64)
    below = true + np.asarray(fp, np.float64) + parent_tp
    return np.divide(2 * true, below, out=np.zeros_like(below), where=below > 0)


def epsilon(delta: float, number: float) -> float:
    """How far a mean of `number` values in 0 .. 1 is off at most, with probability 1 - delta; infinite for none.

    >>> round(epsilon(0.05, 200), 4)
    0.0865
    """
    return float(np.sqrt(np.log(1.0 / delta) / (2.0 * number))) if number > 0 else float("inf")


class Verdict(NamedTuple):
    """What the test says: whether the lead is large enough, or nothing is lost by taking either."""

    epsilon: float
    difference: float
    passes: bool
    tie: bool

    @property
    def specialise(self) -> bool:
        """Whether one of both is the case."""
        return self.passes or self.tie


def hoeffding(difference: float, number: float, delta: float = 0.05, ties: float = 0.05, seen: int = 0,
              least_seen: int = 0) -> Verdict:
    """Whether the best leads the second best by enough after `number` observations, or both are as good as equal.

    >>> hoeffding(0.5, 10).passes, hoeffding(0.1, 10).passes, hoeffding(0.005, 1000).tie
    (True, False, True)
    """
    bound = epsilon(delta, number)
    passes = bound < difference
    return Verdict(bound, difference, passes, not passes and difference < bound < ties and seen >= least_seen)


class Candidate(NamedTuple):
    """The best refinement: its condition's number, its score and that of the next."""

    condition: int
    best: float
    second: float


def best_refinement(tp: Array, fp: Array, possible: Mask, parent_tp: int, parent_fp: int,
                    score: Score = "gain") -> Candidate | None:
    """The best of the possible conditions to add; None if there is none.

    Refinements are ordered by score, then by precision, then by number. With `precision` and `f-score` the parent is a
    rival too, and it is None that is returned where nothing beats it.

    >>> best_refinement(np.array([50, 50]), np.array([0, 50]), np.array([True, True]), 100, 100)
    Candidate(condition=0, best=0.5, second=0.0)
    """
    if score not in SCORES:
        raise EventideError(f"a score is one of {', '.join(SCORES)}, not {score!r}")
    numbers = np.flatnonzero(possible)
    if not numbers.size:
        return None
    precisions = precision(tp[numbers], fp[numbers])
    if score == "gain":
        scores, rival = gain(tp[numbers], fp[numbers], parent_tp, parent_fp), 0.0
    elif score == "precision":
        scores, rival = precisions, float(precision(parent_tp, parent_fp))
    else:
        scores, rival = f_score(tp[numbers], fp[numbers], parent_tp), float(f_score(parent_tp, parent_fp, parent_tp))
    order = np.lexsort((numbers, -precisions, -scores))
    best = float(scores[order[0]])
    if best <= rival:
        return None
    second = float(scores[order[1]]) if order.shape[0] > 1 else 0.0
    return Candidate(int(numbers[order[0]]), best, max(second, rival))
