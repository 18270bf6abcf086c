"""Slow, obvious counterparts of the state kernels: every key by itself, one time-point after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

Interval = tuple[int, int]
Valued = tuple[int, int, int]


class Ambiguous(Exception):
    """Postponable deadlines that fall due together postpone each other in a circle: no answer is the right one."""


def by_key(points: Iterable[int], shift: int) -> dict[int, list[tuple[int, int]]]:
    """For each key its (time, index in the input)."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for index, point in enumerate(points):
        found[int(point) >> shift].append((int(point) & ((1 << shift) - 1), index))
    return found


def survivors(held: set[int], initiated: set[int], terminated: set[int], ties: str) -> set[int]:
    """The values that hold one tick later: the law of inertia."""
    after = set()
    for value in held | initiated:
        broken = value in terminated or bool(initiated - {value})
        if not broken or (ties == "initiation" and value in initiated):
            after.add(value)
    return after


class Recorder:
    """Collects intervals from the sets of values that hold at successive time-points."""

    def __init__(self, carried: dict[int, int]) -> None:
        self.since = dict(carried)
        self.done: list[Valued] = []

    def now(self, time: int, held: set[int]) -> None:
        for value in sorted(set(self.since) - held):
            self.done.append((self.since.pop(value), time, value))
        for value in held - set(self.since):
            self.since[value] = time

    def intervals(self, key: int, shift: int) -> list[Valued]:
        mask, base = (1 << shift) - 1, key << shift
        found = self.done + [(start, mask, value) for value, start in self.since.items()]
        return [
            (base + start, base + end, value) for start, end, value in sorted(found, key=lambda row: (row[0], row[2]))
        ]


