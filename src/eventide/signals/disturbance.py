"""What a stream suffers on its way: delays, repetitions, revisions, retractions. Arrays only; knows no tables.

Delays are injected as in the experiments on incremental RTEC: a uniform choice of the facts is late, each by a draw of
a Gamma distribution with shape 2 and scale 2 times a unit of time, thus by 4 units on average.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
import numpy.typing as npt

from eventide.errors import InputError
from eventide.formats.facts import Ints

Ops = npt.NDArray[np.int8]
LARGEST = 2**63 - 1
# Each kind of disturbance draws from its own generator, so that one share does not change what another chooses.
DELAYED, DUPLICATED, REVISED, RETRACTED = range(4)


@dataclass(frozen=True, slots=True)
class Feed:
    """What arrives, row by row: which fact, how far its time is moved, when, and whether it is inserted or retracted.

    `time` is the occurrence of each fact. The first rows are the facts as they were given, one each.
    """

    time: Ints
    fact: Ints
    moved: Ints
    arrival: Ints
    op: Ops

    @staticmethod
    def of(time: Ints, arrival: Ints | None = None, op: Ops | None = None) -> Feed:
        """The feed of undisturbed facts; without `arrival` they arrive when they occur, without `op` all are inserted.

        >>> Feed.of(np.array([3, 5])).arrival.tolist()
        [3, 5]
        """
        count = time.shape[0]
        return Feed(time, np.arange(count), np.zeros(count, np.int64), time if arrival is None else arrival,
                    np.ones(count, np.int8) if op is None else op)

    def inserted(self) -> Ints:
        """The facts that were given as insertions."""
        return np.flatnonzero(self.op[: self.time.shape[0]] > 0)

    def last_arrival(self) -> Ints:
        """When the last row of each fact arrives."""
        last = np.full(self.time.shape[0], -LARGEST - 1, np.int64)
        np.maximum.at(last, self.fact, self.arrival)
        return last

    def last_move(self) -> Ints:
        """How far the last insertion of each fact is moved."""
        moves = np.zeros(self.time.shape[0], np.int64)
        inserts = self.op > 0
        moves[self.fact[inserts]] = self.moved[inserts]  # of several rows the last counts
        return moves

    def followed_by(self, fact: Ints, moved: Ints, arrival: Ints, op: int) -> Feed:
        """The feed with further rows."""
        return replace(
            self, fact=np.concatenate([self.fact, fact]), moved=np.concatenate([self.moved, moved]),
            arrival=np.concatenate([self.arrival, arrival]),
            op=np.concatenate([self.op, np.full(fact.shape[0], op, np.int8)]),
        )

    def in_order(self) -> Feed:
        """The rows in order of arrival; those that arrive together keep their order."""
        order = np.argsort(self.arrival, kind="stable")
        return replace(self, fact=self.fact[order], moved=self.moved[order], arrival=self.arrival[order],
                       op=self.op[order])


@dataclass(frozen=True, kw_only=True)
class Disturbance:
    """Which shares of the facts are delayed, repeated, revised and retracted, and by how much.

    A lateness is a draw of a Gamma distribution with `shape` and `scale` times `unit`, rounded up to whole time-points.
    A revision moves a fact by 1 to `shift` times `unit` time-points, to and fro. Equal seeds give equal answers.

    >>> Disturbance(delayed=0.5, unit=10, seed=3).of(Feed.of(np.array([1, 2, 3, 4]))).arrival.tolist()
    [2, 4, 22, 32]
    """

    delayed: float = 0.0
    retracted: float = 0.0
    revised: float = 0.0
    duplicated: float = 0.0
    unit: int = 1
    seed: int = 1
    shape: float = 2.0
    scale: float = 2.0
    shift: int = 1

    def __post_init__(self) -> None:
        for name in ("delayed", "retracted", "revised", "duplicated"):
            share = getattr(self, name)
            if not 0 <= _number(share) <= 1:
                raise InputError(f"{name} is {share!r}; expected a share from 0 to 1")
        for name, least in {"unit": 1, "seed": 0, "shift": 1}.items():
            number = getattr(self, name)
            if not hasattr(number, "__index__") or not least <= number <= LARGEST:
                raise InputError(f"{name} is {number!r}; expected a whole number from {least} on")
        for name in ("shape", "scale"):
            number = getattr(self, name)
            if not 0 < _number(number) < np.inf:
                raise InputError(f"{name} is {number!r}; expected a number above 0")
        if int(self.shift) * int(self.unit) > LARGEST:
            raise _beyond()

    def of(self, feed: Feed) -> Feed:
        """The disturbed feed: delays first, then repetitions, revisions and retractions, in order of arrival."""
        return self._with_retractions(self._with_revisions(self._with_copies(self._with_delays(feed)))).in_order()

    def _with_delays(self, feed: Feed) -> Feed:
        rng = self._generator(DELAYED)
        rows = drawn(np.arange(feed.fact.shape[0]), self.delayed, rng)
        arrival = feed.arrival.copy()
        arrival[rows] = self._after(arrival[rows], rng)
        return replace(feed, arrival=arrival)

    def _with_copies(self, feed: Feed) -> Feed:
        rng = self._generator(DUPLICATED)
        facts = drawn(feed.inserted(), self.duplicated, rng)
        return feed.followed_by(facts, feed.last_move()[facts], self._after(feed.last_arrival()[facts], rng), 1)

    def _with_revisions(self, feed: Feed) -> Feed:
        """An old version goes and the corrected one comes at the same time, not before it occurs."""
        rng = self._generator(REVISED)
        facts = drawn(feed.inserted(), self.revised, rng)
        arrival = self._after(feed.last_arrival()[facts], rng)
        distance = rng.integers(1, int(self.shift) * int(self.unit), facts.shape[0], endpoint=True)
        old = feed.last_move()[facts]
        new = summed(old, np.where(rng.integers(0, 2, facts.shape[0]) > 0, distance, -distance))
        arrival = np.maximum(arrival, summed(feed.time[facts], new))
        return feed.followed_by(facts, old, arrival, -1).followed_by(facts, new, arrival, 1)

    def _with_retractions(self, feed: Feed) -> Feed:
        rng = self._generator(RETRACTED)
        facts = drawn(feed.inserted(), self.retracted, rng)
        return feed.followed_by(facts, feed.last_move()[facts], self._after(feed.last_arrival()[facts], rng), -1)

    def _generator(self, kind: int) -> np.random.Generator:
        return np.random.default_rng([int(self.seed), kind])

    def _after(self, times: Ints, rng: np.random.Generator) -> Ints:
        """A later time for each, at least one time-point later."""
        late = np.maximum(np.ceil(rng.gamma(self.shape, self.scale, times.shape[0]) * float(self.unit)), 1.0)
        if late.shape[0] and late.max() >= LARGEST:
            raise _beyond()
        return summed(times, late.astype(np.int64))


def _number(value: object) -> float:
    return float(value) if isinstance(value, Real) else np.nan


def drawn(rows: Ints, share: float, rng: np.random.Generator) -> Ints:
    """A uniform choice of the rows, in their order; exactly `share` of them, rounded.

    >>> drawn(np.arange(10), 0.3, np.random.default_rng(1)).shape
    (3,)
    """
    number = round(float(share) * rows.shape[0])
    return np.sort(rng.choice(rows, number, replace=False, shuffle=False)) if number else rows[:0]


def summed(times: Ints, amounts: Ints) -> Ints:
    """The times moved by the amounts; InputError if that leaves 64 bits."""
    if times.shape[0]:
        high = int(times.max()) + int(amounts.max())
        low = int(times.min()) + int(amounts.min())
        if high > LARGEST or low < -LARGEST - 1:
            raise _beyond()
    return times + amounts


def _beyond() -> InputError:
    return InputError("the disturbed times leave 64 bits; use a smaller unit of delays")
