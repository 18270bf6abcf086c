"""How often rules, and all their refinements by one literal, are right: sums of columns. Not for scores of rules.

A grounding at a point is judged by the label at the next one: an initiation is true where the fluent then holds, a
termination where it does not. At the last point of an instance nothing is judged, unless the label after it is given.
A refinement takes part in no inference: of its parent's groundings it has those where its literal is true as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import Array, Mask, check_array, check_same_length
from eventide.kernels.votes import Floats, check_matrix, check_offsets, class_sums

Judgements = npt.NDArray[np.int8]
UNKNOWN = -1


class Counts(NamedTuple):
    """Judged groundings of rules: those that are true and false, and of each those that inference has satisfied.

    >>> counts = Counts(np.array([5]), np.array([2]), np.array([3]), np.array([2]))
    >>> counts.missed.tolist(), counts.gradients.tolist()
    ([2], [0.0])
    """

    true: Array
    false: Array
    satisfied_true: Array
    satisfied_false: Array

    @property
    def missed(self) -> Array:
        """True groundings that inference has left unsatisfied (FN)."""
        return self.true - self.satisfied_true

    @property
    def gradients(self) -> Floats:
        """Satisfied minus true groundings: FP - FN."""
        return (self.satisfied_false - self.missed).astype(np.float64)

    def __add__(self, other: object) -> Counts:
        """The counts of two batches, or of two parts of a stream, together."""
        if not isinstance(other, Counts):
            return NotImplemented
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


class RefinementCounts(NamedTuple):
    """Counts of a rule with one more literal: column c, or its denial."""

    with_column: Counts
    with_denial: Counts


def next_labels(labels: Mask, offsets: Array, after: Mask | None = None) -> Judgements:
    """For each row the label of the next point, 1 or 0; at the last row of an instance `after`, or UNKNOWN.

    >>> next_labels(np.array([0, 1, 1, 0, 1], bool), np.array([0, 3, 5])).tolist()
    [1, 1, -1, 1, -1]
    """
    check_array("labels", labels, np.bool_)
    check_offsets(offsets, labels.shape[0])
    following = np.full(labels.shape[0], UNKNOWN, np.int8)
    following[:-1] = labels[1:]
    some = np.flatnonzero(np.diff(offsets) > 0)
    if after is not None:
        check_same_length("after", after, "offsets without its last", offsets.shape[0] - 1)
    following[offsets[some + 1] - 1] = UNKNOWN if after is None else after[some]
    return following


def rule_counts(fires: Mask, satisfied: Mask, initiates: Mask, following: Judgements) -> Counts:
    """The counts of each rule; a row of `fires` and of `satisfied` for each (section 4.2 of the paper of `inference`).

    >>> fires, following = np.array([[1, 1, 0, 1]], bool), np.array([1, 0, 1, UNKNOWN], np.int8)
    >>> [int(n) for (n,) in rule_counts(fires, fires, np.array([True]), following)]
    [1, 1, 1, 1]
    """
    check_matrix("fires", fires)
    check_matrix("satisfied", satisfied)
    check_array("following", following, np.int8)
    check_same_length("initiates", initiates, "fires", fires.shape[0])
    check_same_length("satisfied", satisfied, "fires", fires.shape[0])
    check_same_length("following", following, "a row of fires", fires.shape[1])
    holds, ends = following == 1, following == 0
    counts = np.empty((4, fires.shape[0]), np.int64)
    for r, (row, chosen) in enumerate(zip(fires, satisfied, strict=True)):
        right, wrong = (holds, ends) if initiates[r] else (ends, holds)
        counts[:, r] = [np.count_nonzero(row & right), np.count_nonzero(row & wrong),
                        np.count_nonzero(chosen & right), np.count_nonzero(chosen & wrong)]
    return Counts(*counts)


def refinement_counts(fires: Mask, satisfied: Mask, initiates: bool, following: Judgements,
                      columns: Mask) -> RefinementCounts:
    """The counts of all refinements of one rule by one literal, in one pass over the rows where the rule fires.

    `fires` and `satisfied` are those of the rule; `columns` has a row for each literal.

    >>> fires, following = np.array([1, 1, 0, 1], bool), np.array([1, 0, 1, 1], np.int8)
    >>> found = refinement_counts(fires, fires, True, following, np.array([[1, 0, 1, 0]], bool))
    >>> found.with_column.true.tolist(), found.with_denial.true.tolist(), found.with_denial.false.tolist()
    ([1], [1], [1])
    """
    check_array("fires", fires, np.bool_)
    check_array("following", following, np.int8)
    check_same_length("satisfied", satisfied, "fires", fires.shape[0])
    check_same_length("following", following, "fires", fires.shape[0])
    wrong = following != int(initiates)
    classes = np.where(fires & (following != UNKNOWN), wrong + 2 * satisfied, -1).astype(np.int8)
    sums = class_sums(columns, classes, 4)
    every = np.bincount(classes[classes >= 0], minlength=4)
    return RefinementCounts(_from_classes(sums), _from_classes(every - sums))


def _from_classes(sums: Array) -> Counts:
    true, false, satisfied_true, satisfied_false = sums.T
    return Counts(true + satisfied_true, false + satisfied_false, satisfied_true, satisfied_false)
