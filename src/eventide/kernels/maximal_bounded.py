"""Maximal intervals with bounded support sets: oPIEC^b, oPIEC^bd and others, as `support_sets` cuts the sets.

In batches of one point a set is a linked list of slots; larger batches are cut into pieces as unbounded streams are.
"""

from __future__ import annotations

import numpy as np

from eventide.kernels.arrays import ONE, Array, jit
from eventide.kernels.maximal_pieces import (
    LOW_BITS,
    LOW_MASK,
    NONE,
    PIECE,
    Floats,
    Found,
    Streams,
    Supports,
    below,
    fresh_room,
    push,
    take_piece,
)
from eventide.kernels.support_sets import (
    DURATIONS,
    FIFO,
    LONGEST,
    PUBLISHED_BINS,
    PUBLISHED_RANGES,
    Bound,
    append_slot,
    completes,
    outlasts,
    remove_slot,
    resolve,
)


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
def advance_bounded(
    probs: Floats, offsets: Array, rows: Array, threshold: int, plain_threshold: float, batch: int, bound: Bound,
    streams: Streams, supports: Supports, found: Found, new: Found,
) -> None:
    """Bounded support sets: after every `batch` points of a call each is cut to its memory."""
    longest = 0
    for j in range(rows.shape[0]):
        longest = max(longest, offsets[j + 1] - offsets[j])
    batch = min(batch, max(1, longest))
    room = fresh_room()
    found_here = room.rows
    most = bound.memory + batch
    at = np.empty(most, np.int64)
    highs = np.empty(most, np.int64)
    lows = np.empty(most, np.int64)
    plains = np.zeros(most, np.float64)
    keys = np.empty(most, np.int64)
    plain_keys = np.empty(most, np.float64)
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
            for cut in range(left, left + n, PIECE):
                part = probs[cut : min(cut + PIECE, left + n)]
                high, low, count, begin = take_piece(part, first + cut - left, threshold, high, low, near_high,
                                                     near_low, at, highs, lows, count, room)
                near_high = highs[count - 1]
                near_low = lows[count - 1]
                for i in range(begin, found_here.shape[0]):
                    old, recent = push(found_here[i, 0], found_here[i, 1], found_here[i, 2], found_here[i, 3],
                                       olds, old, news, recent)
            fresh = kept
            while fresh < count and not below(highs[fresh], lows[fresh], least_high, least_low):
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
def advance_single(
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
    after = np.empty(room, np.uint64)
    before = np.empty(room, np.uint64)
    highs[none] = NONE
    lows[none] = 0
    plains[none] = np.inf
    found_rows = found.rows
    new_rows = new.rows
    rule, mean, deviation, seed, bins = bound.rule, bound.mean, bound.deviation, bound.seed, bound.bins
    published = rule == PUBLISHED_RANGES
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
            append_slot(i, last, none, highs, lows, plains, published, keys, after, before)
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
            if not below(next_high, next_low, highs[last], lows[last]):
                if place == none:
                    place = last
                while not below(next_high, next_low, highs[before[place]], lows[before[place]]):
                    place = before[place]
                while below(next_high, next_low, highs[place], lows[place]):
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
                    old, recent = push(start, now + 1, next_high - start_high, gain_low, olds, old, news, recent)
                    top = start if news[recent - 1, 0] == start else np.int64(-1)
            if below(high, low, least_high, least_low):
                least_high = high
                least_low = low
                at[free] = now
                highs[free] = high
                lows[free] = low
                plains[free] = plain
                append_slot(free, last, none, highs, lows, plains, published, keys, after, before)
                after[free] = none
                before[none] = free
                count += ONE
                free = count
                if count == none:
                    # Written out: an array that goes to a function with a loop is counted as used and as not, which
                    # costs several times as much as all the rest.
                    free = after[none]
                    shortest = rule != FIFO
                    if rule == PUBLISHED_BINS:
                        shortest = False
                        bin_ = bins.shape[0] - 1
                        while bin_ >= 0 and completes(bins[bin_], now, at[free], plains[free] - next_plain,
                                                      plain_threshold):
                            free = after[free]
                            bin_ -= 1
                    elif rule == DURATIONS:
                        while free != none and now - at[free] + 1 > mean and shortest:
                            if outlasts(mean, deviation, seed, now, at[free]):
                                shortest = False
                            else:
                                free = after[free]
                    if shortest:  # of equal ones the oldest
                        least = keys[0]
                        for k in range(ONE, none):
                            least = min(least, keys[k])
                        oldest = LONGEST
                        for k in range(none):
                            if keys[k] == least and at[k] < oldest:
                                oldest = at[k]
                                free = k
                    if free == place:
                        place = after[free]
                    remove_slot(free, none, highs, lows, plains, published, keys, after, before)
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
