"""Gradients with a margin: rules are held against the most tempting wrong states. Not for inference.

Huynh and Mooney's structured hinge loss (2011), which the WOLED paper simplifies: the states compared with the labels
are not the most probable ones, but those with the greatest sum of weights plus wrong states, each worth `reward`. So a
rule that is just right goes on being promoted until it is right by a margin. The states come from `components`.
"""

from __future__ import annotations

import numpy as np

from eventide.errors import ArrayError
from eventide.kernels.arrays import Array, Mask
from eventide.kernels.votes import Floats, check_matrix
from eventide.learning.components import NOTHING, Conditions, Groundings, GroundProgram, best_states
from eventide.learning.counts import UNKNOWN, Judgements


def margin_gradients(fires: Mask, initiates: Mask, weights: Floats, labels: Mask, following: Judgements,
                     offsets: Array, before: Mask, reward: float = 1.0) -> Floats:
    """Satisfied groundings in the most tempting wrong states, minus true ones, for each rule.

    Rows are instances by points, as in a `Batch`; `following` says what comes after each, UNKNOWN where nothing is
    judged. A rule that is right but has a small weight is promoted:

    >>> fires, labels = np.array([[1, 0, 0]], bool), np.array([0, 1, 1], bool)
    >>> following, rows, none = np.array([1, 1, UNKNOWN], np.int8), np.array([0, 3]), np.array([False])
    >>> for weight in (0.5, 1.5, 2.5):
    ...     print(margin_gradients(fires, np.array([True]), np.array([weight]), labels, following, rows, none))
    [-1.]
    [-1.]
    [0.]
    """
    check_matrix("fires", fires)
    instances, points = offsets.shape[0] - 1, int(offsets[1]) if offsets.shape[0] > 1 else 0
    if instances * points != fires.shape[1]:
        raise ArrayError("offsets", "expected instances with the same number of points each")
    if not points:
        return np.zeros(fires.shape[0])
    rules, rows = map(np.ascontiguousarray, np.nonzero(fires))
    given = Groundings(rows % points, rows // points, initiates[rules], rules, _nothing(rules.shape[0]))
    after = following.reshape(instances, points)[:, -1]
    truth = np.concatenate([labels.reshape(instances, points), (after == 1)[:, None]], axis=1)
    wrong = np.stack([truth, ~truth]) * -reward
    wrong[:, after == UNKNOWN, -1] = 0.0
    wrong[:, :, 0] = 0.0  # the state before is given
    best = best_states(GroundProgram(points, before, weights, given, NOTHING.offsets[:0], NOTHING,
                                     np.ascontiguousarray(wrong)))
    judged = following[rows] != UNKNOWN
    right = following[rows] == initiates[rules]
    differences = judged * (best.satisfied.astype(np.float64) - right)
    return np.bincount(rules, differences, fires.shape[0]).astype(np.float64)


def _nothing(number: int) -> Conditions:
    """Bodies that ask nothing of the states."""
    return Conditions(np.zeros(number + 1, np.int64), np.empty(0, np.int64))
