"""Allen relations between two interval lists of the same keys; not for joins between keys and not for windows.

Definitions (i=[s1,e1) of the source, j=[s2,e2) of the target, an open end exceeds every number and equals itself):
before e1 <= s2; meets e1-tick = s2, s1 < s2, e1 not open; starts s1 = s2, e1 < e2; finishes s1 > s2, e1 = e2;
during s1 > s2, e1 < e2; overlaps s1 < s2 < e1-tick, e1 < e2; equal s1 = s2, e1 = e2. The algorithms are those of RTEC_A
(Mantenoglou's thesis, Athens 2024).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from eventide.errors import ArrayError
from eventide.kernels.arrays import ONE, ZERO, Array, Intervals, check_intervals, jit, time_mask, trim
from eventide.kernels.intervals import difference, intersect, union

Flags = npt.NDArray[np.uint8]

RELATIONS = ("before", "meets", "starts", "finishes", "during", "overlaps", "equal")
MODES = ("source", "target", "union", "intersection", "relative_complement", "relative_complement_inverse")


@jit
def _sweep(s_starts, s_ends, t_starts, t_ends, mask, tick, s_flags, t_flags):  # type: ignore[no-untyped-def]
    """A merge by ends: it meets every pair that shares a point. Flags of the current two stay in registers."""
    n, m = np.uintp(s_starts.shape[0]), np.uintp(t_starts.shape[0])
    i, j = ZERO, ZERO
    source_flags, target_flags = np.int64(0), np.int64(0)
    passed = np.int64(-1)  # end of the last source left behind
    while i < n and j < m:
        s1, e1, s2, e2 = s_starts[i], s_ends[i], t_starts[j], t_ends[j]
        ahead = t_starts[min(j + ONE, m - ONE)]
        last = e1 - tick
        key_end = e1 | mask
        less_start, same_start, more_start = np.int64(s1 < s2), np.int64(s1 == s2), np.int64(s1 > s2)
        less_end, same_end = np.int64(e1 < e2), np.int64(e1 == e2)
        pair = (less_start & np.int64(last == s2) & np.int64(e1 != key_end)) << 1
        pair |= (same_start & less_end) << 2
        pair |= (more_start & same_end) << 3
        pair |= (more_start & less_end) << 4
        pair |= (less_start & less_end & np.int64(last > s2)) << 5
        pair |= (same_start & same_end) << 6
        source_flags |= pair | np.int64(((s2 >= e1) & (s2 <= key_end)) | ((ahead >= e1) & (ahead <= key_end)))
        target_flags |= pair | np.int64((passed <= s2) & (passed | mask == s2 | mask))
        s_flags[i], t_flags[j] = source_flags, target_flags
        source_done, target_done = e1 <= e2, e2 <= e1
        source_flags = np.int64(0) if source_done else source_flags
        target_flags = np.int64(0) if target_done else target_flags
        passed = e1 if source_done else passed
        i += np.uintp(source_done)
        j += np.uintp(target_done)
    if i < n:
        s_flags[i] = source_flags
        i += ONE
    while i < n:
        s_flags[i] = 0
        i += ONE
    while j < m:
        s2 = t_starts[j]
        t_flags[j] = target_flags | np.int64((passed <= s2) & (passed | mask == s2 | mask))
        target_flags = np.int64(0)
        j += ONE


@jit
def _one_to_one(relation, s_starts, s_ends, t_starts, t_ends, mask, tick, index, low):  # type: ignore[no-untyped-def]
    """Every relation but before: a source has at most one target."""
    n, m = np.uintp(s_starts.shape[0]), np.uintp(t_starts.shape[0])
    i, j, o = ZERO, ZERO, ZERO
    while i < n and j < m:
        s1, e1, s2, e2 = s_starts[i], s_ends[i], t_starts[j], t_ends[j]
        last = e1 - tick
        if relation == 1:
            hit = (s1 < s2) & (last == s2) & (e1 & mask != mask)
        elif relation == 2:
            hit = (s1 == s2) & (e1 < e2)
        elif relation == 3:
            hit = (s1 > s2) & (e1 == e2)
        elif relation == 4:
            hit = (s1 > s2) & (e1 < e2)
        elif relation == 5:
            hit = (s1 < s2) & (last > s2) & (e1 < e2)
        else:
            hit = (s1 == s2) & (e1 == e2)
        index[o], low[o] = np.int64(i), np.int64(j)
        o += np.uintp(hit)
        i += np.uintp(e1 <= e2)
        j += np.uintp(e2 <= e1)
    return o


@jit
def _before(s_ends, t_starts, mask, index, low, high):  # type: ignore[no-untyped-def]
    n, m = np.uintp(s_ends.shape[0]), np.uintp(t_starts.shape[0])
    j, stop, o = ZERO, ZERO, ZERO
    for i in range(n):
        end = s_ends[i]
        while j < m and t_starts[j] < end:
            j += ONE
        stop = max(stop, j)
        while stop < m and t_starts[stop] <= end | mask:
            stop += ONE
        index[o], low[o], high[o] = np.int64(i), np.int64(j), np.int64(stop)
        o += np.uintp(stop > j)
    return o


def _check(source: Intervals, target: Intervals, shift: int, tick: int, trusted: bool) -> np.int64:
    if tick < 1:
        raise ArrayError("tick", f"expected a positive number, got {tick}")
    check_intervals("source", source, trusted=trusted)
    check_intervals("target", target, trusted=trusted)
    return np.int64(time_mask(shift))


def _number(relation: str) -> int:
    if relation not in RELATIONS:
        raise ArrayError("relation", f"expected one of {', '.join(RELATIONS)}, got {relation!r}")
    return RELATIONS.index(relation)


def allen_sweep(
    source: Intervals, target: Intervals, shift: int, tick: int = 1, *, trusted: bool = False
) -> tuple[Flags, Flags]:
    """For each source and each target interval, in which relations it takes part: bit r is RELATIONS[r].

    All seven relations in one pass, O(n + m) (RTEC_A's compute_allen_relation, Algorithm 8, for all at once).

    >>> i, j = Intervals(np.array([2]), np.array([6])), Intervals(np.array([5, 9]), np.array([8, 11]))
    >>> [flags.tolist() for flags in allen_sweep(i, j, 8)]
    [[3], [2, 1]]
    """
    mask = _check(source, target, shift, tick, trusted)
    source_flags, target_flags = np.empty(len(source), np.uint8), np.empty(len(target), np.uint8)
    _sweep(source.starts, source.ends, target.starts, target.ends, mask, np.int64(tick), source_flags, target_flags)
    return source_flags, target_flags


def allen_pairs(
    relation: str, source: Intervals, target: Intervals, shift: int, tick: int = 1, *, trusted: bool = False
) -> tuple[Array, Array, Array]:
    """The pairs of a relation as (source_index, target_low, target_high): source i with targets low ... high-1.

    Compact: "before" gives one range per source, never all pairs; the others have one target at most. Only sources that
    have a target appear. Cost: O(n + m), one pass (Algorithm 8 of RTEC_A).

    >>> i, j = Intervals(np.array([2]), np.array([6])), Intervals(np.array([5, 9, 12]), np.array([8, 11, 13]))
    >>> [part.tolist() for part in allen_pairs("before", i, j, 8)]
    [[0], [1], [3]]
    """
    number = _number(relation)
    mask = _check(source, target, shift, tick, trusted)
    size = len(source) + 1
    index, low = np.empty(size, np.int64), np.empty(size, np.int64)
    if number == 0:
        high = np.empty(size, np.int64)
        used = int(_before(source.ends, target.starts, mask, index, low, high))
        return trim(index, used), trim(low, used), trim(high, used)
    used = int(
        _one_to_one(number, source.starts, source.ends, target.starts, target.ends, mask, np.int64(tick), index, low)
    )
    low = trim(low, used)
    return trim(index, used), low, low + 1


def _select(a: Intervals, flags: Flags, number: int) -> Intervals:
    chosen = (flags & np.uint8(1 << number)) != 0
    return Intervals(a.starts[chosen], a.ends[chosen])


def allen(
    relation: str,
    mode: str,
    source: Intervals,
    target: Intervals,
    shift: int,
    tick: int = 1,
    *,
    trusted: bool = False,
) -> Intervals:
    """What a relation makes of two lists (RTEC_A's `allen` construct, Algorithm 7).

    With S' and T' the sources and targets in some pair of the relation: "source" gives S', "target" T', "union" and
    "intersection" those of their points, "relative_complement" S' minus T', "relative_complement_inverse" T' minus S'.
    Cost: O(n + m), one sweep and one merge.

    >>> i, j = Intervals(np.array([2]), np.array([6])), Intervals(np.array([5]), np.array([8]))
    >>> found = allen("meets", "union", i, j, 8)
    >>> found.starts.tolist(), found.ends.tolist()
    ([2], [8])
    """
    number = _number(relation)
    if mode not in MODES:
        raise ArrayError("mode", f"expected one of {', '.join(MODES)}, got {mode!r}")
    source_flags, target_flags = allen_sweep(source, target, shift, tick, trusted=trusted)
    if mode == "source":
        return _select(source, source_flags, number)
    if mode == "target":
        return _select(target, target_flags, number)
    ours, theirs = _select(source, source_flags, number), _select(target, target_flags, number)
    if mode == "union":
        return union(ours, theirs, trusted=True)
    if mode == "intersection":
        return intersect(ours, theirs, trusted=True)
    if mode == "relative_complement":
        return difference(ours, theirs, trusted=True)
    return difference(theirs, ours, trusted=True)
