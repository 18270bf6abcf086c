"""Which elements a full support set gives up: the oPIEC^b, oPIEC^bd and first-in-first-out rules. Finds no intervals.

The first two are of Mantenoglou's thesis (Athens 2024), chapter 6.

A support set is given by its columns: `at`, the points; `highs` and `lows`, the sums before them (falling, in two
words, see `maximal_probability`); `plains`, the same sums in doubles where the published program is followed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import ONE, Array, Function, jit, numba

Floats = npt.NDArray[np.float64]

RANGES, DURATIONS, PUBLISHED_RANGES, PUBLISHED_BINS, FIFO = range(5)
LONGEST = np.int64(2**63 - 1)
_FAR = 1 << 62
_WIDE = 1 << 42  # a score range of this many high units, about 4,398, is compared in high units alone


def inlined(function: Function) -> Function:
    """Compile a part of a loop into every place that calls it: passing all its arrays would cost more than its work."""
    compiled: Function = numba.njit(cache=True, nogil=True, forceinline=True)(function)
    return compiled


class Bound(NamedTuple):
    """How support sets are kept small: at most `memory` elements, by one of the rules above."""

    memory: int
    rule: int
    published: bool
    mean: float
    deviation: float
    seed: np.uint64
    bins: Array
    """Twice the middle of each bin of durations, shortest first; for PUBLISHED_BINS, `memory` of them."""


@inlined
def _range_key(high: int, low: int) -> int:
    """A score range (eq. 6.3) as one word."""
    high += low >> 20
    return (high << 20) + (low & 0xFFFFF) if high < _WIDE else np.int64(_FAR) + (high - _WIDE)


@inlined
def _ordered(number: float) -> int:
    """A number as a word, in the same order: the bits of one below 0 fall where it rises."""
    number = np.float64(number + 0.0)  # -0.0 is 0.0
    bits = number.view(np.int64)
    return bits ^ ((bits >> 63) & LONGEST)


@jit
def _range_keys(highs: Array, lows: Array, count: int, keys: Array) -> None:
    """The score range of every element; the first has nothing before it, and the longest."""
    keys[0] = LONGEST
    for i in range(ONE, np.uintp(count)):
        keys[i] = _range_key(highs[i - ONE] - highs[i], lows[i - ONE] - lows[i])


@jit
def _plain_keys(plains: Floats, count: int, keys: Floats) -> None:
    keys[0] = np.inf
    for i in range(1, count):
        keys[i] = plains[i - 1] - plains[i]


@jit
def _remove(i: int, at: Array, highs: Array, lows: Array, plains: Floats, count: int) -> int:
    """Without element i; the number of elements that are left."""
    for k in range(np.uintp(i), np.uintp(count) - ONE):
        at[k] = at[k + ONE]
        highs[k] = highs[k + ONE]
        lows[k] = lows[k + ONE]
    for k in range(np.uintp(i), np.uintp(count) - ONE):
        plains[k] = plains[k + ONE]
    return count - 1


@jit
def _move(source: int, target: int, at: Array, highs: Array, lows: Array, plains: Floats) -> None:
    at[target] = at[source]
    highs[target] = highs[source]
    lows[target] = lows[source]
    plains[target] = plains[source]


@jit
def _drop_shortest(keys, excess, at, highs, lows, plains, count):  # type: ignore[no-untyped-def]
    """Drop the `excess` elements with the shortest score ranges: support set maintenance of oPIEC^b (thesis, 6.2.1).

    Where equal ranges straddle the cut, the result is that of one scan which holds the first `excess` elements, and
    lets each later, strictly shorter one take the place of the oldest of the longest held.
    """
    if excess == 1:
        shortest = keys[1]
        for i in range(ONE, np.uintp(count)):
            shortest = min(shortest, keys[i])
        place = 1
        while keys[place] != shortest:
            place += 1
        return _remove(place, at, highs, lows, plains, count)
    cut = np.partition(keys[:count], excess - 1)[excess - 1]
    below = 0
    for i in range(count):
        below += keys[i] < cut
    # The scan holds equal ones until `excess` elements up to the cut have come, and gives up the oldest of them.
    come = 0
    held = 0
    for i in range(count):
        if come == excess:
            break
        come += keys[i] <= cut
        held += keys[i] == cut
    spared = held - (excess - below)
    equal = 0
    left = 0
    for i in range(count):
        gone = keys[i] < cut
        if keys[i] == cut:
            equal += 1
            gone = spared < equal <= held
        if not gone:
            _move(i, left, at, highs, lows, plains)
            left += 1
    return left


@jit
def _uniform(seed: np.uint64, now: int, point: int) -> float:
    """A number in [0, 1) that depends on its arguments alone (SplitMix64), so that nothing need be saved."""
    word = seed + np.uint64(now) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(point) * np.uint64(0xD1342543DE82EF95)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word = word ^ (word >> np.uint64(31))
    return np.float64(word >> np.uint64(11)) * 2.0**-53


@jit
def outlasts(mean, deviation, seed, now, point):  # type: ignore[no-untyped-def]
    """Whether an element goes whose intervals are longer than the mean: by chance, eq. 6.4 says with which one."""
    if deviation == 0:
        return True
    excess = now - point + 1 - mean
    return math.erf(excess / (deviation * math.sqrt(2.0))) > _uniform(seed, now, point)


@jit
def completes(middle, now, point, lack, threshold):  # type: ignore[no-untyped-def]
    """Whether an element can reach the middle of a bin of durations with probabilities that exist."""
    remaining = ((middle - 2 * (now - point)) >> 1) - 1
    return remaining > 0 and lack / remaining + threshold <= 1.0


@jit
def _drop_outlasting(bound, at, highs, lows, plains, count, now):  # type: ignore[no-untyped-def]
    """Drop elements that would start unusually long intervals, each with its own probability (Algorithm 12, 1-7)."""
    left = 0
    for i in range(count):
        least = now - at[i] + 1
        excess = count - i + left - bound.memory
        if excess <= 0 or least <= bound.mean:
            if left == i:
                return count
            for k in range(i, count):
                _move(k, left, at, highs, lows, plains)
                left += 1
            return left
        if not outlasts(bound.mean, bound.deviation, bound.seed, now, at[i]):
            _move(i, left, at, highs, lows, plains)
            left += 1
    return left


@jit
def _drop_by_bins(bound, at, highs, lows, plains, count, now, plain, threshold):  # type: ignore[no-untyped-def]
    """Drop elements that could not complete an interval of the length of their bin, as the published program does."""
    excess = count - bound.memory
    bin_ = bound.bins.shape[0] - 1
    left = 0
    for i in range(count):
        keep = i - left == excess
        if not keep and bin_ >= 0 and completes(bound.bins[bin_], now, at[i], plains[i] - plain, threshold):
            keep = True
            bin_ -= 1
        if keep:
            _move(i, left, at, highs, lows, plains)
            left += 1
    return left


@jit
def resolve(bound, at, highs, lows, plains, count, now, plain, threshold, keys, plain_keys):  # type: ignore[no-untyped-def]
    """Cut a support set to its memory after the point `now`; the number of elements that are left."""
    if bound.rule == PUBLISHED_BINS:
        return _drop_by_bins(bound, at, highs, lows, plains, count, now, plain, threshold)
    if bound.rule == FIFO:
        excess = count - bound.memory
        for i in range(bound.memory):
            _move(i + excess, i, at, highs, lows, plains)
        return bound.memory
    if bound.rule == DURATIONS:
        count = _drop_outlasting(bound, at, highs, lows, plains, count, now)
    excess = count - bound.memory
    if excess <= 0:
        return count
    if bound.memory == 0:
        return 0
    if bound.rule == PUBLISHED_RANGES:
        _plain_keys(plains, count, plain_keys)
        return _drop_shortest(plain_keys, excess, at, highs, lows, plains, count)
    _range_keys(highs, lows, count, keys)
    return _drop_shortest(keys, excess, at, highs, lows, plains, count)


# The same for sets of which one element goes at a time: linked lists of slots, `none` before and behind all.


@inlined
def append_slot(slot, last, none, highs, lows, plains, published, keys, after, before):  # type: ignore[no-untyped-def]
    """Put a slot behind the last one; what comes behind it is not set."""
    before[slot] = last
    after[last] = slot
    _measure(slot, last, none, highs, lows, plains, published, keys)


@inlined
def remove_slot(slot, none, highs, lows, plains, published, keys, after, before):  # type: ignore[no-untyped-def]
    """Take a slot out."""
    older = before[slot]
    younger = after[slot]
    after[older] = younger
    before[younger] = older
    if younger != none:
        _measure(younger, older, none, highs, lows, plains, published, keys)


@inlined
def _measure(slot, older, none, highs, lows, plains, published, keys):  # type: ignore[no-untyped-def]
    """Set the score range of a slot, as a word that is greater for longer ones."""
    if older == none:
        keys[slot] = LONGEST
    elif published:
        keys[slot] = _ordered(plains[older] - plains[slot])
    else:
        keys[slot] = _range_key(highs[older] - highs[slot], lows[older] - lows[slot])
