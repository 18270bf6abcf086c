"""Maximal intervals of high probability where probabilities stay for long: PIEC on stretches, not on time-points.

With P[t] the sum of (probability - threshold) before point t, starts are the strict minima of P so far and ends the
sums above all later ones (`maximal_probability`). Both fall. In one list of all their sums, largest first and ends
before equal starts, every end that is followed by a start is a maximal interval with it: no earlier start is low enough
for that end, no later end high enough for that start. Within a stretch starts and ends are arithmetic sequences, so
that none of their points is looked at but those of the result. Sums are exact, two words as there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import Array, check_array, check_same_length, jit
from eventide.kernels.maximal_probability import LOW_BITS, LOW_MASK

Floats = npt.NDArray[np.float64]
LONGEST = 1 << 31  # points of one stream


@jit
def _moved(high: int, low: int, step: int, count: int) -> tuple[int, int]:
    """A sum and `count` times a step."""
    low += (step & LOW_MASK) * count
    return high + (step >> LOW_BITS) * count + (low >> LOW_BITS), low & LOW_MASK


@jit
def _above(high: int, low: int, other_high: int, other_low: int) -> bool:
    return (high > other_high) | ((high == other_high) & (low > other_low))


@jit
def _first_not_above(high: int, low: int, fall: int, to_high: int, to_low: int, most: int) -> int:
    """How often a sum must fall by `fall` until it is not above another; `most + 1` if so often is not enough."""
    if not _above(high, low, to_high, to_low):
        return 0
    distance = float(high - to_high) * 1048576.0 + float(low - to_low)
    count = np.int64(min(np.ceil(distance / fall), float(most + 1)))
    while count > 0:
        before_high, before_low = _moved(high, low, -fall, count - 1)
        if _above(before_high, before_low, to_high, to_low):
            break
        count -= 1
    while count <= most:
        here_high, here_low = _moved(high, low, -fall, count)
        if not _above(here_high, here_low, to_high, to_low):
            break
        count += 1
    return count


@jit
def _starts(
    steps: Array, lengths: Array, at: Array, highs: Array, lows: Array, falls: Array, counts: Array,
    run_highs: Array, run_lows: Array,
) -> int:
    """The sequences of strict minima, and the sum before each stretch."""
    at[0], highs[0], lows[0], falls[0], counts[0] = 0, 0, 0, 0, 1
    used = 1
    high, low = np.int64(0), np.int64(0)
    least_high, least_low = high, low
    time = np.int64(0)
    for r in range(steps.shape[0]):
        run_highs[r], run_lows[r] = high, low
        end_high, end_low = _moved(high, low, steps[r], lengths[r])
        if _above(least_high, least_low, end_high, end_low):
            below_high, below_low = _moved(least_high, least_low, -1, 1)
            count = max(np.int64(1), _first_not_above(high, low, -steps[r], below_high, below_low, lengths[r]))
            at[used] = time + count
            highs[used], lows[used] = _moved(high, low, steps[r], count)
            falls[used] = -steps[r]
            counts[used] = lengths[r] - count + 1
            used += 1
            least_high, least_low = end_high, end_low
        high, low = end_high, end_low
        time += lengths[r]
    return used


@jit
def _ends(
    steps: Array, lengths: Array, at: Array, highs: Array, lows: Array, falls: Array, counts: Array,
    run_highs: Array, run_lows: Array,
) -> int:
    """The sequences of sums above all later ones, at the back of the arrays; where they begin."""
    free: int = steps.shape[0]
    most_high, most_low = np.int64(-(1 << 62)), np.int64(0)
    time = lengths.sum()
    for r in range(steps.shape[0] - 1, -1, -1):
        time -= lengths[r]
        if steps[r] >= 0:
            high, low = _moved(run_highs[r], run_lows[r], steps[r], lengths[r])
            if _above(high, low, most_high, most_low):
                free -= 1
                at[free], highs[free], lows[free], falls[free], counts[free] = time + lengths[r], high, low, 0, 1
                most_high, most_low = high, low
            continue
        high, low = _moved(run_highs[r], run_lows[r], steps[r], 1)
        if _above(high, low, most_high, most_low):
            count = _first_not_above(high, low, -steps[r], most_high, most_low, lengths[r] - 1)
            free -= 1
            at[free], highs[free], lows[free] = time + 1, high, low
            falls[free], counts[free] = -steps[r], min(count, lengths[r])
            most_high, most_low = high, low
    return free


@jit
def _paired(
    at: Array, highs: Array, lows: Array, falls: Array, counts: Array, used: int,
    end_at: Array, end_highs: Array, end_lows: Array, end_falls: Array, end_counts: Array, begin: int,
    rows: Array, room: int,
) -> int:
    """The maximal intervals; as many as there are, of which those that have room are written."""
    found = 0
    i = 0
    k = begin
    skipped = np.int64(0)
    while k < end_at.shape[0]:
        end_high, end_low = _moved(end_highs[k], end_lows[k], -end_falls[k], skipped)
        place = np.int64(0)
        while i < used:
            place = _first_not_above(highs[i], lows[i], falls[i], end_high, end_low, counts[i] - 1) if counts[
                i] > 1 else np.int64(_above(highs[i], lows[i], end_high, end_low))
            if place < counts[i]:
                break
            i += 1
        if i == used:
            break
        start = at[i] + place
        high, low = _moved(highs[i], lows[i], -falls[i], place)
        below_high, below_low = _moved(high, low, -1, 1)
        while True:  # the last end that is not below the start
            last = np.int64(0)
            if end_counts[k] > 1:
                last = _first_not_above(end_highs[k], end_lows[k], end_falls[k], below_high, below_low,
                                        end_counts[k] - 1) - 1
            if last + 1 < end_counts[k] or k + 1 == end_at.shape[0] or not _above(
                    end_highs[k + 1], end_lows[k + 1], below_high, below_low):
                break
            k += 1
        end = end_at[k] + last
        skipped = last + 1
        if start >= end:
            skipped = end_counts[k]  # the sum falls below all that was before: no later end here has a start
        else:
            if found < room:
                end_high, end_low = _moved(end_highs[k], end_lows[k], -end_falls[k], last)
                low = end_low - low
                rows[found, 0], rows[found, 1] = start, end
                rows[found, 2], rows[found, 3] = end_high - high + (low >> LOW_BITS), low & LOW_MASK
            found += 1
        if skipped == end_counts[k]:
            k += 1
            skipped = np.int64(0)
    return found


@jit
def _all_streams(offsets: Array, steps: Array, lengths: Array, sizes: Array, rows: Array) -> int:
    longest = 0
    for j in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[j + 1] - offsets[j])
    starts = np.empty((5, longest + 1), np.int64)
    ends = np.empty((5, longest), np.int64)
    sums = np.empty((2, longest), np.int64)
    found = 0
    for j in range(offsets.shape[0] - 1):
        size = offsets[j + 1] - offsets[j]
        step, length = steps[offsets[j] : offsets[j + 1]], lengths[offsets[j] : offsets[j + 1]]
        used = _starts(step, length, starts[0], starts[1], starts[2], starts[3], starts[4], sums[0], sums[1])
        begin = _ends(step, length, ends[0, :size], ends[1, :size], ends[2, :size], ends[3, :size], ends[4, :size],
                      sums[0], sums[1])
        room = max(0, rows.shape[0] - found)
        sizes[j] = _paired(
            starts[0], starts[1], starts[2], starts[3], starts[4], used,
            ends[0, :size], ends[1, :size], ends[2, :size], ends[3, :size], ends[4, :size], begin,
            rows[rows.shape[0] - room :], room)
        found += sizes[j]
    return found


def maximal_runs(offsets: Array, lengths: Array, probs: Floats, threshold: int) -> tuple[Array, Array]:
    """PIEC over streams of stretches: stream j has the stretches `offsets[j] .. offsets[j+1]`, each of some points of
    one probability. Gives how many intervals each stream has, and rows of start, end and the sum of (probability -
    threshold) in two words. `threshold` is in units of 10^-15. Cost: stretches and intervals, not points.

    >>> probs, lengths = np.array([0.9, 0.4]), np.array([1_000_000, 8_000_000])
    >>> sizes, rows = maximal_runs(np.array([0, 2]), lengths, probs, 500_000_000_000_000)
    >>> rows[:, :2].tolist()
    [[0, 5000000]]
    """
    check_array("offsets", offsets)
    check_array("lengths", lengths)
    check_same_length("probs", probs, "lengths", lengths.shape[0])
    steps = np.rint(probs * 1e15).astype(np.int64) - threshold
    sizes = np.zeros(offsets.shape[0] - 1, np.int64)
    rows = np.empty((lengths.shape[0], 4), np.int64)
    found = _all_streams(offsets, steps, lengths, sizes, rows)
    if found > rows.shape[0]:
        rows = np.empty((found, 4), np.int64)
        _all_streams(offsets, steps, lengths, sizes, rows)
    return sizes, rows[:found]
