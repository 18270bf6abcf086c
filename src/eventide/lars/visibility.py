"""What windows show, as time passes and facts arrive: who is seen until when. Computes nothing from what is seen.

A window shows a time-point or a fact for a while. For each that someone asks about there is a *token*, and it is told
when it has expired. Time windows go by the clock, tuple and partition windows by how many facts have arrived since.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from eventide.lars.grounding import Pattern, Row
from eventide.syntax.lars_trees import Predicate, Window

Token = tuple[Hashable, ...]
_Part = tuple[Window, Predicate | None, Row]
"""What a window counts together: all facts, or those of a predicate that agree in some arguments."""


@dataclass(slots=True, eq=False)
class Occurrence:
    """A fact that arrived at a time. `counted` are the windows whose last facts it is among; `awaited` is how many
    windows may still show it, those of time counted as one: at 0 it can be forgotten."""

    predicate: Predicate
    row: Row
    time: int
    number: int
    counted: set[Window] = field(default_factory=set)
    awaited: int = 0


@dataclass(slots=True)
class _Queue:
    """The last facts of a part, as many as its window shows, and the tokens of time-points that it shows."""

    facts: deque[Occurrence] = field(default_factory=deque)
    points: dict[int, Token] = field(default_factory=dict)


class Visibility:
    """The tokens of what the windows of some patterns show.

    >>> window = Window("time", 2)
    >>> visible = Visibility([Pattern(("p", 0), "sometime", window)])
    >>> _ = visible.advance(5)
    >>> visible.point(window, ("p", 0), (), 4) is not None, visible.point(window, ("p", 0), (), 2)
    (True, None)
    >>> visible.next_expiry(), len(visible.advance(7)[0])
    (7, 1)
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.time = -1
        self._counting: dict[Predicate | None, dict[Window, None]] = {}  # None: windows that count all predicates
        self._horizons: dict[Predicate, int | None] = {}  # how long windows of time show a fact; None: for ever
        for pattern in patterns:
            window, known = pattern.window, self._horizons.get(pattern.predicate, 0)
            if window is not None and window.kind != "time":
                who = None if window.kind == "tuple" else pattern.predicate
                self._counting.setdefault(who, {})[window] = None
            elif window is not None:
                self._horizons[pattern.predicate] = None if known is None else max(known, window.size)
            elif pattern.modality != "now":
                self._horizons[pattern.predicate] = None
        self._queues: dict[_Part, _Queue] = {}
        self._tokens: set[Token] = set()
        self._due: list[tuple[int, int, Token | Occurrence]] = []
        self._pushed = 0

    def advance(self, to: int) -> tuple[list[Token], list[Occurrence]]:
        """Move to a time: the tokens that expire, and the facts that may be forgotten."""
        self.time = to
        tokens: list[Token] = []
        facts: list[Occurrence] = []
        while self._due and self._due[0][0] <= to:
            _, _, gone = heapq.heappop(self._due)
            if not isinstance(gone, Occurrence):
                self._tokens.discard(gone)
                tokens.append(gone)
            elif _is_last(gone):
                facts.append(gone)
        return tokens, facts

    def next_expiry(self) -> int | None:
        """The next time at which the clock alone lets something expire."""
        return self._due[0][0] if self._due else None

    def arrive(self, occurrences: Sequence[Occurrence]) -> tuple[list[Token], list[Occurrence]]:
        """Facts arrive, in this order: the tokens that they push out, and the facts that may be forgotten."""
        tokens: list[Token] = []
        facts: list[Occurrence] = []
        for occurrence in occurrences:
            occurrence.awaited += 1
            horizon = self._horizons.get(occurrence.predicate, 0)
            if horizon is not None:
                self._push(occurrence.time + horizon + 1, occurrence)
            for queue, window in self._counted_by(occurrence):
                occurrence.awaited += 1
                occurrence.counted.add(window)
                queue.facts.append(occurrence)
                if len(queue.facts) < window.size:
                    continue
                if len(queue.facts) > window.size:
                    oldest = queue.facts.popleft()
                    oldest.counted.discard(window)
                    tokens.append(("among", window, oldest.number))
                    if _is_last(oldest):
                        facts.append(oldest)
                for point in [point for point in queue.points if point < queue.facts[0].time]:
                    tokens.append(queue.points.pop(point))
        return tokens, facts

    def start(self, window: Window | None, predicate: Predicate, row: Row) -> int:
        """The first time-point that a window shows of an atom."""
        if window is None:
            return 0
        if window.kind == "time":
            return max(0, self.time - window.size)
        queue = self._queues.get(_part(window, predicate, row))
        return queue.facts[0].time if queue is not None and len(queue.facts) == window.size else 0

    def point(self, window: Window, predicate: Predicate, row: Row, time: int) -> Token | None:
        """The token of a time-point in a window, as far as this atom is asked, if it was concluded; None if it is not
        shown."""
        if not self.start(window, predicate, row) <= time <= self.time:
            return None
        if window.kind == "time":
            token: Token = ("in", window, time)
            if token not in self._tokens:
                self._tokens.add(token)
                self._push(time + window.size + 1, token)
            return token
        part = _part(window, predicate, row)
        return self._queues.setdefault(part, _Queue()).points.setdefault(time, ("from", part, time))

    def fact(self, window: Window, occurrence: Occurrence) -> Token | None:
        """The token of a fact in a window; None if it is not shown."""
        if window.kind == "time":
            return self.point(window, occurrence.predicate, occurrence.row, occurrence.time)
        return ("among", window, occurrence.number) if window in occurrence.counted else None

    def _counted_by(self, occurrence: Occurrence) -> Iterator[tuple[_Queue, Window]]:
        for who in (None, occurrence.predicate):
            for window in self._counting.get(who, ()):
                part = _part(window, occurrence.predicate, occurrence.row)
                yield self._queues.setdefault(part, _Queue()), window

    def _push(self, time: int, what: Token | Occurrence) -> None:
        self._pushed += 1
        heapq.heappush(self._due, (time, self._pushed, what))


def _is_last(occurrence: Occurrence) -> bool:
    """Whether a fact that has left a window has left the last one."""
    occurrence.awaited -= 1
    return not occurrence.awaited


def _part(window: Window, predicate: Predicate, row: Row) -> _Part:
    if window.kind == "tuple":
        return window, None, ()
    return window, predicate, tuple([row[place] for place in window.by])
