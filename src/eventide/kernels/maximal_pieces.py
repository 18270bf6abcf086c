"""Maximal intervals of high probability in a piece of a stream: sums, starts and ends. Holds no state of streams.

With P[e] the sum of (probability - threshold) before point e, the interval [s, e) qualifies iff P[e] >= P[s]. A start
is useful only if P[s] is below all earlier sums (Mantenoglou's thesis on oPIEC, Proposition 11), so the *support set*
holds the strict minima of P so far, oldest first, and an end looks for the oldest one not above it.

Sums are exact: probabilities are decimals with 15 digits, the most that a double holds, counted in units of 10^-15. A
sum is two words, `high * 2^20 + low`, which is enough for nine thousand million points of a stream. Within a piece one
word is enough for the distance from the sum before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import ONE, ZERO, Array, jit
from eventide.kernels.support_sets import inlined

Floats = npt.NDArray[np.float64]

SCALE = 10**15
LOW_BITS = 20
LOW_MASK = (1 << LOW_BITS) - 1
NONE = 1 << 62  # above every sum: the least sum of a stream that has none yet
PIECE = 4096  # points that are looked at together: their sums stay in the cache, and each is within FAR of the first
FAR = 1 << 62
_FAR_HIGH = 1 << 42
_WHOLE = 6755399441055744.0  # 1.5 * 2^52: a double of up to 2^51 that is added to it is rounded to a whole number,
_WHOLE_BITS = 0x4338000000000000  # which is how far the bits of the result are from its own


class Streams(NamedTuple):
    """What is known of each stream: how many points it had, the sum over them, and the least sum before any of them."""

    seen: Array
    high: Array
    low: Array
    least_high: Array
    least_low: Array
    plain: Floats
    """The sum in doubles, as the published program has it."""


class Supports(NamedTuple):
    """Support sets: that of stream r is at `base[r] .. base[r] + size[r]`."""

    base: Array
    size: Array
    at: Array
    high: Array
    low: Array
    plain: Floats


class Found(NamedTuple):
    """Intervals of streams, at places as in Supports: rows of start, end, and the sum of (probability - threshold)."""

    base: Array
    size: Array
    rows: Array


class Room(NamedTuple):
    """Arrays for one piece."""

    sums: Array
    whole: Floats
    near_at: Array
    near: Array
    rows: Array


@jit
def below(high: int, low: int, other_high: int, other_low: int) -> bool:
    return (high < other_high) | ((high == other_high) & (low < other_low))


@jit
def fresh_room() -> Room:
    """Room for a piece."""
    size = PIECE + 1
    return Room(np.empty(size, np.int64), np.empty(size, np.float64), np.empty(size, np.int64),
                np.empty(size, np.int64), np.empty((size, 4), np.int64))


@inlined
def _distance(high: int, low: int, base_high: int, base_low: int) -> int:
    """How far one sum is from another, in one word; FAR stands for all that is farther than any sum of a piece."""
    high -= base_high
    if high > _FAR_HIGH:
        return np.int64(FAR)
    return (high << LOW_BITS) + low - base_low if high >= -_FAR_HIGH else np.int64(-FAR)


@jit
def _scan(part: Floats, threshold: int, least: int, sums: Array, whole: Floats, near_at: Array) -> int:
    """The sums of a piece, and the points before which they are the least so far (Algorithm 10); how many these are."""
    n = np.uintp(part.shape[0])
    for k in range(n):
        whole[k] = part[k] * 1e15 + _WHOLE
    words = whole.view(np.int64)
    less = threshold + _WHOLE_BITS
    total = np.int64(0)
    used = ZERO
    for k in range(n):
        sums[k] = total
        near_at[used] = np.int64(k)
        used += np.uintp(total < least)
        least = min(least, total)
        total += words[k] - less
    sums[n] = total
    return np.int64(used)


@jit
def _seek(highs: Array, lows: Array, count: int, high: int, low: int) -> int:
    """The first support entry not above a sum; looked for from the end, in growing steps."""
    if count == 0 or below(high, low, highs[count - 1], lows[count - 1]):
        return count
    right = count - 1
    step = 1
    while right - step >= 0 and not below(high, low, highs[right - step], lows[right - step]):
        right -= step
        step += step
    return _between(highs, lows, max(0, right - step), right, high, low)


@jit
def _between(highs: Array, lows: Array, left: int, right: int, high: int, low: int) -> int:
    """The first entry of left..right not above a sum, if `right` is not."""
    while left < right:
        middle = (left + right) >> 1
        if below(high, low, highs[middle], lows[middle]):
            left = middle + 1
        else:
            right = middle
    return left


@jit
def _pairs(
    sums: Array, n: int, near_at: Array, near: Array, fresh: int, first: int, high: int, low: int,
    at: Array, highs: Array, lows: Array, count: int, rows: Array,
) -> int:
    """The maximal intervals that end in a piece (Algorithm 11), at the back of `rows`: where they begin.

    Ends are taken from the last on. Of the ends with one oldest start only the last counts, so that an end matters only
    if its sum reaches a start which is older than that of all later ends: `limit` is the sum of the next older one.
    Starts of the piece are in `near` behind the youngest one from before it.
    """
    free = np.uintp(rows.shape[0])
    j = np.uintp(fresh)
    k = np.uintp(n)
    near[ZERO] = _distance(highs[count - 1], lows[count - 1], high, low) if count else np.int64(FAR)
    limit = near[j]
    while j > ZERO:
        while sums[k] < limit:  # stops at the start itself
            k -= ONE
        j -= ONE
        total = sums[k]
        if near_at[j] != np.int64(k):
            while j > ZERO and total >= near[j]:
                j -= ONE
            if total >= near[j]:
                limit = near[j]
                break
            gain = total - near[j + ONE]
            free -= ONE
            rows[free, 0] = first + near_at[j]
            rows[free, 1] = first + np.int64(k)
            rows[free, 2] = gain >> LOW_BITS
            rows[free, 3] = gain & LOW_MASK
        limit = near[j]
        if k == ZERO:
            break
        k -= ONE
    place = count
    while k > ZERO:
        total = sums[k]
        if total >= limit:
            end_low = low + total
            place = _seek(highs, lows, place, high + (end_low >> LOW_BITS), end_low & LOW_MASK)
            limit = _distance(highs[place - 1], lows[place - 1], high, low) if place else np.int64(FAR)
            gain = end_low - lows[place]
            free -= ONE
            rows[free, 0] = at[place]
            rows[free, 1] = first + np.int64(k)
            rows[free, 2] = high - highs[place] + (gain >> LOW_BITS)
            rows[free, 3] = gain & LOW_MASK
        k -= ONE
    return np.int64(free)


@jit
def take_piece(
    part: Floats, first: int, threshold: int, high: int, low: int, least_high: int, least_low: int,
    at: Array, highs: Array, lows: Array, count: int, room: Room,
) -> tuple[int, int, int, int]:
    """The points of a piece: their starts are added to the support set, their intervals are at the back of `room.rows`.

    Gives the sum behind them, how many starts there are now, and where the intervals begin.
    """
    sums, near_at, near = room.sums, room.near_at, room.near
    n = part.shape[0]
    fresh = _scan(part, threshold, _distance(least_high, least_low, high, low), sums, room.whole, near_at)
    for i in range(fresh):
        near[i + 1] = sums[near_at[i]]
    begin = _pairs(sums, n, near_at, near, fresh, first, high, low, at, highs, lows, count, room.rows)
    for i in range(fresh):
        at[count + i] = first + near_at[i]
        highs[count + i] = high + (low + near[i + 1] >> LOW_BITS)
        lows[count + i] = low + near[i + 1] & LOW_MASK
    low += sums[n]
    return high + (low >> LOW_BITS), low & LOW_MASK, count + fresh, begin


@jit
def _ending_at(rows: Array, count: int, end: int) -> int:
    """Which interval ends at `end`; -1 if none does. Ends ascend."""
    left = 0
    right = count
    while left < right:
        middle = (left + right) >> 1
        if rows[middle, 1] < end:
            left = middle + 1
        else:
            right = middle
    return left if left < count and rows[left, 1] == end else -1


# Compiled loops hold arrays in variables of their own: taking one from a tuple counts a reference, every time.


@inlined
def push(start: int, end: int, high: int, low: int, olds: Array, old: int, news: Array, new: int) -> tuple[int, int]:
    """Add an interval behind the found ones: it replaces those inside it, and is joined to one that it touches.

    Found ones have ascending starts and ends. Those of earlier calls (`olds`) stay as they are; their number falls.
    """
    while new > 0 and news[new - 1, 0] >= start:
        new -= 1
    if new == 0:
        while old > 0 and olds[old - 1, 0] >= start:
            old -= 1
    if new > 0 and news[new - 1, 1] >= start:
        place = _ending_at(news, new, start)
        if place >= 0:
            start = news[place, 0]
            high += news[place, 2]
            low += news[place, 3]
            new = place
    if old > 0 and olds[old - 1, 1] >= start and (new == 0 or news[0, 1] > start):
        place = _ending_at(olds, old, start)
        if place >= 0:
            start = olds[place, 0]
            high += olds[place, 2]
            low += olds[place, 3]
            old = place
            new = 0
    news[new, 0] = start
    news[new, 1] = end
    news[new, 2] = high + (low >> LOW_BITS)
    news[new, 3] = low & LOW_MASK
    return old, new + 1
