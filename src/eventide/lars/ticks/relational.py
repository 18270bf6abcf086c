"""Nodes of a plan at one time-point after the other, by what changes: joins, differences, projections. No windows.

Nodes of points give all rows of the time-point; all other nodes give the rows that come and go, each row being known
once, so that a time-point costs what changes at it. Nodes whose rows go by themselves note when in an agenda.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from eventide.algebra import nodes as n
from eventide.lars.ticks.rows import Row

Rows = list[Row]
Delta = tuple[Rows, Rows]
"""The rows that come and those that go."""
NOTHING: Delta = ([], [])


def picker(places: Sequence[int]) -> Callable[[Row], Row]:
    """A function that gives the values at these places, as a row."""
    if len(places) == 1:
        place = places[0]
        return lambda row: (row[place],)
    return itemgetter(*places) if places else lambda row: ()


def places_of(fields: n.Fields, names: Iterable[str]) -> list[int]:
    """Where columns stand."""
    known = n.names(fields)
    return [known.index(name) for name in names]


class Agenda:
    """Which nodes have something to do at which time-points."""

    def __init__(self) -> None:
        self._due: dict[int, set[int]] = {}
        self._times: list[int] = []

    def add(self, time: int, number: int) -> None:
        """Note that a node is due."""
        due = self._due.get(time)
        if due is None:
            self._due[time] = {number}
            heapq.heappush(self._times, time)
        else:
            due.add(number)

    def next(self) -> int | None:
        """The first time-point at which a node is due."""
        return self._times[0] if self._times else None

    def pop(self, time: int) -> set[int]:
        """The nodes that are due at a time-point, which is the first one."""
        if not self._times or self._times[0] != time:
            return set()
        heapq.heappop(self._times)
        return self._due.pop(time)


class Node:
    """A node with what it remembers. `step` is called when an operand changed or the agenda says so."""

    def __init__(self, operands: Sequence[Node]) -> None:
        self.operands = operands
        self.number = -1
        self.points: Rows = []
        """The rows of this time-point, of nodes of points."""
        self.delta: Delta = NOTHING
        self.touched = False

    def step(self, t: int) -> None:
        """Bring `points` or `delta` up to date; leaves are told what they have."""

    def has_news(self) -> bool:
        """Whether those who read the node must look at it."""
        return bool(self.points or self.delta[0] or self.delta[1])


class Mapped(Node):
    """Rows one by one: kept, changed or dropped; different rows stay different."""

    def __init__(self, child: Node, function: Callable[[Row, int], Row | None], *, points: bool) -> None:
        super().__init__([child])
        self.function, self.of_points = function, points

    def step(self, t: int) -> None:
        function, child = self.function, self.operands[0]
        if self.of_points:
            self.points = [found for row in child.points if (found := function(row, t)) is not None]
        else:
            came, went = child.delta
            self.delta = ([found for row in came if (found := function(row, t)) is not None],
                          [found for row in went if (found := function(row, t)) is not None])


class Counted(Node):
    """Rows that may come from several rows of the operands: known while one of these is."""

    def __init__(self, operands: Sequence[Node], functions: Sequence[Callable[[Row], Row]], *, points: bool) -> None:
        super().__init__(operands)
        self.functions, self.of_points = functions, points
        self._counts: dict[Row, int] = {}

    def step(self, t: int) -> None:
        pairs = list(zip(self.operands, self.functions, strict=True))
        if self.of_points:
            self.points = [function(row) for node, function in pairs for row in node.points]  # each fact counts
            return
        counts = self._counts
        before: dict[Row, int] = {}
        for node, function in pairs:
            for rows, step in ((node.delta[0], 1), (node.delta[1], -1)):
                for row in rows:
                    key = function(row)
                    count = counts.get(key, 0)
                    before.setdefault(key, count)
                    counts[key] = count + step
        came, went = [], []
        for key, count in before.items():
            now = counts[key]
            if not now:
                del counts[key]
            if now and not count:
                came.append(key)
            elif count and not now:
                went.append(key)
        self.delta = came, went


class Index:
    """Rows by their values in some columns."""

    def __init__(self, key: Callable[[Row], Row]) -> None:
        self.key = key
        self.rows: dict[Row, set[Row]] = {}

    def change(self, delta: Delta) -> None:
        """Rows come and go."""
        for row in delta[1]:
            key = self.key(row)
            rows = self.rows[key]
            rows.discard(row)
            if not rows:
                del self.rows[key]
        for row in delta[0]:
            self.rows.setdefault(self.key(row), set()).add(row)

    def find(self, key: Row) -> Iterable[Row]:
        return self.rows.get(key, ())


class Joined(Node):
    """A natural join; where one side are points, only they are looked up."""

    def __init__(self, left: Node, right: Node, node: n.Join) -> None:
        super().__init__([left, right])
        common = [name for name in n.names(node.left.fields) if name in n.names(node.right.fields)]
        self.left_points, self.right_points = node.left.sort == "points", node.right.sort == "points"
        self.left = Index(picker(places_of(node.left.fields, common)))
        self.right = Index(picker(places_of(node.right.fields, common)))
        new = [name for name in n.names(node.right.fields) if name not in common]
        self.new = picker(places_of(node.right.fields, new))

    def step(self, t: int) -> None:
        left, right = self.operands
        new, left_key, right_key = self.new, self.left.key, self.right.key
        if self.left_points and self.right_points:
            found = Index(right_key)
            found.change((right.points, []))
            self.points = [row + new(other) for row in left.points for other in found.find(left_key(row))]
        elif self.left_points:
            self.right.change(right.delta)
            self.points = [row + new(other) for row in left.points for other in self.right.find(left_key(row))]
        elif self.right_points:
            self.left.change(left.delta)
            self.points = [row + new(other) for other in right.points for row in self.left.find(right_key(other))]
        else:
            self._delta(left.delta, right.delta)

    def _delta(self, left: Delta, right: Delta) -> None:
        new, left_key, right_key = self.new, self.left.key, self.right.key
        went = [row + new(other) for row in left[1] for other in self.right.find(left_key(row))]
        self.left.change(([], left[1]))
        went += [row + new(other) for other in right[1] for row in self.left.find(right_key(other))]
        self.right.change(right)
        came = [row + new(other) for row in left[0] for other in self.right.find(left_key(row))]
        came += [row + new(other) for other in right[0] for row in self.left.find(right_key(other))]
        self.left.change((left[0], []))
        self.delta = came, went


class Without(Node):
    """The rows of the left without a match on the right."""

    def __init__(self, left: Node, right: Node, node: n.Without) -> None:
        super().__init__([left, right])
        common = [name for name in n.names(node.left.fields) if name in n.names(node.right.fields)]
        self.left_points, self.right_points = node.left.sort == "points", node.right.sort == "points"
        self.left = Index(picker(places_of(node.left.fields, common)))
        self.right_key = picker(places_of(node.right.fields, common))
        self._counts: dict[Row, int] = defaultdict(int)

    def step(self, t: int) -> None:
        left, right = self.operands
        key, counts = self.left.key, self._counts
        if self.right_points:
            taken = {self.right_key(row) for row in right.points}
            self.points = [row for row in left.points if key(row) not in taken]
            return
        before: dict[Row, bool] = {}
        for rows, step in ((right.delta[0], 1), (right.delta[1], -1)):
            for row in rows:
                found = self.right_key(row)
                before.setdefault(found, counts[found] > 0)
                counts[found] += step
        flipped = {found for found, taken in before.items() if (counts[found] > 0) != taken}
        for found in before:
            if not counts[found]:
                del counts[found]
        if self.left_points:
            self.points = [row for row in left.points if key(row) not in counts]
            return
        went = [row for row in left.delta[1] if (key(row) in counts) == (key(row) in flipped)]
        self.left.change(([], left.delta[1]))
        came = [row for found in flipped if found not in counts for row in self.left.find(found)]
        went += [row for found in flipped if found in counts for row in self.left.find(found)]
        came += [row for row in left.delta[0] if key(row) not in counts]
        self.left.change((left.delta[0], []))
        self.delta = came, went