def inertia_values(
    points: list[int],
    codes: list[int],
    shift: int,
    tick: int,
    ties: str,
    carried: list[tuple[int, int]],
) -> list[Valued]:
    rows, held_by_key = by_key(points, shift), by_key([point for point, _ in carried], shift)
    found: list[Valued] = []
    for key in sorted(set(rows) | set(held_by_key)):
        start_of = {carried[index][1]: time for time, index in held_by_key.get(key, [])}
        recorder, held = Recorder(start_of), set(start_of)
        for time in range(0, (1 << shift) - 1, tick):
            here = [codes[index] for at, index in rows.get(key, []) if at == time]
            values = {code // 2 for code in codes if code >= 0} | held
            initiated = {code // 2 for code in here if code >= 0 and code % 2 == 0}
            terminated = values if -1 in here else {code // 2 for code in here if code % 2 == 1}
            held = survivors(held, initiated, terminated, ties)
            if here:
                recorder.now(time + tick, held)
        found += recorder.intervals(key, shift)
    return found


def inertia(
    points: list[int], codes: list[int], shift: int, tick: int, ties: str, carried: list[int]
) -> list[Interval]:
    rows: list[tuple[int, int]] = []
    for point, code in zip(points, codes, strict=True):
        rows += [(point, 0)] * (code & 1) + [(point, 1)] * (code >> 1 & 1)
    found = inertia_values([p for p, _ in rows], [c for _, c in rows], shift, tick, ties, [(p, 0) for p in carried])
    return [(start, end) for start, end, _ in found]


class Run(NamedTuple):
    intervals: list[Valued]
    fired: list[tuple[int, int]]
    pending: list[tuple[int, int]]


class Rule(NamedTuple):
    source: int
    target: int
    postponable: bool
    delay: Callable[[int], int]  # of the key


def automaton(
    points: list[int],
    codes: list[int],
    initiates: np.ndarray,
    terminates: np.ndarray,
    shift: int,
    tick: int,
    until: int,
    rules: list[Rule],
    carried: list[tuple[int, int]] = [],  # noqa: B006
    pending: list[tuple[int, int]] = [],  # noqa: B006
    ties: str = "termination",
) -> Run:
    """Every initiation of a source is remembered for ever; each deadline looks back at all that happened since."""
    rows, holding = by_key(points, shift), by_key([p for p, _ in carried], shift)
    waiting = by_key([p for p, _ in pending], shift)
    n_values, mask = initiates.shape[0] - 1, (1 << shift) - 1
    result = Run([], [], [])
    for key in sorted(set(rows) | set(holding) | set(waiting)):
        start_of = {carried[index][1]: time for time, index in holding.get(key, [])}
        recorder, held = Recorder(start_of), set(start_of)
        initiated_at: dict[int, set[int]] = defaultdict(set)
        terminated_at: dict[int, set[int]] = defaultdict(set)
        # (rule, time of the initiation, time of the deadline); what is carried in was initiated before the run
        attempts = [(pending[index][1], -1, due) for due, index in waiting.get(key, [])]

        def alive(attempt: tuple[int, int, int], time: int) -> bool:
            """Neither cancelled nor postponed by what happened after its initiation and before `time`."""
            number, armed, _ = attempt
            source = rules[number].source
            for at in range(armed + 1, time):
                if source in terminated_at[at] or initiated_at[at] - {source}:  # noqa: B023
                    return False
                if rules[number].postponable and source in initiated_at[at]:  # noqa: B023
                    return False
            return True

        row_of = dict(rows.get(key, []))
        for time in range(min(until, mask - tick - 1) + 1):
            if time in row_of and time <= until:
                states = [value + 1 for value in held] or [0]
                for state in states:
                    code = codes[row_of[time]]
                    for value in range(n_values):
                        if initiates[state, code] >> value & 1:
                            initiated_at[time].add(value)
                        if terminates[state, code] >> value & 1:
                            terminated_at[time].add(value)
            due = {number for number, armed, when in attempts if when == time and alive((number, armed, when), time)}
            fired = {rules[number].target for number in due if not rules[number].postponable}
            initiated_at[time] |= fired
            remaining = {number for number in due if rules[number].postponable}
            while remaining:
                free = {a for a in remaining if all(rules[b].target != rules[a].source for b in remaining)}
                if not free:
                    raise Ambiguous
                firing = {rules[a].target for a in free if rules[a].source not in initiated_at[time]}
                initiated_at[time] |= firing
                fired |= firing
                remaining -= free
            result.fired.extend(((key << shift) + time, value) for value in sorted(fired))
            for number, rule in enumerate(rules):
                delay = rule.delay(key)
                if rule.source in initiated_at[time] and delay > 0:
                    attempts.append((number, time, min(time + delay, mask)))
            held = survivors(held, initiated_at[time], terminated_at[time], ties)
            recorder.now(time + tick, held) if set(recorder.since) != held else None
        result.intervals.extend(recorder.intervals(key, shift))
        left: dict[int, int] = {}
        last = min(until, mask - tick - 1)
        for number, armed, when in attempts:
            if when > last and alive((number, armed, when), last + 1):
                left[number] = min(left.get(number, when), when)
        result.pending.extend(sorted(((key << shift) + when, number) for number, when in left.items()))
    return result


def relation(name: str, i: tuple[int, float], j: tuple[int, float], tick: int) -> bool:
    """The definitions of the Allen relations on times; an open end is infinite."""
    (s1, e1), (s2, e2) = i, j
    finite = e1 != float("inf")
    return {
        "before": e1 <= s2,
        "meets": finite and e1 - tick == s2 and s1 != e1 - tick,
        "starts": s1 == s2 and e1 < e2,
        "finishes": s1 > s2 and e1 == e2,
        "during": s1 > s2 and e1 < e2,
        "overlaps": s1 < s2 and finite and e1 - tick > s2 and e1 < e2,
        "equal": s1 == s2 and e1 == e2,
    }[name]


def related(name: str, source: list[Interval], target: list[Interval], shift: int, tick: int) -> set[tuple[int, int]]:
    """All pairs of indices of one key that are in the relation."""
    mask = (1 << shift) - 1

    def times(interval: Interval) -> tuple[int, float]:
        return interval[0] & mask, float("inf") if interval[1] & mask == mask else interval[1] & mask

    return {
        (a, b)
        for a, i in enumerate(source)
        for b, j in enumerate(target)
        if i[0] >> shift == j[0] >> shift and relation(name, times(i), times(j), tick)
    }


def cover(intervals: Iterable[Interval]) -> set[int]:
    """The points inside; usable for small numbers only."""
    return {point for start, end in intervals for point in range(start, end)}


def maximal(points: Iterable[int]) -> list[Interval]:
    """The maximal intervals of a set of points."""
    found: list[Interval] = []
    for point in sorted(set(points)):
        if found and found[-1][1] == point:
            found[-1] = (found[-1][0], point + 1)
        else:
            found.append((point, point + 1))
    return found
