"""Interval recognition: PIEC over all that is known, oPIEC as points come, oPIEC^b and oPIEC^bd in bounded memory.

PIEC: Artikis, Makris and Paliouras, "A probabilistic interval-based event calculus for activity recognition" (2021).
oPIEC and its bounded kinds: Mantenoglou's thesis (Athens 2024), chapter 6, Algorithms 10 to 12.
The loops are in `kernels.maximal_probability`; here are streams with names and times, and what is kept between calls.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from eventide.errors import InputError
from eventide.formats.expected import TimeUnit
from eventide.kernels.arrays import Array
from eventide.kernels.maximal_probability import (
    LOW_BITS,
    SCALE,
    Found,
    Streams,
    Supports,
    advance,
    fresh_streams,
    most_credible,
)
from eventide.kernels.support_sets import DURATIONS, FIFO, PUBLISHED_BINS, PUBLISHED_RANGES, RANGES, Bound
from eventide.probability.durations import durations_of
from eventide.probability.gaps import Gaps, check_gaps, filled, smallest_step, steps_of
from eventide.probability.points import Points, points_of
from eventide.probability.ragged import Ragged, stretches
from eventide.probability.results import Key, MaximalIntervals

Floats = npt.NDArray[np.float64]
Threshold = float | str | Decimal | Fraction
Resolver = Literal["thesis", "published", "fifo"]


def intervals(
    probs: object,
    threshold: Threshold = 0.5,
    memory: int | None = None,
    durations: object = None,
    *,
    resolver: Resolver = "thesis",
    batch: int = 1,
    credible: bool = False,
    seed: int = 0,
    step: int | None = None,
    gaps: Gaps = "fail",
    time_unit: TimeUnit | None = None,
) -> MaximalIntervals:
    """The probabilistic maximal intervals of one stream or many.

    `probs` is a list of probabilities, a dict of lists by stream, or a table or file with the columns `time`,
    `probability` and whatever names the stream. An interval qualifies if its mean probability is at least `threshold`;
    it is maximal if no other qualifying one contains it (PIEC). With a `memory` only as many starts are remembered
    (oPIEC^b), with `durations`, a mean and a standard deviation in time-points, those that fit them (oPIEC^bd);
    `batch` points are taken at a time. `credible` keeps one interval of each overlapping chain. `step` is the distance
    of time-points (default: the smallest there is), `gaps` says what missing ones mean.

    >>> found = intervals([0, 0.5, 0.7, 0.9, 0.4, 0.1, 0, 0, 0.5, 1], threshold=0.5)
    >>> found.pairs()
    [(0, 5), (1, 6), (7, 10)]
    >>> intervals([0, 0.5, 0.7, 0.9, 0.4, 0.1, 0, 0, 0.5, 1], threshold=0.5, credible=True).pairs()
    [(1, 6), (7, 10)]
    """
    recogniser = Recogniser(threshold, memory, durations, resolver=resolver, batch=batch, seed=seed,
                            step=1 if step is None else step, gaps=gaps)
    points = points_of(probs, time_unit)
    if step is None:
        recogniser.step = smallest_step(points)
    recogniser.take(points)
    return recogniser.intervals(credible=credible)


class Changes(NamedTuple):
    """What a call changed: intervals that are maximal now, and intervals that were.

    >>> changes = Recogniser(threshold=0.5).advance([0, 0.5, 0.7, 0.9])
    >>> changes.added.pairs(), changes.removed.pairs()
    ([(0, 4)], [])
    """

    added: MaximalIntervals
    removed: MaximalIntervals


class Taken(NamedTuple):
    """The same in columns: how many intervals of each row are new and gone, and these, one row behind the other."""

    rows: Array
    fresh: Array
    added: Array
    gone: Array
    removed: Array


class Recogniser:
    """Streams as they come: each call of `advance` takes their next points, and tells what that changes.

    Arguments are those of `intervals`. Every call ends a batch. With `forget=True` intervals that can change no more
    are not held once they were told: with `durations`, or first in first out, a stream of any length needs no more
    room. (oPIEC^b never gives up its oldest start, so that every interval may still grow.)

    >>> stream = Recogniser(threshold=0.5)
    >>> stream.advance([0, 0.5, 0.7, 0.9]).added.pairs()
    [(0, 4)]
    >>> changes = stream.advance([0.4, 0.1, 0, 0])
    >>> changes.added.pairs(), changes.removed.pairs()
    ([(0, 5), (1, 6)], [(0, 4)])
    >>> stream.support()
    [(0, 0.0), (1, -0.5), (7, -0.9)]
    """

    def __init__(
        self,
        threshold: Threshold = 0.5,
        memory: int | None = None,
        durations: object = None,
        *,
        resolver: Resolver = "thesis",
        batch: int = 1,
        seed: int = 0,
        step: int = 1,
        gaps: Gaps = "fail",
        forget: bool = False,
    ) -> None:
        self.threshold = units(threshold)
        self.memory = memory
        self.durations = None if durations is None else durations_of(durations)
        self.resolver: Resolver = resolver
        self.batch, self.seed, self.step, self.gaps, self.forget = batch, seed, step, gaps, forget
        check_gaps(gaps)
        for name, number, least in (("memory", memory, 0), ("batch", batch, 1), ("seed", seed, 0), ("step", step, 1)):
            if number is not None and (isinstance(number, bool) or number != int(number) or number < least):
                raise InputError(f"{name} is {number!r}, expected a whole number from {least} on")
        self.bound = self._bound()
        self.names: tuple[str, ...] | None = None
        self.keys: list[Key] = []
        self._number_of: dict[Key, int] = {}
        self._row_of: dict[Key, int] = {}
        # A row is a stretch of a stream without a gap: its stream, the time of its first and of its last point.
        self._stream, self._origin, self._last = (np.zeros(0, np.int64) for _ in range(3))
        self._before = np.zeros(0)
        self._streams = fresh_streams(0)
        columns = {name: np.empty(0, np.int64) for name in ("at", "high", "low")}
        self._supports = Ragged(columns | ({} if self.bound is None else {"plain": np.empty(0)}))
        self._found = Ragged({"rows": np.empty((0, 4), np.int64)})
        self._buffer = np.empty((0, 4), np.int64)  # new pages cost more than what is written on them

    def _bound(self) -> Bound | None:
        known = self.durations
        if self.resolver not in get_args(Resolver):
            raise InputError(f"resolver is {self.resolver!r}; known are thesis, published and fifo")
        if self.memory is None:
            if known is not None or self.resolver != "thesis":
                raise InputError("durations and resolvers decide what a bounded memory keeps; give a memory (--memory)")
            return None
        if self.resolver == "fifo" and known is not None:
            raise InputError("the resolver fifo makes no use of durations; leave them out, or take thesis")
        rules = {"fifo": FIFO, "published": PUBLISHED_RANGES if known is None else PUBLISHED_BINS,
                 "thesis": RANGES if known is None else DURATIONS}
        rule = rules[self.resolver]
        middles = np.zeros(0, np.int64)
        if known is not None and rule == PUBLISHED_BINS and self.memory:
            middles = known.middles(self.memory)
        mean, deviation = (known.mean, known.deviation) if known else (0.0, 0.0)
        return Bound(self.memory, rule, rule in (PUBLISHED_RANGES, PUBLISHED_BINS), mean, deviation,
                     np.uint64(self.seed % 2**64), middles)

    def advance(self, probs: object, time_unit: TimeUnit | None = None) -> Changes:
        """Take the next points of streams; new streams may begin, others may pause. Times continue where they were."""
        rows, fresh, added, gone, removed = self.take(points_of(probs, time_unit))
        return Changes(self._as_intervals(rows, fresh, added), self._as_intervals(rows, gone, removed))

    def take(self, points: Points) -> Taken:
        """The same for points that were read before, with the changes as columns."""
        if self.names is None:
            self.names = points.names
        elif points.names != self.names:
            was, now = (", ".join(names) or "nothing" for names in (self.names, points.names))
            raise InputError(f"streams were named by {was} so far, and now by {now}")
        streams = np.flatnonzero(np.diff(points.offsets))
        begin = points.offsets[:-1][streams]
        keys = [points.keys[stream] for stream in streams.tolist()]
        rows = np.array([self._row_of.get(key, -1) for key in keys], np.int64)
        last, before = np.zeros(rows.shape[0], np.int64), np.zeros(rows.shape[0])
        last[rows >= 0], before[rows >= 0] = self._last[rows[rows >= 0]], self._before[rows[rows >= 0]]
        probs, times = points.probs, points.times
        if times is None:
            first = np.where(rows < 0, 0, last + self.step)
            ends = first + (np.diff(begin, append=probs.shape[0]) - 1) * self.step
            return self._run(keys, rows, begin, probs, first, ends)
        counts = steps_of(points, times, begin, rows >= 0, last, self.step, self.gaps)
        if self.gaps == "split":
            cuts = np.flatnonzero(counts > 1)
            parts = np.union1d(begin, cuts)
            owners = np.searchsorted(begin, parts, "right") - 1
            keys = [keys[owner] for owner in owners.tolist()]
            rows, begin = np.where(np.isin(parts, cuts), -1, rows[owners]), parts
        first, ends = times[begin], times[np.append(begin[1:], times.shape[0]) - 1] if begin.shape[0] else begin
        if self.gaps in ("hold", "zero"):
            begin, probs = filled(probs, begin, counts, before, self.gaps)
        return self._run(keys, rows, begin, probs, first, ends)

    def _run(self, keys: list[Key], rows: Array, begin: Array, probs: Floats, first: Array, last: Array) -> Taken:
        """Let the kernel take the points of rows, -1 for new ones, which have some each; `begin` says where."""
        offsets = np.append(begin, probs.shape[0])
        rows = self._rows(keys, rows, first)
        self._last[rows] = last
        self._before[rows] = probs[offsets[1:] - 1]
        sizes = np.diff(offsets)
        if self.bound is None:
            self._supports.reserve(rows, sizes)
        else:
            self._supports.reserve(rows, self.bound.memory - self._supports.size[rows])
        held = self._found.size[rows]
        lists, found = self._supports, self._found
        plain = lists.columns.get("plain", np.empty(0))
        supports = Supports(lists.base, lists.size, lists.columns["at"], lists.columns["high"], lists.columns["low"],
                            plain)
        new = advance(probs, offsets, rows, self.threshold, self._streams, supports,
                      Found(found.base, found.size, found.columns["rows"]), batch=self.batch, bound=self.bound,
                      buffer=self._buffer)
        self._buffer = new.rows
        gone = held - found.size[rows]
        removed = stretches(found.columns["rows"], found.base[rows] + found.size[rows], gone)
        added = stretches(new.rows, new.base, new.size)
        found.append(rows, new.size, {"rows": added})
        if self.bound is None:
            self._supports.trim(rows)
        if self.forget:
            self._settle(rows)
        return Taken(rows, new.size, added, gone, removed)

    def _rows(self, keys: list[Key], rows: Array, first: Array) -> Array:
        """The rows, with new ones where there are none yet."""
        fresh = np.flatnonzero(rows < 0)
        if not fresh.shape[0]:
            return rows
        rows = rows.copy()
        rows[fresh] = self._stream.shape[0] + np.arange(fresh.shape[0])
        numbers: list[int] = []
        for key, row in zip([keys[at] for at in fresh.tolist()], rows[fresh].tolist(), strict=True):
            if key not in self._number_of:
                self._number_of[key] = len(self.keys)
                self.keys.append(key)
            numbers.append(self._number_of[key])
            self._row_of[key] = row
        count = fresh.shape[0]
        self._stream = np.concatenate((self._stream, np.array(numbers, np.int64)))
        self._origin = np.concatenate((self._origin, first[fresh]))
        self._last = np.concatenate((self._last, first[fresh]))
        self._before = np.concatenate((self._before, np.zeros(count)))
        both = zip(self._streams, fresh_streams(count), strict=True)
        self._streams = Streams(*(np.concatenate(pair) for pair in both))
        self._supports.add(count)
        self._found.add(count)
        return rows

    def _settle(self, rows: Array) -> None:
        """Forget intervals that nothing can replace or touch: they end before the oldest start that is held."""
        lists, found = self._supports, self._found
        oldest = self._streams.seen[rows]
        some = lists.size[rows] > 0
        oldest[some] = np.minimum(oldest[some], lists.columns["at"][lists.base[rows[some]]])
        sizes = found.size[rows]
        ends = found.of(rows)["rows"][:, 1]
        owner = np.repeat(np.arange(rows.shape[0]), sizes)
        found.drop_first(rows, np.bincount(owner[ends < oldest[owner]], minlength=rows.shape[0]))

    def intervals(self, *, credible: bool = False) -> MaximalIntervals:
        """The maximal intervals of all streams, as far as they are known and held now."""
        rows = np.argsort(self._stream, kind="stable")
        sizes, found = self._found.size[rows], self._found.of(rows)["rows"]
        if credible:
            offsets = np.concatenate((np.zeros(1, np.int64), sizes.cumsum()))
            best = most_credible(offsets, found, self.threshold)
            sizes = np.bincount(np.repeat(np.arange(rows.shape[0]), sizes)[best], minlength=rows.shape[0])
            found = found[best]
        return self._as_intervals(rows, sizes, found)

    def support(self, *key: object) -> list[tuple[int, float]]:
        """The support set of a stream: times of remembered starts, with the sum of (probability - threshold) before."""
        row = self._row_of.get(key)
        if row is None:
            raise InputError(f"there is no stream {key!r}; there are: {', '.join(map(str, self.keys[:5]))}")
        found = self._supports.of(np.array([row]))
        times = self._origin[row] + found["at"] * self.step
        sums = (found["high"] * 2.0**LOW_BITS + found["low"]) / SCALE
        return list(zip(times.tolist(), sums.tolist(), strict=True))

    def _as_intervals(self, rows: Array, sizes: Array, found: Array) -> MaximalIntervals:
        owner = np.repeat(rows, sizes)
        origin = self._origin[owner]
        lengths = found[:, 1] - found[:, 0]
        mean = self.threshold / SCALE + (found[:, 2] * 2.0**LOW_BITS + found[:, 3]) / SCALE / lengths
        return MaximalIntervals(self.names or (), self.keys, self._stream[owner], origin + found[:, 0] * self.step,
                                origin + found[:, 1] * self.step, mean, np.ascontiguousarray(found[:, :2]))

    def peek(self, points: Points) -> MaximalIntervals:
        """The intervals if these points came next, those included that `forget` would not hold; nothing is kept.

        Without a bound support sets only grow: they are taken back to what they were, being too large to be copied.

        >>> from eventide.probability.points import points_of
        >>> stream = Recogniser(threshold=0.5)
        >>> stream.advance([0, 0.5, 0.7, 0.9]).added.pairs()
        [(0, 4)]
        >>> stream.peek(points_of([0.4, 0.1, 0, 0])).pairs(), stream.intervals().pairs()
        ([(0, 5), (1, 6)], [(0, 4)])
        """
        if self.bound is not None or self.gaps == "split":
            now = self._copy()
            now.forget = False
            now.take(points)
            return now.intervals()
        before, forget, names = self._columns(), self.forget, self.names
        streams, found_before, mark = len(self.keys), self._found.copy(), self._supports.mark()
        state = {name: each.copy() for name, each in self._streams._asdict().items()}
        self.forget = False
        try:
            self.take(points)
            found = self.intervals()
        finally:
            self.forget, self.names = forget, names
        found = replace(found, keys=list(found.keys))
        for key in self.keys[streams:]:
            del self._number_of[key], self._row_of[key]
        del self.keys[streams:]
        self._found = found_before
        self._supports.back(mark)
        self._stream, self._origin, self._last, self._before = before
        self._streams = Streams(**state)
        return found

    def _columns(self) -> tuple[Array, Array, Array, Floats]:
        return self._stream.copy(), self._origin.copy(), self._last.copy(), self._before.copy()

    def _copy(self) -> Recogniser:
        found = copy.copy(self)
        found.keys, found._number_of, found._row_of = list(self.keys), dict(self._number_of), dict(self._row_of)
        found._stream, found._origin, found._last, found._before = self._columns()
        found._streams = Streams(**{name: each.copy() for name, each in self._streams._asdict().items()})
        found._supports, found._found = self._supports.copy(), self._found.copy()
        found._buffer = np.empty((0, 4), np.int64)
        return found

    def save(self) -> bytes:
        """All of it as bytes; `Recogniser.restore` goes on from them as if nothing had been."""
        from eventide.probability.saved import to_bytes

        return to_bytes(self)

    @staticmethod
    def restore(state: bytes) -> Recogniser:
        """The recogniser that `save` gave as bytes."""
        from eventide.probability.saved import from_bytes

        return from_bytes(state)


def units(threshold: Threshold) -> int:
    """A threshold in units of 10^-15, as it is written; further digits are cut, so that 2/3 is not above two thirds.

    >>> units(0.7), units("0.1"), units(Fraction(2, 3))
    (700000000000000, 100000000000000, 666666666666666)
    """
    try:
        exact = Fraction(str(float(threshold))) if isinstance(threshold, float) else Fraction(threshold)
    except (ValueError, TypeError, InvalidOperation, OverflowError, ZeroDivisionError):
        exact = Fraction(-1)
    if not 0 <= exact <= 1:
        raise InputError(f"the threshold is {threshold}, expected a number from 0 to 1")
    return math.floor(exact * SCALE)
