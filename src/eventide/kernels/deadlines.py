"""Delayed effects: one fluent as a timed automaton over table columns, with deadlines; not for plain inertia.

Mantenoglou's thesis (Athens 2024) evaluates the future initiations of RTEC→ value by value (processCDComponent, evalFI,
findAttempt and computeAttempts: Algorithms 3 to 6). Here that is one scan per key in time order, where cycles
(initiatedAtCyclic, Algorithm 13) need nothing special.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.errors import ArrayError
from eventide.kernels.arrays import ONE, ZERO, Array, check_array, check_points, check_same_length, jit, time_mask, trim
from eventide.kernels.inertia import check_carried, check_clock, check_room, check_ties

MAX_VALUES = 62
MAX_SHIFT = 61

NEVER = np.int64(2**63 - 1)
FAR = np.int64(2**62)  # the delay of a rule that a key does not have: beyond the sum of a time and any true delay
TWO, THREE = np.uintp(2), np.uintp(3)
WORD_ENDS, WORD_VALUE, WORD_RULES = np.uintp(1), np.uintp(2), np.uintp(4)


@dataclass(frozen=True, slots=True, eq=False)
class AutomatonResult:
    """What `automaton` found.

    `starts`, `ends`, `values`: the maximal intervals, ordered by key, start, value. `fired_points`, `fired_values`:
    what deadlines initiated, and when. `pending_points`, `pending_rules`: the firing points of deadlines still running
    after `until`, ordered by point and rule; hand them to the next run.
    """

    starts: Array
    ends: Array
    values: Array
    fired_points: Array
    fired_values: Array
    pending_points: Array
    pending_rules: Array


# The table of the walk, one block of words per state and code, found at `place + code * stride`, where `place` stands
# for the state (0 none). The words: place of the next state, 1 if that ends an interval, the value that holds, nothing;
# then for every rule two masks, whose bits push a time beyond all times: one cancels what is running, one does not arm.
# So a deadline moves by `due = min(due | cancels, time + delay | does not arm)`. A lone deadline is looked up as well:
# column `fires + target` initiates its target and nothing else.


@jit
def _walk_two(  # type: ignore[no-untyped-def]
    points, codes, table, fires, targets, i, o, f, room, fired_room, base, limit, tick, until,
    place, start, first, second, delays, starts, ends, values, fired_points, fired_values,
):  # fmt: skip
    """As `_walk_many`, for at most two rules: their deadlines stay in registers."""
    n, stride, both = np.uintp(points.shape[0]), np.uintp(8), targets.shape[0] > 1
    first_delay, second_delay = delays[0], delays[1]
    time = points[i] - base if i < n and points[i] <= limit else NEVER  # of the next row
    while True:
        soonest = min(first, second)
        if time < soonest:
            now, code = time, np.uintp(codes[i])
            i += ONE
            time = points[i] - base if i < n and points[i] <= limit else NEVER
        elif soonest < time and soonest <= until and first != second:
            if o + (n - i) > room or f > fired_room:
                break
            now, target = soonest, targets[0] if first < second else targets[1]
            code = fires + np.uintp(target)
            fired_points[f], fired_values[f] = base + now, target
            f += ONE
            first, second = (NEVER, second) if first < second else (first, NEVER)
        else:
            break
        at = place + code * stride
        change = base + tick + now
        after = np.uintp(table[at])
        starts[o], ends[o], values[o] = start, change, table[at + WORD_VALUE]
        o += np.uintp(table[at + WORD_ENDS])
        start ^= (start ^ change) & -np.int64(after != place)
        place = after
        first = min(first | table[at + WORD_RULES], (now + first_delay) | table[at + WORD_RULES + ONE])
        if both:
            second = min(second | table[at + WORD_RULES + TWO], (now + second_delay) | table[at + WORD_RULES + THREE])
    return i, o, f, place, start, first, second


@jit
def _walk_many(  # type: ignore[no-untyped-def]
    points, codes, table, stride, fires, targets, i, o, f, room, fired_room, base, limit, tick, until,
    place, start, due, delays, starts, ends, values, fired_points, fired_values,
):  # fmt: skip
    """Walk on in one key while there is just one row or just one deadline at a time, and room in the buffers."""
    n, n_rules = np.uintp(points.shape[0]), np.uintp(targets.shape[0])
    time = points[i] - base if i < n and points[i] <= limit else NEVER  # of the next row
    while True:
        soonest, rule, together = NEVER, ZERO, False
        for k in range(n_rules):
            together = due[k] == soonest or (together and due[k] > soonest)
            rule = k if due[k] < soonest else rule
            soonest = min(soonest, due[k])
        if time < soonest:
            now, code = time, np.uintp(codes[i])
            i += ONE
            time = points[i] - base if i < n and points[i] <= limit else NEVER
        elif soonest < time and soonest <= until and not together:
            if o + (n - i) > room or f > fired_room:
                break
            now, target = soonest, targets[rule]
            code = fires + np.uintp(target)
            fired_points[f], fired_values[f] = base + now, target
            f += ONE
            due[rule] = NEVER
        else:
            break
        at = place + code * stride
        change = base + tick + now
        after = np.uintp(table[at])
        starts[o], ends[o], values[o] = start, change, table[at + WORD_VALUE]
        o += np.uintp(table[at + WORD_ENDS])
        start = change if after != place else start
        place = after
        for k in range(n_rules):
            word = at + WORD_RULES + k + k
            due[k] = min(due[k] | table[word], (now + delays[k]) | table[word + ONE])
    return i, o, f, place, start


@jit
def _run(  # type: ignore[no-untyped-def]
    points, codes, initiates, terminates, table, stride, fires, mask, tick, until,
    sources, targets, delays, postponable, survives, by_set, carried, carried_values, pending, pending_rules,
    work, progress, starts, ends, values, fired_points, fired_values, left_points, left_rules,
):  # fmt: skip
    """Key by key: walk, and work out from masks what the walk leaves: a deadline that is not alone at its time.

    With ties "initiation" everything is worked out here, and an interval takes its place in the output when it begins.
    Rows of `work`: the running deadline of each rule as a time, its delay for the current key, and (ties "initiation")
    the output index of each running interval. `progress`: rows, carried, pending, keys, intervals, fired and left so
    far. Returns False at a key's begin when a buffer is too small for it.
    """
    due, delay, index = work[0], work[1], work[2]
    n, n_carried, n_pending = np.uintp(points.shape[0]), np.uintp(carried.shape[0]), np.uintp(pending.shape[0])
    n_rules, n_values, columns = np.uintp(sources.shape[0]), np.uintp(work.shape[1]), np.uintp(delays.shape[1])
    n_codes = np.uintp(initiates.shape[1])
    # a step adds at most one interval per value and fires at most every rule
    room, fired_room = np.uintp(starts.shape[0]) - n_values, np.uintp(fired_points.shape[0]) - n_values
    left_room = np.uintp(left_points.shape[0]) - n_values
    i, c, p, key = np.uintp(progress[0]), np.uintp(progress[1]), np.uintp(progress[2]), np.uintp(progress[3])
    o, f, left = np.uintp(progress[4]), np.uintp(progress[5]), np.uintp(progress[6])
    bit = np.int64(1)
    while i < n or c < n_carried or p < n_pending:
        progress[0], progress[1], progress[2], progress[3] = i, c, p, key
        progress[4], progress[5], progress[6] = o, f, left
        if left > left_room or o + (n - i) > room:
            return False
        # the next key: of a row, or only carried in, or only pending
        limit = points[i] | mask if i < n else np.int64(-1)
        if c < n_carried and (limit < 0 or carried[c] | mask < limit):
            limit = carried[c] | mask
        if p < n_pending and (limit < 0 or pending[p] | mask < limit):
            limit = pending[p] | mask
        base = limit - mask
        due[:] = NEVER
        held, start, state = np.int64(0), np.int64(0), ZERO
        while c < n_carried and carried[c] <= limit:
            start, value = carried[c], carried_values[c]
            state = np.uintp(value + 1)
            held |= bit << value
            if survives:
                starts[o], values[o], index[value] = start, value, o
                o += ONE
            c += ONE
        if (p < n_pending and pending[p] <= limit) or (i < n and points[i] <= limit):  # a key with a column of delays
            column = key if columns > ONE else ZERO
            for k in range(n_rules):
                given = delays[k, column]
                delay[k] = min(given, mask) if given > 0 else FAR
            key += ONE
        while p < n_pending and pending[p] <= limit:
            due[pending_rules[p]] = min(due[pending_rules[p]], pending[p] - base)
            p += ONE
        while True:
            if not survives:
                place = state * n_codes * stride
                if n_rules <= TWO:
                    i, o, f, place, start, due[0], due[1] = _walk_two(
                        points, codes, table, fires, targets, i, o, f, room, fired_room, base, limit, tick, until,
                        place, start, due[0], due[1], delay, starts, ends, values, fired_points, fired_values,
                    )  # fmt: skip
                else:
                    i, o, f, place, start = _walk_many(
                        points, codes, table, stride, fires, targets, i, o, f, room, fired_room, base, limit, tick,
                        until, place, start, due, delay, starts, ends, values, fired_points, fired_values,
                    )  # fmt: skip
                state = np.uintp(table[place + WORD_VALUE] + 1)
                held = bit << (np.int64(state) - 1) if state > ZERO else np.int64(0)
            time = points[i] - base if i < n and points[i] <= limit else NEVER
            now = time
            for k in range(n_rules):
                now = min(now, due[k])
            if now > until:
                break
            if o + (n - i) > room or f > fired_room:
                return False
            begun, ended, fired = np.int64(0), np.int64(0), np.int64(0)
            if time == now:
                code = np.uintp(codes[i])
                i += ONE
                if held == 0 or by_set:
                    begun, ended = initiates[np.uintp(held), code], terminates[np.uintp(held), code]
                for v in range(ZERO if by_set else n_values):
                    if (held >> np.int64(v)) & 1:
                        begun |= initiates[v + ONE, code]
                        ended |= terminates[v + ONE, code]
            for k in range(n_rules):
                if due[k] == now:
                    due[k] = NEVER
                    if not (postponable[k] and (begun >> sources[k]) & 1):
                        begun |= bit << targets[k]
                        fired |= bit << targets[k]
            change = base + now + tick
            if survives:
                after = begun if begun != 0 else held & ~ended
            elif begun & (begun - 1) != 0:
                after = np.int64(0)
            else:
                after = (begun if begun != 0 else held) & ~ended
            if after != held and not survives:
                if state > ZERO:
                    starts[o], ends[o], values[o] = start, change, np.int64(state) - 1
                    o += ONE
                start, state = change, ZERO
            for v in range(n_values):
                if (fired >> np.int64(v)) & 1:
                    fired_points[f], fired_values[f] = base + now, v
                    f += ONE
                holds = (after >> np.int64(v)) & 1
                if holds:
                    state = v + ONE
                if survives and holds != (held >> np.int64(v)) & 1:
                    if holds:
                        starts[o], values[o], index[v] = change, v, o
                        o += ONE
                    else:
                        ends[index[v]] = change
            held = after
            for k in range(n_rules):
                source = sources[k]
                again = (begun >> source) & 1
                if (ended >> source) & 1 or begun & ~(bit << source) != 0 or (again and postponable[k]):
                    due[k] = NEVER
                if again:
                    due[k] = min(due[k], now + delay[k])
        if survives:
            for v in range(n_values):
                if (held >> np.int64(v)) & 1:
                    ends[index[v]] = limit
        elif state > ZERO:
            starts[o], ends[o], values[o] = start, limit, np.int64(state) - 1
            o += ONE
        for k in range(n_rules):
            if due[k] < FAR:
                left_points[left], left_rules[left] = base + min(due[k], mask), k
                left += ONE
    progress[0], progress[1], progress[2], progress[3] = i, c, p, key
    progress[4], progress[5], progress[6] = o, f, left
    return True


def automaton(
    points: Array,
    codes: Array,
    initiates: npt.NDArray[np.int64],
    terminates: npt.NDArray[np.int64],
    shift: int,
    tick: int,
    until: int,
    sources: Sequence[int] | Array,
    targets: Sequence[int] | Array,
    delays: npt.NDArray[np.int64],
    postponable: Sequence[bool] | npt.NDArray[np.bool_],
    carried: tuple[Array, Array] | None = None,
    pending: tuple[Array, Array] | None = None,
    *,
    ties: str = "termination",
    values: int | None = None,
    trusted: bool = False,
) -> AutomatonResult:
    """The maximal intervals of a fluent whose rules depend on its own value, with delayed effects (`fi/3`, `p/1`).

    `points` are distinct; `codes` choose a column of `initiates` and `terminates`, bit masks of values of shape
    (values + 1, columns), whose row is the value at that point (0 none, v+1 value v). At most 62 values.

    Deadline rule k: `sources[k]` initiated at T, by a row or by a deadline, even if it does not begin, initiates
    `targets[k]` at T+delay unless in T+1 ... T+delay-1 the source is terminated or another value initiated.
    `postponable[k]`: nor if the source is initiated again in T+1 ... T+delay (that arms anew); otherwise further
    initiations do not move a running deadline. What deadlines and a row initiate at one point counts together.
    Deadlines fire at times up to `until`, with or without rows; the rest come back as pending. Of postponable deadlines
    due at one point, those that initiate the source of another one fire first.

    `delays` has shape (rules, 1), or (rules, keys) with a column for every distinct key of `points` and `pending`
    together, in order; a negative one means no deadline for that key. Delays are times, multiples of the tick.
    `carried`: (points `key|start`, values) of what holds on entry, sorted; it arms nothing. `pending`: (firing points,
    rules) of an earlier run, sorted by point.

    Ties "termination" as in `inertia_values`. With "initiation" an initiated value always holds; if several hold at
    once, the rows of all of them apply; or the tables have a row for each set of `values` values, and that of the set
    applies. Cost: O((points + firings) * (1 + rules)), one pass.

    >>> up = np.array([[1], [1], [1]])
    >>> found = automaton(np.array([5]), np.array([0]), up, up * 0, 8, 1, 30, [0], [1], np.array([[4]]), [False])
    >>> found.starts.tolist(), found.ends.tolist(), found.values.tolist()
    ([6, 10], [10, 255], [0, 1])
    """
    check_clock(shift, tick)
    if shift > MAX_SHIFT:
        raise ArrayError("shift", f"expected at most {MAX_SHIFT}, got {shift}")
    check_ties(ties)
    mask = time_mask(shift)
    initiates, terminates = _table("initiates", initiates), _table("terminates", terminates)
    if initiates.shape != terminates.shape:
        raise ArrayError("terminates", f"has shape {terminates.shape}, initiates has {initiates.shape}")
    by_set = values is not None and ties == "initiation" and initiates.shape[0] != values + 1
    n_values = values if by_set and values is not None else initiates.shape[0] - 1
    if by_set and initiates.shape[0] != 1 << n_values:
        raise ArrayError("initiates", f"expected a row for each set of {n_values} values, got {initiates.shape[0]}")
    if not 1 <= n_values <= MAX_VALUES:
        raise ArrayError("initiates", f"expected 1 to {MAX_VALUES} values, got {n_values}")
    source, target = _rules("sources", sources, n_values), _rules("targets", targets, n_values)
    check_same_length("targets", target, "sources", source.shape[0])
    if (source == target).any():
        raise ArrayError("targets", "same value as its source", int(np.argmax(source == target)))
    postpones = np.asarray(postponable, np.int64)
    check_same_length("postponable", postpones, "sources", source.shape[0])
    delays = _delays(delays, source.shape[0])
    check_points("points", points, distinct=True, trusted=trusted)
    check_array("codes", codes)
    check_same_length("codes", codes, "points", points.shape[0])
    held, held_values = _pair("carried", carried)
    waiting, waiting_rules = _pair("pending", pending)
    if not trusted:
        check_room("points", points, shift, tick)
        check_carried("carried", held, points, shift, several=ties == "initiation")
        check_points("pending", waiting)
        check_carried("carried", held, waiting, shift, several=ties == "initiation")
        _check_range("codes", codes, initiates.shape[1])
        _check_range("carried values", held_values, n_values)
        _check_range("pending rules", waiting_rules, source.shape[0])
        _check_range("initiates", initiates.ravel(), 1 << n_values)
        _check_range("terminates", terminates.ravel(), 1 << n_values)
        _check_until(points, until, mask)
        _check_delays(delays, tick, points, waiting, shift)

    order = _firing_order(source, target, postpones)
    source, target, postpones = source[order], target[order], postpones[order]
    rank = np.empty_like(order)
    rank[order] = np.arange(order.shape[0])
    fires = initiates.shape[1]
    initiates, terminates = _with_deadlines(initiates, terminates, n_values)
    table = _NO_WALK if by_set else _walk_table(initiates, terminates, source, postpones)
    n_rules = order.shape[0]
    work = np.zeros((3, max(n_values, n_rules, 2)), np.int64)
    progress = np.zeros(7, np.int64)
    spare = work.shape[1] + 1
    expected = points.shape[0] + held.shape[0] + waiting.shape[0]
    found = [np.empty(expected + spare, np.int64) for _ in range(3)]
    fired = [np.empty((expected if n_rules else 0) + spare, np.int64) for _ in range(2)]
    left = [np.empty((expected if n_rules else 0) + spare, np.int64) for _ in range(2)]
    while not _run(
        points, codes, initiates, terminates, table.ravel(), np.uintp(table.shape[2]), np.uintp(fires),
        np.int64(mask), np.int64(tick), np.int64(min(until, mask - tick - 1)),
        source, target, np.ascontiguousarray(delays[order]), postpones, ties == "initiation", by_set,
        held, held_values, waiting, rank[waiting_rules] if n_rules else waiting_rules,
        work, progress, *found, *fired, *left,
    ):  # fmt: skip
        counts = [int(count) for count in progress[4:]]
        found, fired, left = (_doubled(*grown) for grown in zip((found, fired, left), counts, strict=True))
    n_found, n_fired, n_left = (int(count) for count in progress[4:])
    left_points, left_rules = left[0][:n_left], order[left[1][:n_left]] if n_rules else left[1][:0]
    if n_rules > 1:
        by_point = np.lexsort((left_rules, left_points))
        left_points, left_rules = left_points[by_point], left_rules[by_point]
    return AutomatonResult(
        trim(found[0], n_found),
        trim(found[1], n_found),
        trim(found[2], n_found),
        trim(fired[0], n_fired),
        trim(fired[1], n_fired),
        left_points.copy(),
        left_rules,
    )


Table = npt.NDArray[np.int64]
_NO_WALK = np.zeros((1, 1, 8), np.int64)  # with ties "initiation" nothing is walked


def _with_deadlines(initiates: Table, terminates: Table, n_values: int) -> tuple[Table, Table]:
    """The tables with one more column per value, which initiates just that."""
    each = np.broadcast_to(np.int64(1) << np.arange(n_values), (initiates.shape[0], n_values))
    wide = np.hstack((initiates, each)), np.hstack((terminates, np.zeros_like(each)))
    return np.ascontiguousarray(wide[0]), np.ascontiguousarray(wide[1])  # one layout, one compilation


def _walk_table(initiates: Table, terminates: Table, sources: Array, postponable: Array) -> Table:
    """The table of the walk, shape (states, columns, words), under ties "termination"."""
    single = (initiates != 0) & (initiates & (initiates - 1) == 0)
    value = np.log2(np.where(single, initiates, 1)).astype(np.int64)
    begins = np.where(single & (terminates >> value & 1 == 0), value + 1, 0)
    state = np.arange(initiates.shape[0])[:, None]
    stays = np.where((state > 0) & (terminates >> np.maximum(state - 1, 0) & 1 == 0), state, 0)
    following = np.where(initiates == 0, stays, begins)
    n_rules = sources.shape[0]
    table = np.zeros((*initiates.shape, 4 + 2 * max(n_rules, 2)), np.int64)
    table[:, :, 0] = following * initiates.shape[1] * table.shape[2]
    table[:, :, WORD_ENDS] = (following != state) & (state > 0)
    table[:, :, WORD_VALUE] = state - 1
    begun, ended = initiates[:, :, None], terminates[:, :, None]
    again = (begun >> sources & 1) != 0
    broken = (ended >> sources & 1 != 0) | (begun & ~(np.int64(1) << sources) != 0)
    rules = table[:, :, 4 : 4 + 2 * n_rules]
    rules[:, :, 0::2] = np.where(broken | (again & (postponable != 0)), NEVER, 0)
    rules[:, :, 1::2] = np.where(again, 0, NEVER)
    table[:, :, 5 + 2 * n_rules :: 2] = NEVER  # rules that are not there never arm
    return table


def _doubled(buffers: list[Array], used: int) -> list[Array]:
    larger = [np.empty(2 * buffer.shape[0], np.int64) for buffer in buffers]
    for new, old in zip(larger, buffers, strict=True):
        new[:used] = old[:used]
    return larger


def _firing_order(sources: Array, targets: Array, postponable: Array) -> Array:
    """Rules in the order of firing at one point: unconditional ones, then each after those that may postpone it."""
    order = [k for k in range(sources.shape[0]) if not postponable[k]]
    seen = set(order)

    def visit(rule: int) -> None:
        if rule in seen:
            return
        seen.add(rule)
        for other in range(sources.shape[0]):
            if targets[other] == sources[rule]:
                visit(other)
        order.append(rule)

    for rule in range(sources.shape[0]):
        visit(rule)
    return np.array(order, np.int64)


# ---------------------------------------------------------------- checks


def _table(name: str, table: Any) -> npt.NDArray[np.int64]:
    if not isinstance(table, np.ndarray) or table.dtype != np.int64 or table.ndim != 2:
        raise ArrayError(name, "expected an int64 array of shape (values + 1, columns)")
    return np.ascontiguousarray(table)


def _rules(name: str, values: Any, n_values: int) -> Array:
    array = np.ascontiguousarray(values, np.int64)
    check_array(name, array)
    _check_range(name, array, n_values)
    return array


def _pair(name: str, pair: tuple[Array, Array] | None) -> tuple[Array, Array]:
    if pair is None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    first, second = pair
    check_array(name, first)
    check_array(f"{name} values" if name == "carried" else f"{name} rules", second)
    check_same_length(name, second, f"{name} points", first.shape[0])
    return first, second


def _check_range(name: str, array: Array, stop: int) -> None:
    if array.shape[0] and (int(array.min()) < 0 or int(array.max()) >= stop):
        raise ArrayError(name, f"not in 0 to {stop - 1}", int(np.argmax((array < 0) | (array >= stop))))


def _check_until(points: Array, until: int, mask: int) -> None:
    late = (points & mask) > until
    if late.any():
        raise ArrayError("points", f"later than until = {until}", int(np.argmax(late)))


def _delays(delays: Any, n_rules: int) -> npt.NDArray[np.int64]:
    if not isinstance(delays, np.ndarray) or delays.dtype != np.int64 or delays.ndim != 2:
        raise ArrayError("delays", "expected an int64 array of shape (rules, 1) or (rules, keys)")
    if delays.shape[0] != n_rules or delays.shape[1] == 0:
        raise ArrayError("delays", f"has shape {delays.shape}, sources has {n_rules} rules")
    return delays


def _check_delays(delays: npt.NDArray[np.int64], tick: int, points: Array, pending: Array, shift: int) -> None:
    wrong = (delays == 0) | ((delays > 0) & (delays % tick != 0))
    if wrong.any():
        raise ArrayError("delays", f"not a positive multiple of the tick {tick}", int(np.argmax(wrong)))
    if delays.shape[1] > 1:
        keys = np.unique(np.concatenate((points, pending)) >> shift).shape[0]
        if delays.shape[1] != keys:
            raise ArrayError("delays", f"has {delays.shape[1]} columns, points and pending have {keys} keys")
