"""From initiations and breaks to maximal intervals, by the law of inertia; not for delayed effects (see deadlines).

The maximal intervals of simple fluents in RTEC (Artikis, Sergot and Paliouras, "An event calculus for event
recognition", TKDE 2015), for all fluents of a kind in one scan; several values as its `broken` has them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from eventide.errors import ArrayError
from eventide.kernels.arrays import (
    ONE,
    ZERO,
    Array,
    Intervals,
    check_array,
    check_points,
    check_same_length,
    jit,
    time_mask,
    trim,
    trimmed,
)

Codes = npt.NDArray[np.uint32]

INITIATED = 1
BROKEN = 2
TIES = ("termination", "initiation")
_MASKED_VALUES = 62  # as many values as the masks of `_scan_masks` can hold


# ---------------------------------------------------------------- checks shared with deadlines


def check_clock(shift: int, tick: int) -> None:
    """Raise ArrayError unless `shift` leaves room for keys and times, and the tick is positive."""
    time_mask(shift)
    if tick < 1:
        raise ArrayError("tick", f"expected a positive number, got {tick}")


def check_ties(ties: str) -> None:
    """Raise ArrayError unless `ties` names a tie rule."""
    if ties not in TIES:
        raise ArrayError("ties", f"expected one of {', '.join(TIES)}, got {ties!r}")


@jit
def _first_late(points: Array, mask: int, tick: int) -> int:
    for i in range(points.shape[0]):
        if (points[i] & mask) + tick >= mask:
            return i
    return -1


def check_room(name: str, points: Array, shift: int, tick: int) -> None:
    """Raise ArrayError if one tick after a point would reach the cell that means "open"."""
    bad = _first_late(points, time_mask(shift), tick)
    if bad >= 0:
        raise ArrayError(name, "time leaves no room for a tick before the open end", int(bad))


def check_carried(name: str, carried: Array, points: Array, shift: int, several: bool) -> None:
    """Raise ArrayError unless carried starts are sorted, one per key (or `several`), none after its key's first row."""
    check_points(name, carried)
    if carried.shape[0] == 0:
        return
    keys = carried >> shift
    if not several:
        repeated = np.flatnonzero(keys[1:] == keys[:-1])
        if repeated.shape[0]:
            raise ArrayError(name, "repeated key", int(repeated[0]) + 1)
    first = np.searchsorted(points, keys << shift)
    late = np.flatnonzero(first < np.searchsorted(points, carried))
    if late.shape[0]:
        raise ArrayError(name, "starts after something happened to its key", int(late[0]))


# ---------------------------------------------------------------- tagging

_SHORT = 8  # a list this many times shorter is inserted rather than merged


@jit
def _merge_tagged(a, a_codes, a_step, b, b_codes, b_step, points, codes):  # type: ignore[no-untyped-def]
    """Merge two sorted lists; a step of 0 reads one code for the whole list. The current point stays in registers."""
    n, m = np.uintp(a.shape[0]), np.uintp(b.shape[0])
    i, j, o = ZERO, ZERO, ZERO
    last, code = np.int64(-1), np.uint32(0)
    while i < n and j < m:
        x, y = a[i], b[j]
        from_a, from_b = x <= y, y <= x
        point = x if from_a else y
        a_code, b_code = a_codes[i * a_step], b_codes[j * b_step]  # loaded before chosen: a choice, not a branch
        add = (a_code if from_a else np.uint32(0)) | (b_code if from_b else np.uint32(0))
        points[o], codes[o] = last, code
        fresh = point != last
        o += np.uintp(fresh & (last >= 0))
        code = add | (np.uint32(0) if fresh else code)
        last = point
        i += np.uintp(from_a)
        j += np.uintp(from_b)
    while i < n:
        points[o], codes[o] = last, code
        fresh = a[i] != last
        o += np.uintp(fresh & (last >= 0))
        code = a_codes[i * a_step] | (np.uint32(0) if fresh else code)
        last = a[i]
        i += ONE
    while j < m:
        points[o], codes[o] = last, code
        fresh = b[j] != last
        o += np.uintp(fresh & (last >= 0))
        code = b_codes[j * b_step] | (np.uint32(0) if fresh else code)
        last = b[j]
        j += ONE
    if last >= 0:
        points[o], codes[o] = last, code
        o += ONE
    return o


def _check_tags(tags: Sequence[int], lists: int) -> None:
    if len(tags) != lists:
        raise ArrayError("tags", f"has {len(tags)} elements, lists has {lists}", min(len(tags), lists))
    for index, code in enumerate(tags):
        if not 0 <= code < 1 << 32:
            raise ArrayError("tags", f"expected 32 bits, got {code}", index)


