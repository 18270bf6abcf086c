"""Lists of closed-open intervals by their definitions. Ends may be `INF`; nothing here knows rules."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

INF = math.inf
Interval = tuple[float, float]
Intervals = list[Interval]


class Grid:
    """Time-points `tick` apart; times between two of them belong to the one below."""

    def __init__(self, tick: int) -> None:
        self.tick = tick

    def cell(self, time: int) -> int:
        """The time-point at or below `time`."""
        return time - time % self.tick

    def next(self, time: float) -> float:
        """The first time-point after `time`."""
        return time if time == INF else time + self.tick - time % self.tick

    def prev(self, time: float) -> float:
        """The last time-point before `time`."""
        if time == INF:
            return INF
        return time - self.tick if time % self.tick == 0 else time - time % self.tick


def merge(intervals: Iterable[Interval]) -> Intervals:
    """The maximal intervals of a set of intervals; touching ones become one."""
    result: Intervals = []
    for start, end in sorted(i for i in intervals if i[0] < i[1]):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def covers(intervals: Iterable[Interval], time: float) -> bool:
    """Whether `time` lies in one of the intervals."""
    return any(start <= time < end for start, end in intervals)


def select(lists: list[Intervals], wanted: Callable[[list[bool]], bool], *, begin: float = -INF) -> Intervals:
    """The maximal intervals, from `begin` on, of the points whose membership in each list is `wanted`.

    Between two neighbouring ends nothing changes, so one look at each such piece is enough.
    """
    cuts = sorted({begin, INF, *(t for xs in lists for i in xs for t in i if t >= begin)})
    pieces = itertools.pairwise(cuts)
    return merge((a, b) for a, b in pieces if wanted([covers(xs, a) for xs in lists]))


def union(lists: list[Intervals]) -> Intervals:
    return merge(i for xs in lists for i in xs)


def intersect(lists: list[Intervals]) -> Intervals:
    return select(lists, all) if lists else []


def difference(base: Intervals, lists: list[Intervals]) -> Intervals:
    return select([base, *lists], lambda inside: inside[0] and not any(inside[1:]))


def complement(lists: list[Intervals], begin: float) -> Intervals:
    return select(lists, lambda inside: not any(inside), begin=begin)


def from_points(points: Iterable[int], grid: Grid, until: int) -> Intervals:
    """Runs of points at most a tick apart, each up to the time-point after its last; open if that is after `until`."""
    runs: list[list[int]] = []
    for point in sorted(set(points)):
        if runs and point - runs[-1][-1] <= grid.tick:
            runs[-1].append(point)
        else:
            runs.append([point])
    ends = [grid.next(run[-1]) for run in runs]
    return merge((run[0], INF if end > until else end) for run, end in zip(runs, ends, strict=True))


def allen(relation: str, source: Intervals, target: Intervals, mode: str, grid: Grid) -> Intervals | None:
    """RTEC_A's condition over all pairs; None if no pair satisfies the relation."""
    pairs = [(i, j) for i in source for j in target if related(relation, i, j, grid)]
    if not pairs:
        return None
    sources, targets = merge(i for i, _ in pairs), merge(j for _, j in pairs)
    match mode:
        case "source":
            return sources
        case "target":
            return targets
        case "union":
            return union([sources, targets])
        case "intersection":
            return intersect([sources, targets])
        case "complement":
            return difference(sources, [targets])
        case "inverse_complement":
            return difference(targets, [sources])
    raise ValueError(f"no Allen mode {mode}")


def related(relation: str, i: Interval, j: Interval, grid: Grid) -> bool:
    """Whether one interval stands in an Allen relation to another; `last` is the last point of the first."""
    (s1, e1), (s2, e2) = i, j
    last = grid.prev(e1)
    match relation:
        case "before":
            return e1 <= s2
        case "meets":
            return last == s2 and s1 != last
        case "starts":
            return s1 == s2 and e1 < e2
        case "finishes":
            return s1 > s2 and e1 == e2
        case "during":
            return s1 > s2 and e1 < e2
        case "overlaps":
            return s1 < s2 < last and e1 < e2
        case "equal":
            return i == j
    raise ValueError(f"no Allen relation {relation}")
