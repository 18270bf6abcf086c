"""Windows at one time-point after the other: rows that go by themselves, marks that are counted, facts by rank."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable

from eventide.algebra import nodes as n
from eventide.lars.ticks.relational import Agenda, Node, picker, places_of
from eventide.lars.ticks.rows import Function, Row


class Spread(Node):
    """Points that count for some time-points after their own; a stamp is put behind the row."""

    def __init__(self, child: Node, size: int | None, stamped: bool, agenda: Agenda) -> None:
        super().__init__([child])
        self.size, self.stamped, self.agenda = size, stamped, agenda
        self._until: dict[Row, int] = {}
        self._leaving: dict[int, list[Row]] = {}

    def step(self, t: int) -> None:
        came: list[Row] = []
        last = None if self.size is None else t + self.size + 1
        for point in self.operands[0].points:
            row = (*point, t) if self.stamped else point
            if row not in self._until:
                came.append(row)
            if last is None:
                self._until[row] = -1
            elif self._until.get(row) != last:  # a point may be given twice
                self._until[row] = last
                self._leaving.setdefault(last, []).append(row)
                self.agenda.add(last, self.number)
        went = [row for row in self._leaving.pop(t, ()) if self._until[row] == t]
        for row in went:
            del self._until[row]
        self.delta = came, went


class Steady(Node):
    """Rows with points at all of the last time-points."""

    def __init__(self, child: Node, size: int | None, agenda: Agenda) -> None:
        super().__init__([child])
        self.size, self.agenda = size, agenda
        self._since: dict[Row, int] = {}
        self._at = -1
        self._held: set[Row] = set()

    def step(self, t: int) -> None:
        before = self._since if self._at == t - 1 else {}
        self._since = {row: before.get(row, t) for row in self.operands[0].points}
        self._at = t
        held = {row for row, since in self._since.items()
                if since == 0 or (self.size is not None and t - since >= self.size)}
        self.delta = [row for row in held if row not in self._held], [row for row in self._held if row not in held]
        self._held = held
        if held:
            self.agenda.add(t + 1, self.number)


class Instants(Node):
    """Rows that hold, as points of every time-point."""

    def __init__(self, child: Node, agenda: Agenda) -> None:
        super().__init__([child])
        self.agenda = agenda
        self._held: set[Row] = set()

    def step(self, t: int) -> None:
        came, went = self.operands[0].delta
        self._held.difference_update(went)
        self._held.update(came)
        self.points = list(self._held)
        if self._held:
            self.agenda.add(t + 1, self.number)


class Aged(Node):
    """Stamped rows while the stamp is not too old."""

    def __init__(self, child: Node, place: int, size: int, agenda: Agenda) -> None:
        super().__init__([child])
        self.place, self.size, self.agenda = place, size, agenda
        self._held: set[Row] = set()
        self._leaving: dict[int, list[Row]] = {}

    def step(self, t: int) -> None:
        came, went = [], []
        for row in self.operands[0].delta[1]:
            if row in self._held:
                self._held.discard(row)
                went.append(row)
        for row in self._leaving.pop(t, ()):
            if row in self._held:
                self._held.discard(row)
                went.append(row)
        for row in self.operands[0].delta[0]:
            last = row[self.place] + self.size + 1  # type: ignore[operator]
            if last > t:
                self._held.add(row)
                came.append(row)
                self._leaving.setdefault(last, []).append(row)
                self.agenda.add(last, self.number)
        self.delta = came, went


class Stamped(Node):
    """Rows with a computed stamp, from that time-point on."""

    def __init__(self, child: Node, stamp: Function, agenda: Agenda) -> None:
        super().__init__([child])
        self.stamp, self.agenda = stamp, agenda
        self._coming: dict[int, set[Row]] = {}

    def step(self, t: int) -> None:
        came, went = [], []
        for row in self.operands[0].delta[1]:
            time = self.stamp(row, t)
            if isinstance(time, int) and time >= 0:
                waiting = self._coming.get(time)
                if waiting is not None and row in waiting:
                    waiting.discard(row)
                else:
                    went.append((*row, time))
        for row in self._coming.pop(t, ()):
            came.append((*row, t))
        for row in self.operands[0].delta[0]:
            time = self.stamp(row, t)
            if isinstance(time, int) and 0 <= time <= t:
                came.append((*row, time))
            elif isinstance(time, int) and time > t:
                self._coming.setdefault(time, set()).add(row)
                self.agenda.add(time, self.number)
        self.delta = came, went


class Arrivals:
    """The times of the last facts of each group."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.times: dict[Row, deque[int]] = {}

    def add(self, group: Row, t: int) -> None:
        """One more fact."""
        times = self.times.get(group)
        if times is None:
            times = self.times[group] = deque(maxlen=self.size)
        times.append(t)

    def opened(self, group: Row) -> int:
        """Where the window begins."""
        times = self.times.get(group)
        return times[0] if times is not None and len(times) == self.size else 0


