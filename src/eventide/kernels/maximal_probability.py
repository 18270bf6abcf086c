"""Maximal intervals of high probability, for many streams at once: PIEC, oPIEC and its bounded kinds.

The interval [s, e) qualifies if the mean probability of its points is at least the threshold; it is maximal if no other
qualifying interval contains it. With P[e] the sum of (probability - threshold) before point e, it qualifies iff
P[e] >= P[s]. A start is useful only if P[s] is below all earlier sums (Proposition 11 of the thesis on oPIEC), so the
*support set* holds the strict minima of P so far, oldest first, and an end looks for the oldest one not above it.

Sums are exact: probabilities are decimals with 15 digits, the most that a double holds, counted in units of 10^-15. A
sum is two words, `high * 2^20 + low`, which is enough for nine thousand million points of a stream.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import BLOCK, ONE, ZERO, Array, check_array, check_same_length, jit
from eventide.kernels.support_sets import Bound, append_slot, inlined, remove_slot, resolve, victim

Floats = npt.NDArray[np.float64]

SCALE = 10**15
LOW_BITS = 20
LOW_MASK = (1 << LOW_BITS) - 1
NONE = 1 << 62  # above every sum: the least sum of a stream that has none yet
_PIECE = 4096  # points of an unbounded stream that are looked at together: their sums stay in the cache


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


@jit
def _below(high: int, low: int, other_high: int, other_low: int) -> bool:
    return (high < other_high) | ((high == other_high) & (low < other_low))


@jit
def _scan(
    part: Floats, first: int, threshold: int, high: int, low: int, least_high: int, least_low: int,
    at: Array, highs: Array, lows: Array, count: int, ends: Array, end_highs: Array, end_lows: Array,
) -> tuple[int, int, int, int, int, int]:
    """The sums of some points: those before a point that are the least so far make it a start (Algorithm 10), those
    after a point that are not below all starts make it an end.
    """
    used = np.uintp(count)
    ended = ZERO
    lower = _below(high, low, least_high, least_low)
    for k in range(np.uintp(part.shape[0])):
        at[used] = first + np.int64(k)
        highs[used] = high
        lows[used] = low
        used += np.uintp(lower)
        least_high = high if lower else least_high
        least_low = low if lower else least_low
        low += np.int64(np.rint(part[k] * 1e15)) - threshold
        high += low >> LOW_BITS
        low &= LOW_MASK
        lower = _below(high, low, least_high, least_low)
        ends[ended] = first + np.int64(k) + 1
        end_highs[ended] = high
        end_lows[ended] = low
        ended += np.uintp(not lower)
    return high, low, least_high, least_low, np.int64(used), np.int64(ended)


@jit
def _falling(ends: Array, end_highs: Array, end_lows: Array, n: int) -> int:
    """Move the ends whose sum is above all later ones to the back, `result .. n`: the others end nothing maximal.

    Their sums are the list dp of the papers (eq. 5.13) without repetitions.
    """
    most_high = np.int64(-NONE)
    most_low = np.int64(0)
    free = np.uintp(n)
    k = np.uintp(n)
    while k > ZERO:
        k -= ONE
        high = end_highs[k]
        low = end_lows[k]
        if _below(most_high, most_low, high, low):
            free -= ONE
            ends[free] = ends[k]
            end_highs[free] = high
            end_lows[free] = low
            most_high = high
            most_low = low
    return np.int64(free)


@jit
def _last_seek(highs: Array, lows: Array, count: int, high: int, low: int) -> int:
    """The first support entry not above a sum; looked for from the end, in growing steps."""
    if count == 0 or _below(high, low, highs[count - 1], lows[count - 1]):
        return count
    right = count - 1
    step = 1
    while right - step >= 0 and not _below(high, low, highs[right - step], lows[right - step]):
        right -= step
        step += step
    return _between(highs, lows, max(0, right - step), right, high, low)


@inlined
def _next_seek(highs: Array, lows: Array, count: int, begin: int, high: int, low: int) -> int:
    """The same, from `begin` on."""
    left = begin
    step = 1
    while left < count and _below(high, low, highs[left], lows[left]):
        begin = left + 1
        left += step
        step += step
    return _between(highs, lows, begin, min(left, count), high, low)


@jit
def _between(highs: Array, lows: Array, left: int, right: int, high: int, low: int) -> int:
    """The first entry of left..right not above a sum, if `right` is not."""
    while left < right:
        middle = (left + right) >> 1
        if _below(high, low, highs[middle], lows[middle]):
            left = middle + 1
        else:
            right = middle
    return left


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
def _push(start: int, end: int, high: int, low: int, olds: Array, old: int, news: Array, new: int) -> tuple[int, int]:
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


@jit
def _emit(
    ends: Array, end_highs: Array, end_lows: Array, begin: int, n: int,
    at: Array, highs: Array, lows: Array, count: int,
    olds: Array, old: int, news: Array, new: int,
) -> tuple[int, int]:
    """The maximal intervals with these ends, whose sums fall (Algorithm 11)."""
    place = _last_seek(highs, lows, count, end_highs[begin], end_lows[begin])
    for k in range(begin, n):
        place = _next_seek(highs, lows, count, place, end_highs[k], end_lows[k])
        # of several ends with one start, the last counts
        if k + 1 == n or _below(end_highs[k + 1], end_lows[k + 1], highs[place], lows[place]):
            old, new = _push(at[place], ends[k], end_highs[k] - highs[place], end_lows[k] - lows[place],
                             olds, old, news, new)
    return old, new


@jit
def _advance(
    probs: Floats, offsets: Array, rows: Array, threshold: int,
    streams: Streams, supports: Supports, found: Found, new: Found,
) -> None:
    """Unbounded support sets: any cut of a stream into calls and pieces gives the same."""
    ends = np.empty(_PIECE + 1, np.int64)
    end_highs = np.empty(_PIECE + 1, np.int64)
    end_lows = np.empty(_PIECE + 1, np.int64)
    found_rows = found.rows
    new_rows = new.rows
    for j in range(rows.shape[0]):
        r = rows[j]
        begin = supports.base[r]
        at = supports.at[begin:]
        highs = supports.high[begin:]
        lows = supports.low[begin:]
        count = supports.size[r]
        begin = found.base[r]
        olds = found_rows[begin:]
        old = found.size[r]
        begin = new.base[j]
        news = new_rows[begin:]
        recent = 0
        first = streams.seen[r]
        high = streams.high[r]
        low = streams.low[r]
        least_high = streams.least_high[r]
        least_low = streams.least_low[r]
        left = offsets[j]
        while left < offsets[j + 1]:
            n = min(_PIECE, offsets[j + 1] - left)
            high, low, least_high, least_low, count, ended = _scan(
                probs[left : left + n], first, threshold, high, low, least_high, least_low, at, highs, lows, count,
                ends, end_highs, end_lows)
            if ended:
                begin = _falling(ends, end_highs, end_lows, ended)
                old, recent = _emit(ends, end_highs, end_lows, begin, ended, at, highs, lows, count,
                                    olds, old, news, recent)
            left += n
            first += n
        supports.size[r] = count
        found.size[r] = old
        new.size[j] = recent
        streams.seen[r] = first
        streams.high[r] = high
        streams.low[r] = low
        streams.least_high[r] = least_high
        streams.least_low[r] = least_low


@jit
def _plain_sums(
    part: Floats, first: int, threshold: float, plain: float, at: Array, plains: Floats, fresh: int, count: int
) -> float:
    """The sums before the new starts, added in doubles."""
    for k in range(part.shape[0]):
        if fresh < count and at[fresh] == first + k:
            plains[fresh] = plain
            fresh += 1
        plain += part[k] - threshold
    return plain


@jit
def _advance_bounded(
    probs: Floats, offsets: Array, rows: Array, threshold: int, plain_threshold: float, batch: int, bound: Bound,
    streams: Streams, supports: Supports, found: Found, new: Found,
) -> None:
    """Bounded support sets: after every `batch` points of a call each is cut to its memory."""
    longest = 0
    for j in range(rows.shape[0]):
        longest = max(longest, offsets[j + 1] - offsets[j])
    batch = min(batch, max(1, longest))
    ends = np.empty(batch + 1, np.int64)
    end_highs = np.empty(batch + 1, np.int64)
    end_lows = np.empty(batch + 1, np.int64)
    room = bound.memory + batch + 1
    at = np.empty(room, np.int64)
    highs = np.empty(room, np.int64)
    lows = np.empty(room, np.int64)
    plains = np.zeros(room, np.float64)
    keys = np.empty(room, np.int64)
    plain_keys = np.empty(room, np.float64)
    found_rows = found.rows
    new_rows = new.rows
    for j in range(rows.shape[0]):
        r = rows[j]
        begin = supports.base[r]
        count = supports.size[r]
        for i in range(count):
            at[i] = supports.at[begin + i]
            highs[i] = supports.high[begin + i]
            lows[i] = supports.low[begin + i]
            plains[i] = supports.plain[begin + i]
        begin = found.base[r]
        olds = found_rows[begin:]
        old = found.size[r]
        begin = new.base[j]
        news = new_rows[begin:]
        recent = 0
        first = streams.seen[r]
        high = streams.high[r]
        low = streams.low[r]
        plain = streams.plain[r]
        least_high = streams.least_high[r]
        least_low = streams.least_low[r]
        left = offsets[j]
        while left < offsets[j + 1]:
            n = min(batch, offsets[j + 1] - left)
            kept = count
            # starts within the batch serve its own ends; only those below all earlier sums outlive it
            near_high = highs[count - 1] if count else np.int64(NONE)
            near_low = lows[count - 1] if count else np.int64(0)
            high, low, near_high, near_low, count, ended = _scan(
                probs[left : left + n], first, threshold, high, low, near_high, near_low, at, highs, lows, count,
                ends, end_highs, end_lows)
            if ended:
                begin = _falling(ends, end_highs, end_lows, ended)
                old, recent = _emit(ends, end_highs, end_lows, begin, ended, at, highs, lows, count,
                                    olds, old, news, recent)
            fresh = kept
            while fresh < count and not _below(highs[fresh], lows[fresh], least_high, least_low):
                fresh += 1
            if bound.published:
                plain = _plain_sums(probs[left : left + n], first, plain_threshold, plain, at, plains, fresh, count)
            if fresh > kept:
                for i in range(fresh, count):
                    at[kept + i - fresh] = at[i]
                    highs[kept + i - fresh] = highs[i]
                    lows[kept + i - fresh] = lows[i]
                    plains[kept + i - fresh] = plains[i]
                count -= fresh - kept
            if count > kept:
                least_high = highs[count - 1]
                least_low = lows[count - 1]
            left += n
            first += n
            if count > bound.memory:
                count = resolve(bound, at, highs, lows, plains, count, first - 1, plain, plain_threshold, keys,
                                plain_keys)
        begin = supports.base[r]
        for i in range(count):
            supports.at[begin + i] = at[i]
            supports.high[begin + i] = highs[i]
            supports.low[begin + i] = lows[i]
            supports.plain[begin + i] = plains[i]
        supports.size[r] = count
        found.size[r] = old
        new.size[j] = recent
        streams.seen[r] = first
        streams.high[r] = high
        streams.low[r] = low
        streams.plain[r] = plain
        streams.least_high[r] = least_high
        streams.least_low[r] = least_low


@jit
def _advance_single(
    probs: Floats, offsets: Array, rows: Array, threshold: int, plain_threshold: float, bound: Bound,
    streams: Streams, supports: Supports, found: Found, new: Found,
) -> None:
    """Bounded support sets in batches of one point, the way of the papers' experiments.

    At most one element goes at a time, so a set is a linked list and its elements keep their slots. The slot `none`
    stands before the oldest and behind the youngest element; no sum is above its own.
    """
    none = np.uintp(bound.memory + 1)
    room = bound.memory + 2
    at = np.empty(room, np.int64)
    highs = np.empty(room, np.int64)
    lows = np.empty(room, np.int64)
    plains = np.zeros(room, np.float64)
    keys = np.empty(room, np.int64)
    plain_keys = np.empty(room, np.float64)
    after = np.empty(room, np.uint64)
    before = np.empty(room, np.uint64)
    highs[none] = NONE
    lows[none] = 0
    plains[none] = np.inf
    found_rows = found.rows
    new_rows = new.rows
    rule, mean, deviation, seed, bins = bound.rule, bound.mean, bound.deviation, bound.seed, bound.bins
    for j in range(rows.shape[0]):
        r = rows[j]
        begin = supports.base[r]
        count = np.uintp(supports.size[r])
        last = none
        for i in range(count):
            at[i] = supports.at[begin + np.int64(i)]
            highs[i] = supports.high[begin + np.int64(i)]
            lows[i] = supports.low[begin + np.int64(i)]
            plains[i] = supports.plain[begin + np.int64(i)]
            append_slot(i, last, none, highs, lows, plains, keys, plain_keys, after, before)
            last = i
        after[last] = none
        before[none] = last
        free = count
        begin = found.base[r]
        olds = found_rows[begin:]
        old = found.size[r]
        begin = new.base[j]
        news = new_rows[begin:]
        recent = 0
        top = np.int64(-1)
        now = streams.seen[r]
        high = streams.high[r]
        low = streams.low[r]
        plain = streams.plain[r]
        least_high = streams.least_high[r]
        least_low = streams.least_low[r]
        place = none
        for i in range(np.uintp(offsets[j]), np.uintp(offsets[j + 1])):
            change = np.int64(np.rint(probs[i] * 1e15)) - threshold
            next_low = low + change
            next_high = high + (next_low >> LOW_BITS)
            next_low &= LOW_MASK
            next_plain = plain + (probs[i] - plain_threshold)
            start = np.int64(-1)
            start_high = high
            start_low = low
            if not _below(next_high, next_low, highs[last], lows[last]):
                if place == none:
                    place = last
                while not _below(next_high, next_low, highs[before[place]], lows[before[place]]):
                    place = before[place]
                while _below(next_high, next_low, highs[place], lows[place]):
                    place = after[place]
                start = at[place]
                start_high = highs[place]
                start_low = lows[place]
            else:
                place = none
                if change >= 0:
                    start = now
            if start >= 0:
                gain_low = next_low - start_low
                if start == top:
                    news[recent - 1, 1] = now + 1
                    news[recent - 1, 2] = next_high - start_high + (gain_low >> LOW_BITS)
                    news[recent - 1, 3] = gain_low & LOW_MASK
                else:
                    old, recent = _push(start, now + 1, next_high - start_high, gain_low, olds, old, news, recent)
                    top = start if news[recent - 1, 0] == start else np.int64(-1)
            if _below(high, low, least_high, least_low):
                least_high = high
                least_low = low
                at[free] = now
                highs[free] = high
                lows[free] = low
                plains[free] = plain
                append_slot(free, last, none, highs, lows, plains, keys, plain_keys, after, before)
                after[free] = none
                before[none] = free
                count += ONE
                free = count
                if count == none:
                    free = victim(rule, mean, deviation, seed, bins, none, at, plains, keys, plain_keys, after, now,
                                  next_plain, plain_threshold)
                    if free == place:
                        place = after[free]
                    remove_slot(free, none, highs, lows, plains, keys, plain_keys, after, before)
                    count -= ONE
                last = before[none]
            high = next_high
            low = next_low
            plain = next_plain
            now += 1
        begin = supports.base[r]
        slot = after[none]
        for i in range(np.int64(count)):
            supports.at[begin + i] = at[slot]
            supports.high[begin + i] = highs[slot]
            supports.low[begin + i] = lows[slot]
            supports.plain[begin + i] = plains[slot]
            slot = after[slot]
        supports.size[r] = np.int64(count)
        found.size[r] = old
        new.size[j] = recent
        streams.seen[r] = now
        streams.high[r] = high
        streams.low[r] = low
        streams.plain[r] = plain
        streams.least_high[r] = least_high
        streams.least_low[r] = least_low


@jit
def _first_improper(probs: Floats) -> int:
    n = np.uintp(probs.shape[0])
    low = ZERO
    while low < n:
        high = min(n, low + BLOCK)
        faults = 0
        for i in range(low, high):
            faults += not ((probs[i] >= 0.0) & (probs[i] <= 1.0))
        if faults > 0:
            for i in range(low, high):
                if not (probs[i] >= 0.0 and probs[i] <= 1.0):
                    return np.int64(i)
        low = high
    return np.int64(-1)


@jit
def _credible(offsets: Array, rows: Array, unit_high: int, unit_low: int, best: npt.NDArray[np.bool_]) -> None:
    for j in range(offsets.shape[0] - 1):
        winner = -1
        most_high = np.int64(0)
        most_low = np.int64(0)
        for i in range(offsets[j], offsets[j + 1]):
            length = rows[i, 1] - rows[i, 0]
            low = rows[i, 3] + length * unit_low
            high = rows[i, 2] + length * unit_high + (low >> LOW_BITS)
            low &= LOW_MASK
            overlaps = winner >= 0 and rows[i, 0] < rows[i - 1, 1]
            if overlaps and _below(high, low, most_high, most_low):
                continue
            if overlaps:
                best[winner] = False
            winner = i
            best[i] = True
            most_high = high
            most_low = low


def first_improper(probs: Floats) -> int:
    """The first index that holds no probability, a number from 0 to 1; -1 if all do. O(n), one pass.

    >>> first_improper(np.array([0.5, 1.0, np.nan])), first_improper(np.array([0.0, 1.0]))
    (2, -1)
    """
    check_array("probs", probs, np.float64)
    return int(_first_improper(probs))


def fresh_streams(count: int) -> Streams:
    """The state of streams that have had no point yet."""
    seen, high, low, least_low = (np.zeros(count, np.int64) for _ in range(4))
    return Streams(seen, high, low, np.full(count, NONE, np.int64), least_low, np.zeros(count))


def advance(
    probs: Floats, offsets: Array, rows: Array, threshold: int, streams: Streams, supports: Supports, found: Found,
    *, batch: int = 1, bound: Bound | None = None, buffer: Array | None = None,
) -> Found:
    """Take in the next points of some streams: PIEC and oPIEC (Algorithms 10 and 11), oPIEC^b and oPIEC^bd.

    Stream `rows[j]`, each at most once, has the points `probs[offsets[j]:offsets[j+1]]`, from 0 to 1, and room for as
    many more elements in its support set (with a `bound`, for its memory). `threshold` is in units of 10^-15. The state
    is changed in place: `found` loses the intervals that are no longer maximal, and the new ones are returned, in
    `buffer` if it is given and has a row for every point. Without a bound the cut into calls changes nothing; with one,
    a call takes `batch` points at a time. O(n) without a bound, O(n · memory) with one.

    >>> probs = np.array([0, 0.5, 0.7, 0.9, 0.4, 0.1, 0, 0, 0.5, 1])  # Table 5.2 of the thesis
    >>> columns = (np.empty(10, np.int64) for _ in range(3))
    >>> supports = Supports(np.zeros(1, np.int64), np.zeros(1, np.int64), *columns, np.empty(10))
    >>> found = Found(np.zeros(1, np.int64), np.zeros(1, np.int64), np.empty((0, 4), np.int64))
    >>> new = advance(probs, np.array([0, 10]), np.array([0]), SCALE // 2, fresh_streams(1), supports, found)
    >>> new.rows[: new.size[0], :2].tolist()
    [[0, 5], [1, 6], [7, 10]]
    >>> supports.at[: supports.size[0]].tolist()
    [0, 1, 7, 8]
    """
    check_array("probs", probs, np.float64)
    check_array("offsets", offsets)
    check_array("rows", rows)
    check_same_length("rows", rows, "offsets, less one,", offsets.shape[0] - 1)
    if buffer is None or buffer.shape[0] < probs.shape[0]:
        buffer = np.empty((probs.shape[0], 4), np.int64)
    new = Found(offsets[:-1], np.zeros(rows.shape[0], np.int64), buffer)
    if bound is None:
        _advance(probs, offsets, rows, threshold, streams, supports, found, new)
    elif batch == 1:
        _advance_single(probs, offsets, rows, threshold, threshold / SCALE, bound, streams, supports, found, new)
    else:
        _advance_bounded(probs, offsets, rows, threshold, threshold / SCALE, batch, bound, streams, supports, found,
                         new)
    return new


def most_credible(offsets: Array, rows: Array, threshold: int) -> npt.NDArray[np.bool_]:
    """One interval of each chain of overlapping ones: that with the largest sum of probabilities, the later of equals.

    `rows` are as in Found, those of stream j at `offsets[j] .. offsets[j+1]`, by start. O(n), one pass.

    >>> rows = np.array([[0, 5, 0, 0], [1, 6, 0, 100], [7, 10, 0, 0]])
    >>> most_credible(np.array([0, 3]), rows, SCALE // 2).tolist()
    [False, True, True]
    """
    best = np.zeros(rows.shape[0], np.bool_)
    _credible(offsets, rows, threshold >> LOW_BITS, threshold & LOW_MASK, best)
    return best
