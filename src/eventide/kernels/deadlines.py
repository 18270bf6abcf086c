"""Delayed effects: one fluent as a timed automaton over table columns, with deadlines; not for plain inertia.

This is the incremental evaluation of future initiations of RTEC→ (evalFI, findAttempt and computeAttempts: Algorithms 4
to 6) turned into one scan per key in time order, where cycles (Algorithm 13, initiatedAtCyclic) need nothing special.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.errors import ArrayError
from eventide.kernels.arrays import ONE, ZERO, Array, check_array, check_points, check_same_length, jit, trim
from eventide.kernels.inertia import check_carried, check_clock, check_room, check_ties

MAX_VALUES = 62


@dataclass(frozen=True, slots=True, eq=False)
class AutomatonResult:
    """What `automaton` found.

    `starts`, `ends`, `values`: the maximal intervals, ordered by key, start, value. `fired_points`, `fired_values`: what
    deadlines initiated, and when. `pending_points`, `pending_rules`: the firing points of deadlines still running after
    `until`, ordered by point and rule; hand them to the next run.
    """

    starts: Array
    ends: Array
    values: Array
    fired_points: Array
    fired_values: Array
    pending_points: Array
    pending_rules: Array


@jit
def _run(  # type: ignore[no-untyped-def]
    points,
    codes,
    initiates,
    terminates,
    only,
    width,
    mask,
    tick,
    until,
    sources,
    targets,
    delays,
    postponable,
    survives,
    carried,
    carried_values,
    pending,
    pending_rules,
    work,
    state,
    starts,
    ends,
    values,
    fired_points,
    fired_values,
    left_points,
    left_rules,
):
    """One step per time-point at which a row or a deadline stands. Stops at a key's begin when a buffer is too small.

    `only[row]` is the value initiated if it is just one. `work[0]` holds the running deadline of each rule as a time,
    `work[1]` its delay for the current key, `work[2]` the place in the output of each running interval (ties
    "initiation" only). `state` is where to go on: rows, carried, pending, key, intervals, fired and left so far.
    """
    never = mask + 1
    due, delay, place = work[0], work[1], work[2]
    n, n_carried, n_pending = np.uintp(points.shape[0]), np.uintp(carried.shape[0]), np.uintp(pending.shape[0])
    n_rules, n_values = np.uintp(sources.shape[0]), np.uintp(work.shape[1])
    columns = np.uintp(delays.shape[1])
    room, fired_room, left_room = np.uintp(starts.shape[0]), np.uintp(fired_points.shape[0]), np.uintp(left_points.shape[0])
    i, c, p, key = np.uintp(state[0]), np.uintp(state[1]), np.uintp(state[2]), np.uintp(state[3])
    o, f, left = np.uintp(state[4]), np.uintp(state[5]), np.uintp(state[6])
    bit = np.int64(1)
    while i < n or c < n_carried or p < n_pending:
        state[0], state[1], state[2], state[3] = i, c, p, key
        state[4], state[5], state[6] = o, f, left
        if left + n_rules > left_room or o + n_values > room:
            return False
        # the next key: of a row, or only carried in, or only pending
        limit = points[i] | mask if i < n else np.int64(-1)
        if c < n_carried and (limit < 0 or carried[c] | mask < limit):
            limit = carried[c] | mask
        if p < n_pending and (limit < 0 or pending[p] | mask < limit):
            limit = pending[p] | mask
        base = limit - mask
        next_due = never
        for k in range(n_rules):
            due[k] = never
        held, start, value, row_base = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        while c < n_carried and carried[c] <= limit:
            start, value = carried[c], carried_values[c]
            held |= bit << value
            row_base = (value + 1) * width
            if survives:
                starts[o], values[o], place[value] = start, value, o
                o += ONE
            c += ONE
        armed = p < n_pending and pending[p] <= limit
        if armed or (i < n and points[i] <= limit):  # a key with a column of delays
            column = key if columns > ONE else ZERO
            for k in range(n_rules):
                delay[k] = delays[k, column]
            key += ONE
        while p < n_pending and pending[p] <= limit:
            k = pending_rules[p]
            due[k] = min(due[k], pending[p] - base)
            next_due = min(next_due, due[k])
            p += ONE
        row_time = points[i] - base if i < n and points[i] <= limit else never
        while True:
            time = min(row_time, next_due)
            if time > until and row_time == never:
                break
            if o + n_values > room or f + n_rules > fired_room:
                return False
            begun, ended, fresh = np.int64(0), np.int64(0), np.int64(0)
            if row_time == time:
                if survives and held & (held - 1) != 0:
                    for v in range(n_values):
                        if (held >> np.int64(v)) & 1:
                            row = (np.int64(v) + 1) * width + codes[i]
                            begun |= initiates[row]
                            ended |= terminates[row]
                else:
                    row = row_base + codes[i]
                    begun, ended, fresh = initiates[row], terminates[row], only[row]
                i += ONE
                row_time = points[i] - base if i < n and points[i] <= limit else never
            if next_due == time:
                fired = np.int64(0)
                for k in range(n_rules):
                    if due[k] == time:
                        due[k] = never
                        if not (postponable[k] and (begun >> sources[k]) & 1):
                            fresh = targets[k]
                            begun |= bit << fresh
                            fired |= bit << fresh
                for v in range(n_values):
                    fired_points[f], fired_values[f] = base + time, v
                    f += np.uintp((fired >> np.int64(v)) & 1)
            change = base + time + tick
            if survives:
                after = begun if begun != 0 else held & ~ended
                if after != held:
                    row_base = np.int64(0)
                    for v in range(n_values):
                        now = (after >> np.int64(v)) & 1
                        if now != (held >> np.int64(v)) & 1:
                            if now:
                                starts[o], values[o], place[v] = change, v, o
                                o += ONE
                            else:
                                ends[place[v]] = change
                        if now:
                            row_base = (np.int64(v) + 1) * width
            else:
                after = (begun if begun != 0 else held) & ~ended
                after = after if begun & (begun - 1) == 0 else np.int64(0)
                changed = after != held
                starts[o], ends[o], values[o] = start, change, value
                o += np.uintp(changed & (held != 0))
                start = change if changed else start
                value = fresh if begun != 0 else value
                row_base = (value + 1) * width if after != 0 else np.int64(0)
            held = after
            next_due = never
            for k in range(n_rules):
                source = sources[k]
                again = (begun >> source) & 1
                broken = ((ended >> source) & 1) | np.int64((begun & ~(bit << source)) != 0)
                keeps = (broken | (again & postponable[k])) == 0
                new = time + delay[k] if delay[k] < mask - time else mask
                new = new if again & (delay[k] > 0) else never
                running = due[k]
                running = running if keeps & (running != never) else new
                due[k] = running
                next_due = min(next_due, running)
        if survives:
            for v in range(n_values):
                if (held >> np.int64(v)) & 1:
                    ends[place[v]] = limit
        else:
            starts[o], ends[o], values[o] = start, limit, value
            o += np.uintp(held != 0)
        for k in range(n_rules):
            left_points[left], left_rules[left] = base + due[k], k
            left += np.uintp(due[k] != never)
    state[0], state[1], state[2], state[3] = i, c, p, key
    state[4], state[5], state[6] = o, f, left
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
    trusted: bool = False,
) -> AutomatonResult:
    """The maximal intervals of a fluent whose rules depend on its own value, with delayed effects (`fi/3`, `p/1`).

    `points` are distinct; `codes` choose a column of `initiates` and `terminates`, bit masks of values of shape
    (values + 1, columns), whose row is the value at that point (0 none, v+1 value v). At most 62 values.

    Deadline rule k: `sources[k]` initiated at T, by a row or by a deadline, even if it does not begin, initiates
    `targets[k]` at T+delay unless in T+1 ... T+delay-1 the source is terminated or another value initiated.
    `postponable[k]`: nor if the source is initiated again in T+1 ... T+delay (that arms anew); otherwise further
    initiations do not move a running deadline. What deadlines and a row initiate at one point counts together. Deadlines
    fire at times up to `until`, with or without rows; the rest come back as pending. Of postponable deadlines due at
    one point, those that initiate the source of another one fire first.

    `delays` has shape (rules, 1), or (rules, keys) with a column for every distinct key of `points` and `pending`
    together, in order; a negative one means no deadline for that key. Delays are times, multiples of the tick.
    `carried`: (points `key|start`, values) of what holds on entry, sorted; it arms nothing. `pending`: (firing points,
    rules) of an earlier run, sorted by point.

    Ties "termination" as in `inertia_values`. With "initiation" an initiated value always holds; if several hold at
    once, the rows of all of them apply. Cost: O((points + firings) * (1 + rules)), one pass.

    >>> up = np.array([[1], [1], [1]])
    >>> found = automaton(np.array([5]), np.array([0]), up, up * 0, 8, 1, 30, [0], [1], np.array([[4]]), [False])
    >>> found.starts.tolist(), found.ends.tolist(), found.values.tolist()
    ([6, 10], [10, 255], [0, 1])
    """
    check_clock(shift, tick)
    check_ties(ties)
    mask = (1 << shift) - 1
    initiates, terminates = _table("initiates", initiates), _table("terminates", terminates)
    if initiates.shape != terminates.shape:
        raise ArrayError("terminates", f"has shape {terminates.shape}, initiates has {initiates.shape}")
    n_values = initiates.shape[0] - 1
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
        _check_range("codes", codes, initiates.shape[1])
        _check_range("carried values", held_values, n_values)
        _check_range("pending rules", waiting_rules, source.shape[0])
        _check_range("initiates", initiates.ravel(), 1 << n_values)
        _check_range("terminates", terminates.ravel(), 1 << n_values)
        _check_until(points, until, mask)
        _check_delays(delays, tick, points, waiting, shift)

    order = _firing_order(source, target, postpones)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.shape[0])
    single = (initiates != 0) & (initiates & (initiates - 1) == 0)
    only = np.where(single, np.log2(np.where(single, initiates, 1)), 0).astype(np.int64)
    n_rules = order.shape[0]
    work = np.zeros((3, max(n_values, n_rules, 1)), np.int64)
    state = np.zeros(7, np.int64)
    spare = work.shape[1] + 1
    expected = points.shape[0] + held.shape[0] + waiting.shape[0]
    found = [np.empty(expected + spare, np.int64) for _ in range(3)]
    fired = [np.empty((expected if n_rules else 0) + spare, np.int64) for _ in range(2)]
    left = [np.empty((expected if n_rules else 0) + spare, np.int64) for _ in range(2)]
    while not _run(
        points,
        codes,
        initiates.ravel(),
        terminates.ravel(),
        only.ravel(),
        np.int64(initiates.shape[1]),
        np.int64(mask),
        np.int64(tick),
        np.int64(min(until, mask - tick - 1)),
        source[order],
        target[order],
        np.ascontiguousarray(delays[order]),
        postpones[order],
        ties == "initiation",
        held,
        held_values,
        waiting,
        rank[waiting_rules] if n_rules else waiting_rules,
        work,
        state,
        *found,
        *fired,
        *left,
    ):
        found, fired, left = (_doubled(found), _doubled(fired), _doubled(left))
    n_found, n_fired, n_left = (int(count) for count in state[4:])
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


def _doubled(buffers: list[Array]) -> list[Array]:
    return [np.concatenate((buffer, np.empty_like(buffer))) for buffer in buffers]


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