class LastFacts(Node):
    """Facts that are among the last of their group, stamped with their times or not.

    `narrow` is what the plan does to a fact between counting and keeping it; None drops the fact.
    """

    def __init__(self, facts: Node, ranks: Node, group: Callable[[Row], Row] | None, size: int,
                 narrow: Callable[[Row, int], Row | None], stamped: bool) -> None:
        super().__init__([facts, ranks])
        self.group, self.size, self.narrow, self.stamped = group, size, narrow, stamped
        self._count: dict[Row, int] = {}
        self._kept: dict[Row, deque[tuple[int, Row]]] = {}
        self._known: dict[Row, int] = {}

    def step(self, t: int) -> None:
        facts, ranks = self.operands
        before: dict[Row, int] = {}
        places: list[tuple[Row, int]] = []
        touched: set[Row] = set()
        if self.group is None:  # the rank among all facts is the last value of a fact
            self._count[()] = self._count.get((), 0) + len(ranks.points)
            touched.update(ranks.points)
            places += [((), row[-1]) for row in facts.points]  # type: ignore[misc]
        else:
            for fact in facts.points:
                group = self.group(fact)
                place = self._count.get(group, 0)
                self._count[group] = place + 1
                touched.add(group)
                places.append((group, place))
        for fact, (group, place) in zip(facts.points, places, strict=True):
            row = self.narrow(fact, t)
            if row is not None:
                row = (*row, t) if self.stamped else row
                self._kept.setdefault(group, deque()).append((place, row))
                self._change(row, 1, before)
        for group in touched:
            kept = self._kept.get(group)
            oldest = self._count[group] - self.size
            while kept and kept[0][0] < oldest:
                self._change(kept.popleft()[1], -1, before)
            if kept is not None and not kept:
                del self._kept[group]
        self.delta = ([row for row, count in before.items() if not count and row in self._known],
                      [row for row, count in before.items() if count and row not in self._known])

    def _change(self, row: Row, step: int, before: dict[Row, int]) -> None:
        count = self._known.get(row, 0)
        before.setdefault(row, count)
        if count + step:
            self._known[row] = count + step
        else:
            del self._known[row]


class Recent(Node):
    """Stamped rows while the stamp is in the window of the last facts of their group."""

    def __init__(self, child: Node, arrivals: Node, node: n.Recent) -> None:
        super().__init__([child, arrivals])
        groups = n.names(node.arrivals.fields)
        self.group = picker(places_of(node.child.fields, groups))
        self.place = places_of(node.child.fields, [node.stamp])[0]
        self.arrivals = Arrivals(node.size)
        self._held: set[Row] = set()
        self._oldest: dict[Row, list[tuple[int, int, Row]]] = {}
        self._number = 0

    def step(self, t: int) -> None:
        child, arrivals = self.operands
        came, went = [], []
        for row in child.delta[1]:
            if row in self._held:
                self._held.discard(row)
                went.append(row)
        for row in arrivals.points:
            self.arrivals.add(row, t)
        for group in set(arrivals.points):
            waiting, opened = self._oldest.get(group, []), self.arrivals.opened(group)
            while waiting and waiting[0][0] < opened:
                row = heapq.heappop(waiting)[2]
                if row in self._held:
                    self._held.discard(row)
                    went.append(row)
        for row in child.delta[0]:
            group = self.group(row)
            stamp: int = row[self.place]  # type: ignore[assignment]
            if stamp >= self.arrivals.opened(group):
                self._held.add(row)
                came.append(row)
                self._number += 1
                heapq.heappush(self._oldest.setdefault(group, []), (stamp, self._number, row))
        self.delta = came, went


class Covered(Node):
    """Rows stamped with every time-point of the window. A row can only come to be so when a mark of now comes."""

    def __init__(self, child: Node, arrivals: Node | None, node: n.Covered, agenda: Agenda) -> None:
        super().__init__([child] if arrivals is None else [child, arrivals])
        self.size, self.agenda = node.size, agenda
        self.kept = picker(places_of(node.child.fields, n.names(node.fields)))
        self.arrivals = None if node.arrivals is None or node.size is None else Arrivals(node.size)
        groups = () if node.arrivals is None else n.names(node.arrivals.fields)
        self.group = picker(places_of(node.fields, groups))
        self._counts: dict[Row, int] = {}
        self._held: set[Row] = set()

    def step(self, t: int) -> None:
        asked = set(self._held)
        if self.arrivals is not None:
            for row in self.operands[1].points:
                self.arrivals.add(row, t)
        for rows, step in ((self.operands[0].delta[0], 1), (self.operands[0].delta[1], -1)):
            for row in rows:
                key = self.kept(row)
                count = self._counts[key] = self._counts.get(key, 0) + step
                asked.add(key)
                if not count:
                    del self._counts[key]
        held = {key for key in asked if self._counts.get(key) == self._wanted(key, t)}
        self.delta = [row for row in held if row not in self._held], [row for row in self._held if row not in held]
        self._held = held
        if held:
            self.agenda.add(t + 1, self.number)

    def _wanted(self, key: Row, t: int) -> int:
        if self.arrivals is not None:
            return t - self.arrivals.opened(self.group(key)) + 1
        return t + 1 if self.size is None else min(self.size, t) + 1
