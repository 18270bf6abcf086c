"""What the answer should be: which facts count, by the laws of late facts, and what the interpreter says of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import compress

from tests.oracle.interpreter import Answer, evaluate
from tests.oracle.sessions import Operation, pieces_of, time_points
from tests.oracle.store import Fact

from eventide.syntax import trees
from eventide.syntax.event_calculus import parse

from .cases import Case

Row = tuple[str, int, int | None]
Rows = tuple[Row, ...]
"""Periods as `fluent(args)=value`, start, end, sorted; an event has no value and lasts one time-point."""


@dataclass(frozen=True)
class Question:
    """An answer that is asked for: at a query time `at` of a run with these query times and this window."""

    window: int | None
    queries: tuple[int, ...]
    at: int
    start: int | None
    ties: str = "termination"
    last: int | None = None
    """What comes or happens after this time is not read."""


@dataclass
class Counted:
    """The facts that count so far, each as the set of its time-points."""

    window: int | None
    start: int | None
    names: Collection[str]
    """What the program reads; of other facts nobody asks whether they are late."""
    tick: int = 1
    held: dict[Fact, set[int]] = field(default_factory=lambda: defaultdict(set))
    late: int = 0

    def see(self, query: int, operations: Iterable[Operation]) -> None:
        """Operations at the first query time that sees them."""
        for operation in sorted(operations, key=lambda o: o.arrival):
            points = time_points(operation.fact)
            inside = {t for t in points if self.window is None or t > self.edge(query - self.window, operation.fact)}
            if self.start is not None and max(points) <= self.start:
                continue
            if not inside:
                self.late += operation.fact[1] in self.names
            elif operation.sign > 0:
                self.held[operation.fact] |= inside
            else:
                self.held[operation.fact] -= inside

    def begin(self, query: int, fact: Fact) -> int:
        """The first time-point of a fact; of a period, the first that counts, for which it may have to wait."""
        points = time_points(fact)
        edges = [self.start, None if self.window is None else query - self.window]
        first = max((self.edge(edge, fact) + 1 for edge in edges if edge is not None), default=points[0])
        return first if fact[0] == "interval" and first in points else points[0]

    def edge(self, forgotten: int, fact: Fact) -> int:
        """The last time that is forgotten; of a period it is one before a time-point."""
        return forgotten if fact[0] != "interval" else forgotten + self.tick - forgotten % self.tick - 1

    @property
    def facts(self) -> frozenset[Fact]:
        return frozenset(piece for fact, points in self.held.items() for piece in pieces_of(fact, points))


class Reference:
    """The answers of the interpreter to questions about a case; each is computed once."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._rules: list[trees.Rule] | None = None
        self._counted: dict[Question, Counted] = {}
        self._answers: dict[object, Rows] = {}

    def counted(self, question: Question) -> Counted:
        """The facts that count at a query time."""
        if question not in self._counted:
            state = Counted(question.window, question.start, set(re.findall(r"\w+", self.case.text)),
                            self.case.options.tick)
            waiting = [o for o in self.case.operations
                       if question.last is None or max(o.arrival, time_points(o.fact)[0]) <= question.last]
            for query in question.queries:
                if query > question.at:
                    break
                ready = [max(o.arrival, state.begin(query, o.fact)) <= query for o in waiting]
                state.see(query, compress(waiting, ready))
                waiting = [o for o, now in zip(waiting, ready, strict=True) if not now]
            self._counted[question] = state
        return self._counted[question]

    def late(self, question: Question) -> int:
        """How many facts are too late to count."""
        return self.counted(question).late

    def rows(self, question: Question) -> Rows:
        """The answer to a question."""
        facts, options = self.counted(question).facts, self.case.options
        key = facts, question.at, question.ties, question.start
        if key not in self._answers:
            if self._rules is None:
                self._rules = list(parse(self.case.text).rules)
            times = [time_points(fact)[0] for fact in facts]
            start = question.start
            if start is None:  # no beginning: one before everything
                start = min([question.at, *times]) - 1
                start -= start % options.tick + options.tick
            answer = evaluate(self._rules, sorted(facts, key=repr), start=start, until=question.at, tick=options.tick,
                              initially_at=options.initially_at, ties=question.ties)  # type: ignore[arg-type]
            self._answers[key] = rows_of_answer(answer)
        return self._answers[key]


def rows_of_answer(answer: Answer) -> Rows:
    """The rows of an answer of the interpreter."""
    rows: set[Row] = {(name, start, end) for name, periods in answer.fluents.items() for start, end in periods}
    rows |= {(f"{name}({','.join(map(str, args))})" if args else name, time, time + 1)
             for name, args, time in answer.events}
    return in_order(rows)


def in_order(rows: Iterable[Row]) -> Rows:
    """Rows sorted, an open end last."""
    return tuple(sorted(rows, key=lambda row: (row[0], row[1], row[2] is None, row[2] or 0)))


def clipped(rows: Rows, low: int, high: int) -> Rows:
    """The part of an answer in [low, high)."""
    cut = {(name, max(start, low), high if end is None else min(end, high)) for name, start, end in rows}
    return in_order(row for row in cut if row[1] < row[2])
