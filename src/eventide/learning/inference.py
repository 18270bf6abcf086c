"""States from weighted rules over columns: crisp, by vote, or by Algorithm 1. Not for rules that ask about the states.

Katzouris and Artikis, "WOLED: a tool for online learning weighted answer set rules for temporal reasoning under
uncertainty" (KR 2020). By its equations (1)-(3) a true head satisfies every rule that fires for it, so the most
probable state has a head where the weights of the rules that fire for it have a positive sum: a vote. Its Algorithm 1
lets each rule stay out, so a head is on where some firing rule has a positive weight. Neither needs a search as long as
no body and no constraint depends on what is concluded; `components` is for the rest. An initiation is stronger than a
termination at a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from eventide.errors import ArrayError
from eventide.kernels.arrays import Array, Mask, check_array, check_same_length
from eventide.kernels.joins import contains
from eventide.kernels.votes import Bodies, Floats, check_matrix, check_weights, decide, hold, vote

Mode = Literal["vote", "algorithm1", "crisp"]
MODES: tuple[Mode, ...] = get_args(Mode)


def check_mode(mode: str) -> None:
    """Raise ArrayError unless `mode` names a way to infer.

    >>> check_mode("best")
    Traceback (most recent call last):
    eventide.errors.ArrayError: mode: expected one of vote, algorithm1, crisp, got 'best'
    """
    if mode not in MODES:
        raise ArrayError("mode", f"expected one of {', '.join(MODES)}, got {mode!r}")


def firing(columns: Mask, bodies: Sequence[Sequence[int]]) -> Mask:
    """Where each body is true: a row for each body. A body lists columns; `~c` stands for the denial of column c.

    >>> columns = np.array([[1, 1, 0], [0, 1, 1]], bool)
    >>> firing(columns, [(0, 1), (0, ~1), ()]).astype(int).tolist()
    [[0, 1, 0], [1, 0, 0], [1, 1, 1]]
    """
    check_matrix("columns", columns)
    fires = np.ones((len(bodies), columns.shape[1]), np.bool_)
    for row, body in zip(fires, bodies, strict=True):
        for literal in body:
            if not -columns.shape[0] <= literal < columns.shape[0]:
                raise ArrayError("bodies", f"there is no column {literal if literal >= 0 else ~literal}")
            if literal >= 0:
                np.logical_and(row, columns[literal], out=row)
            else:
                np.greater(row, columns[~literal], out=row)
    return fires


@dataclass(frozen=True, slots=True, eq=False)
class Inferred:
    """What was inferred: the heads that are on, the states they lead to, and which groundings are satisfied."""

    fires: Mask
    initiates: Mask
    weights: Floats
    mode: Mode
    on: Mask
    """Two rows: where the fluent is terminated, where it is initiated."""
    holds: Mask
    after: Mask
    """The state of each instance at the point that follows its last row."""

    def satisfied(self) -> Mask:
        """The groundings that count as satisfied, a row for each rule."""
        if self.mode == "algorithm1":
            return self.fires & (self.weights > 0)[:, None]
        return self.fires & self.on[self.initiates.astype(np.int64)]

    def objective(self) -> float:
        """The sum of the weights of the satisfied groundings; no other state has more, unless the mode is `crisp`."""
        return float(self.weights @ np.count_nonzero(self.satisfied(), axis=1))


def infer(fires: Mask, initiates: Mask, weights: Floats, offsets: Array, before: Mask,
          mode: Mode = "vote") -> Inferred:
    """The most probable states of instances: `fires` has a row for each rule, `initiates` says what the rule concludes.

    Instance j has the columns `offsets[j] .. offsets[j+1]`, one for each observed point, however far apart; `before` is
    its state at the first. A sum of exactly 0 is a tie, and leaves the head off: the fewest satisfied groundings.
    Table 2 of the paper, where b happens at 2, c at 5 and d at 8:

    >>> fires = np.zeros((3, 10), bool)
    >>> fires[0, 1] = fires[1, 4] = fires[2, 7] = True
    >>> initiates, weights = np.array([True, False, True]), np.array([11.0, 13.0, -2.0])
    >>> for mode in ("vote", "crisp"):
    ...     found = infer(fires, initiates, weights, np.array([0, 10]), np.array([False]), mode)
    ...     print((np.flatnonzero(found.holds) + 1).tolist())
    [3, 4, 5]
    [3, 4, 5, 9, 10]
    """
    check_mode(mode)
    on = vote(fires, initiates, _votes(weights, mode))
    holds, after = hold(on, offsets, before)
    return Inferred(fires, initiates, weights, mode, on, holds, after)


def _votes(weights: Floats, mode: Mode) -> Floats:
    """What each rule counts where it fires."""
    return weights if mode == "vote" else np.ones_like(weights) if mode == "crisp" else (weights > 0).astype(float)


class Theory:
    """Weighted rules over columns, prepared once for many batches: `infer` then is one compiled call a batch.

    Bodies are those of `firing`, and the result is that of `infer`:

    >>> theory = Theory([(0,), (1, ~0)], np.array([True, False]), np.array([2.0, 1.0]))
    >>> columns = np.array([[1, 0, 0, 0], [0, 0, 1, 0]], bool)
    >>> theory.infer(columns, np.array([0, 4]), np.array([False])).holds.tolist()
    [False, True, True, False]
    """

    def __init__(self, bodies: Sequence[Sequence[int]], initiates: Mask, weights: Floats, mode: Mode = "vote") -> None:
        check_mode(mode)
        check_array("initiates", initiates, np.bool_)
        check_weights(weights)
        check_same_length("initiates", initiates, "bodies", len(bodies))
        check_same_length("weights", weights, "bodies", len(bodies))
        self.initiates, self.weights, self.mode = initiates, weights, mode
        self._bodies, self._votes = Bodies.of(bodies), _votes(weights, mode)
        literals = self._bodies.literals
        self._columns = int(np.where(literals < 0, ~literals, literals).max(initial=-1)) + 1

    def infer(self, columns: Mask, offsets: Array, before: Mask) -> Inferred:
        """What the rules say of the rows of a batch; see `infer` for rows and states."""
        if columns.shape[0] < self._columns:
            raise ArrayError("bodies", f"there is no column {self._columns - 1}")
        decided = decide(columns, self._bodies, self.initiates, self._votes, offsets, before)
        return Inferred(decided.fires, self.initiates, self.weights, self.mode, *decided[1:])


class Carried:
    """The instances that hold between two batches; instances are numbers. Others do not hold.

    An instance that is absent from a batch keeps its state: nothing terminated it.

    >>> state = Carried()
    >>> state.put(np.array([7, 3]), np.array([True, False]))
    >>> state.put(np.array([5]), np.array([True]))
    >>> state.take(np.array([3, 5, 7])).tolist()
    [False, True, True]
    >>> state.reset()
    >>> state.take(np.array([5])).tolist()
    [False]
    """

    def __init__(self) -> None:
        self._holding: Array = np.empty(0, np.int64)

    def take(self, instances: Array) -> Mask:
        """The state of each of the instances."""
        check_array("instances", instances)
        return contains(instances, self._holding) if self._holding.shape[0] else np.zeros(instances.shape[0], np.bool_)

    def put(self, instances: Array, after: Mask) -> None:
        """Replace the states of these instances."""
        check_array("instances", instances)
        check_same_length("after", after, "instances", instances.shape[0])
        kept = self._holding[~contains(self._holding, instances)] if self._holding.shape[0] else self._holding
        begun = instances[after]
        self._holding = np.sort(np.concatenate([kept, begun])) if begun.shape[0] else kept

    def reset(self) -> None:
        """Forget all states: a new stream begins."""
        self._holding = self._holding[:0]