def tag(lists: Sequence[Array], tags: Sequence[int], *, trusted: bool = False) -> tuple[Array, Codes]:
    """Merge sorted point lists into distinct points; a point's code is the OR of the tags of the lists it is in.

    Duplicates within a list are fine. Cost: O(n log k) for k lists, one merge per pair of lists.

    >>> points, codes = tag([np.array([3, 5]), np.array([5, 9])], [INITIATED, BROKEN])
    >>> points.tolist(), codes.tolist()
    ([3, 5, 9], [1, 3, 2])
    """
    _check_tags(tags, len(lists))
    pieces: list[tuple[Array, Codes]] = []
    for index, (points, code) in enumerate(zip(lists, tags, strict=True)):
        check_points(f"lists[{index}]", points, trusted=trusted)
        pieces.append((points, np.array([code], np.uint32)))
    nothing = (np.empty(0, np.int64), np.zeros(1, np.uint32))
    pieces = pieces or [nothing]
    raw = True  # in the first round a list has one code, afterwards one per point
    while raw or len(pieces) > 1:
        if len(pieces) % 2:
            pieces.append(nothing)
        pieces = [_merged(pieces[k], pieces[k + 1]) for k in range(0, len(pieces), 2)]
        raw = False
    return pieces[0]


def merge_tagged(pieces: Sequence[tuple[Array, Codes]], *, trusted: bool = False) -> tuple[Array, Codes]:
    """Merge lists of distinct points with a code each into one; equal points are one, with the OR of their codes.

    The lists must be sorted. Cost: O(n log k) for k lists; a list that is 8 times shorter is inserted, O(m log n).

    >>> a, b = (np.array([3, 5]), np.array([1, 2], np.uint32)), (np.array([5]), np.array([4], np.uint32))
    >>> points, codes = merge_tagged([a, b])
    >>> points.tolist(), codes.tolist()
    ([3, 5], [1, 6])
    """
    for index, (points, codes) in enumerate(pieces):
        check_points(f"pieces[{index}] points", points, distinct=True, trusted=trusted)
        check_array(f"pieces[{index}] codes", codes, np.uint32)
        check_same_length(f"pieces[{index}] codes", codes, "points", points.shape[0])
    parts = list(pieces) or [(np.empty(0, np.int64), np.empty(0, np.uint32))]
    while len(parts) > 1:
        pairs = [_merged(parts[k], parts[k + 1]) for k in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[len(parts) - len(parts) % 2:]
    return parts[0]


@jit
def _mark(codes, rows, code):  # type: ignore[no-untyped-def]
    for i in range(np.uintp(rows.shape[0])):
        codes[np.uintp(rows[i])] |= code


@jit
def _marked(points, codes, out_points, out_codes):  # type: ignore[no-untyped-def]
    o = ZERO
    for i in range(np.uintp(points.shape[0])):
        out_points[o], out_codes[o] = points[i], codes[i]
        o += np.uintp(codes[i] != 0)
    return o


def tag_rows(
    points: Array, lists: Sequence[Array | None], tags: Sequence[int], *, trusted: bool = False
) -> tuple[Array, Codes]:
    """Like `tag` for lists that are rows of one table: `points[rows]` for every `rows` in `lists` (None: all of them).

    The table's points must be sorted and distinct; rows may come in any order. Cost: O(n) for the table and each list.

    >>> points, codes = tag_rows(np.array([3, 5, 9]), [np.array([0, 1]), np.array([1])], [INITIATED, BROKEN])
    >>> points.tolist(), codes.tolist()
    ([3, 5], [1, 3])
    """
    check_points("points", points, distinct=True, trusted=trusted)
    _check_tags(tags, len(lists))
    codes = np.zeros(points.shape[0], np.uint32)
    for index, (rows, code) in enumerate(zip(lists, tags, strict=True)):
        if rows is None:
            codes |= np.uint32(code)
            continue
        check_array(f"lists[{index}]", rows)
        if not trusted:
            _check_rows(f"lists[{index}]", rows, points.shape[0])
        _mark(codes, rows, np.uint32(code))
    out_points, out_codes = np.empty(points.shape[0] + 1, np.int64), np.empty(points.shape[0] + 1, np.uint32)
    used = int(_marked(points, codes, out_points, out_codes))
    return trim(out_points, used), trim(out_codes, used)


@jit
def _insert(a, a_codes, b, b_codes, points, codes):  # type: ignore[no-untyped-def]
    """Merge a short list of distinct points into a long one: the stretches between are copied, not compared."""
    n, i, o = np.uintp(a.shape[0]), ZERO, ZERO
    for j in range(np.uintp(b.shape[0])):
        y, step = b[j], ONE
        while i + step < n and a[i + step] < y:
            step += step
        low, high = i + step // np.uintp(2), min(i + step, n)
        if low >= n or step == ONE:
            low = i
        while low < high:
            middle = (low + high) // np.uintp(2)
            if a[middle] < y:
                low = middle + ONE
            else:
                high = middle
        for k in range(i, low):
            points[o], codes[o] = a[k], a_codes[k]
            o += ONE
        i = low
        points[o], codes[o] = y, b_codes[j]
        if i < n and a[i] == y:
            codes[o] |= a_codes[i]
            i += ONE
        o += ONE
    for k in range(i, n):
        points[o], codes[o] = a[k], a_codes[k]
        o += ONE
    return o


def _merged(a: tuple[Array, Codes], b: tuple[Array, Codes]) -> tuple[Array, Codes]:
    size = a[0].shape[0] + b[0].shape[0] + 1
    points, codes = np.empty(size, np.int64), np.empty(size, np.uint32)
    short, long = sorted((a, b), key=lambda piece: piece[0].shape[0])
    if _SHORT * short[0].shape[0] < long[0].shape[0] == long[1].shape[0] and len(short[0]) == len(short[1]):
        used = int(_insert(*long, *short, points, codes))
        return trim(points, used), trim(codes, used)
    steps = [np.uintp(p.shape[0] == c.shape[0]) for p, c in (a, b)]
    used = int(_merge_tagged(a[0], a[1], steps[0], b[0], b[1], steps[1], points, codes))
    return trim(points, used), trim(codes, used)


# ---------------------------------------------------------------- one value


@jit
def _scan(points, codes, mask, tick, survives, carried, starts, ends):  # type: ignore[no-untyped-def]
    n, m = np.uintp(points.shape[0]), np.uintp(carried.shape[0])
    i, c, o = ZERO, ZERO, ZERO
    limit, start, holds = np.int64(-1), np.int64(0), np.int64(0)
    while i < n:
        point = points[i]
        if point > limit:  # the first row of the next key
            if holds != 0:
                starts[o], ends[o] = start, limit
                o += ONE
                holds = np.int64(0)
            limit = point | mask
            while c < m and carried[c] <= limit:
                start = carried[c]
                c += ONE
                if start | mask == limit:
                    holds = np.int64(1)
                else:
                    starts[o], ends[o] = start, start | mask
                    o += ONE
        code = np.int64(codes[i])
        change = point + tick
        unbroken = ((code >> 1) & 1) ^ 1
        after = (code & (unbroken | survives) & 1) | (holds & unbroken)
        start = start if holds != 0 else change
        starts[o], ends[o] = start, change
        o += np.uintp(holds & (after ^ 1))
        holds = after
        i += ONE
    if holds != 0:
        starts[o], ends[o] = start, limit
        o += ONE
    while c < m:
        starts[o], ends[o] = carried[c], carried[c] | mask
        o += ONE
        c += ONE
    return o


def inertia(
    points: Array,
    codes: Codes,
    shift: int,
    tick: int = 1,
    ties: str = "termination",
    carried: Array | None = None,
    *,
    trusted: bool = False,
) -> Intervals:
    """The maximal intervals of one fluent-value pair per key, from tagged distinct points (RTEC's holdsFor).

    Bit 0 of a code: initiated at T, holds from T+tick. Bit 1: broken at T, T is the last point of holding. An interval
    that nothing breaks ends in `key|mask`. Both bits at T: with ties "termination" it does not begin, and ends if
    holding; with "initiation" the initiation survives. `carried` are the starts `key|start` of intervals that hold
    on entry, at most one per key. Cost: O(n), one pass.

    >>> found = inertia(np.array([5, 7, 10]), np.array([1, 1, 2], np.uint32), 8)
    >>> found.starts.tolist(), found.ends.tolist()
    ([6], [11])
    """
    check_clock(shift, tick)
    check_ties(ties)
    check_points("points", points, distinct=True, trusted=trusted)
    check_array("codes", codes, np.uint32)
    check_same_length("codes", codes, "points", points.shape[0])
    held = np.empty(0, np.int64) if carried is None else carried
    check_array("carried", held)
    if not trusted:
        check_room("points", points, shift, tick)
        check_carried("carried", held, points, shift, several=False)
    size = points.shape[0] + held.shape[0] + 1
    starts, ends = np.empty(size, np.int64), np.empty(size, np.int64)
    mask = np.int64(time_mask(shift))
    survives = np.int64(ties == "initiation")
    used = int(_scan(points, codes, mask, np.int64(tick), survives, held, starts, ends))
    return trimmed(starts, ends, used)


# ---------------------------------------------------------------- many values


@jit
def _scan_masks(points, codes, mask, tick, carried, carried_values, starts, ends, values):  # type: ignore[no-untyped-def]
    """Ties "termination", values below 62: the values initiated and terminated at a point are bit masks in registers.

    Also returns the largest code seen; the result means nothing if that is no value below 62.
    """
    n, m = np.uintp(points.shape[0]), np.uintp(carried.shape[0])
    i, c, o = ZERO, ZERO, ZERO
    limit, start, value, fresh, top = np.int64(-1), np.int64(0), np.int64(0), np.int64(0), np.int64(-1)
    held, begun, ended = np.int64(0), np.int64(0), np.int64(0)
    following = points[0] if n > 0 else np.int64(-1)
    while i < n:
        point = following
        code = codes[i]
        i += ONE
        following = points[i] if i < n else np.int64(-1)
        if point > limit:
            if held != 0:
                starts[o], ends[o], values[o] = start, limit, value
                o += ONE
                held = np.int64(0)
            limit = point | mask
            while c < m and carried[c] <= limit:
                start, value = carried[c], carried_values[c]
                c += ONE
                if start | mask == limit:
                    held = np.int64(1) << (value & 63)
                else:
                    starts[o], ends[o], values[o] = start, start | mask, value
                    o += ONE
        named = code >> 1
        bit = np.int64(1) << (named & 63)
        initiates = (code & 1) == 0
        begun |= bit if initiates else np.int64(0)
        ended |= np.int64(0) if initiates else (bit if code >= 0 else np.int64(-1))
        fresh = named if initiates else fresh
        top = max(top, code)
        last = (
            point != following
        )  # of its point: what the rows of a point do is applied once, by choices without branches
        change = point + tick
        after = (begun if begun != 0 else held) & ~ended
        after = after if begun & (begun - 1) == 0 else np.int64(0)
        after = after if last else held
        changed = after != held
        starts[o], ends[o], values[o] = start, change, value
        o += np.uintp(changed & (held != 0))
        start = change if changed else start
        value = fresh if changed else value
        held = after
        begun = np.int64(0) if last else begun
        ended = np.int64(0) if last else ended
    if held != 0:
        starts[o], ends[o], values[o] = start, limit, value
        o += ONE
    while c < m:
        starts[o], ends[o], values[o] = carried[c], carried[c] | mask, carried_values[c]
        o += ONE
        c += ONE
    return o, top


@jit
def _scan_sets(points, codes, mask, tick, survives, carried, carried_values, work, starts, ends, values):  # type: ignore[no-untyped-def]
    """Any number of values, both tie rules. An interval takes its place in the output when it begins.

    Rows of `work`, one column per value: place of the running interval or -1, last point at which it was initiated,
    last point at which it was terminated, list of running values, list of values initiated at the current point.
    """
    place, begun, ended, running, fresh = work[0], work[1], work[2], work[3], work[4]
    n, m = points.shape[0], carried.shape[0]
    i, c, o, alive = 0, 0, 0, 0
    limit = np.int64(-1)
    while i < n or c < m:
        point = points[i] if i < n else carried[c]
        if c < m and carried[c] < point:
            point = carried[c]
        if point > limit:  # the next key, with a row or carried in
            for r in range(alive):
                ends[place[running[r]]] = limit
                place[running[r]] = -1
            alive = 0
            limit = point | mask
        while c < m and carried[c] <= limit:
            value = carried_values[c]
            starts[o], values[o], place[value] = carried[c], value, o
            running[alive] = value
            alive += 1
            o += 1
            c += 1
        if i == n or points[i] > limit:
            continue
        point = points[i]
        count, everything = 0, False
        while i < n and points[i] == point:
            code = codes[i]
            i += 1
            if code < 0:
                everything = True
            elif code & 1:
                ended[code >> 1] = point
            elif begun[code >> 1] != point:
                value = code >> 1
                begun[value] = point
                at = count
                while at > 0 and fresh[at - 1] > value:
                    fresh[at] = fresh[at - 1]
                    at -= 1
                fresh[at] = value
                count += 1
        kept = 0
        for r in range(alive):
            value = running[r]
            again = begun[value] == point
            unbroken = (count == 0 or (again and count == 1)) and not everything and ended[value] != point
            if unbroken or (survives and again):
                running[kept] = value
                kept += 1
            else:
                ends[place[value]] = point + tick
                place[value] = -1
        alive = kept
        for r in range(count):
            value = fresh[r]
            begins = survives or (count == 1 and not everything and ended[value] != point)
            if begins and place[value] < 0:
                starts[o], values[o], place[value] = point + tick, value, o
                running[alive] = value
                alive += 1
                o += 1
    for r in range(alive):
        ends[place[running[r]]] = limit
    return o


def inertia_values(
    points: Array,
    codes: Array,
    shift: int,
    tick: int = 1,
    ties: str = "termination",
    carried: Array | None = None,
    carried_values: Array | None = None,
    *,
    trusted: bool = False,
) -> tuple[Array, Array, Array]:
    """The maximal intervals of a fluent with several values, as (starts, ends, values) ordered by key, start, value.

    Several rows may share a point, in any order. A code is 2*value (initiated), 2*value+1 (terminated) or -1 (every
    value terminated). Initiating a value breaks the others, even when it does not begin itself because it is
    terminated at that point. Ties "termination": two values initiated together: neither holds after. "initiation": an
    initiated value holds whatever terminates or breaks it, so several may hold at once (and be carried in).
    Cost: O(n), one pass; a slower path serves ties "initiation" and more than 62 values.

    >>> starts, ends, values = inertia_values(np.array([5, 10]), np.array([2 * 0, 2 * 1]), 8)
    >>> starts.tolist(), ends.tolist(), values.tolist()
    ([6, 11], [11, 255], [0, 1])
    """
    check_clock(shift, tick)
    check_ties(ties)
    check_points("points", points, trusted=trusted)
    check_array("codes", codes)
    check_same_length("codes", codes, "points", points.shape[0])
    held = np.empty(0, np.int64) if carried is None else carried
    held_values = np.empty(0, np.int64) if carried_values is None else carried_values
    check_array("carried", held)
    check_array("carried_values", held_values)
    check_same_length("carried_values", held_values, "carried", held.shape[0])
    if not trusted:
        check_room("points", points, shift, tick)
        check_carried("carried", held, points, shift, several=ties == "initiation")
        _check_least("codes", codes, -1)
        _check_least("carried_values", held_values, 0)
        _check_carried_values(held, held_values, shift)
    size = points.shape[0] + held.shape[0] + 1
    starts, ends, values = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    mask = np.int64(time_mask(shift))
    if ties == "termination" and (held.shape[0] == 0 or int(held_values.max()) < _MASKED_VALUES):
        used, top = _scan_masks(points, codes, mask, np.int64(tick), held, held_values, starts, ends, values)
        if top < 2 * _MASKED_VALUES:
            return trim(starts, int(used)), trim(ends, int(used)), trim(values, int(used))
    small, small_held, names = _compact(codes, held_values)
    work = np.full((5, names.shape[0]), -1, np.int64)
    used = int(
        _scan_sets(
            points, small, mask, np.int64(tick), ties == "initiation", held, small_held, work, starts, ends, values
        )
    )
    return trim(starts, used), trim(ends, used), names[values[:used]]


def _compact(codes: Array, held_values: Array) -> tuple[Array, Array, Array]:
    """The same codes and carried values over 0, 1, ... in the same order, and what each number stood for."""
    named = codes >= 0
    names, place = np.unique(np.concatenate((codes[named] >> 1, held_values)), return_inverse=True)
    small = np.full(codes.shape[0], -1, np.int64)
    count = place.shape[0] - held_values.shape[0]
    small[named] = 2 * place[:count] + (codes[named] & 1)
    return small, np.ascontiguousarray(place[count:], np.int64), names


def _check_rows(name: str, rows: Array, stop: int) -> None:
    outside = (rows < 0) | (rows >= stop)
    if outside.any():
        raise ArrayError(name, f"no row of 0 to {stop - 1}", int(np.argmax(outside)))


def _check_least(name: str, array: Array, least: int) -> None:
    if array.shape[0] and int(array.min()) < least:
        raise ArrayError(name, f"below {least}", int(np.argmax(array < least)))


def _check_carried_values(carried: Array, values: Array, shift: int) -> None:
    order = np.lexsort((values, carried >> shift))
    same = (np.diff(values[order]) == 0) & (np.diff(carried[order] >> shift) == 0)
    if same.any():
        raise ArrayError("carried_values", "value carried twice for one key", int(order[1:][same].min()))
