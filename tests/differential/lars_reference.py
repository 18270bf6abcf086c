"""What should be said of a LARS case: at every time-point the answer streams that clingo finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from tests.oracle import lars, lars_clingo
from tests.oracle.lars import AnswerStream

from eventide.syntax.lars_trees import atom_text

from .cases import Case
from .reference import Row, Rows, in_order

Facts = tuple[tuple[str, int], ...]
"""Facts with their time-points, in order of arrival."""


class LarsQuestion(NamedTuple):
    """Which answer is asked for: from 0, or after `start`, up to `at`."""

    at: int
    models: str
    contradictions: str
    start: int = -1
    session: bool = False
    """Whether facts count as they do in a session, in which some are late."""
    earlier: bool = False
    """Whether it is asked what is known of earlier time-points too."""


class LarsReference:
    """The answers of the oracle; those of a time-point are computed once."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.tree = lars.program(case.text)
        self.background = {atom_text(fact) for fact in self.tree.facts}
        self._found: dict[object, set[AnswerStream]] = {}

    def rows(self, question: LarsQuestion) -> Rows:
        """The answer to a question."""
        facts = tuple((fact, time) for fact, time in self.facts(question) if question.start < time <= question.at)
        points: set[tuple[str, int]] = set()
        for t in range(question.start + 1, question.at + 1):
            found = self.streams(facts, t, question.contradictions)
            join = set.intersection if question.models == "cautious" else set.union
            for atom, k in join(*map(set, found)) if found else ():
                if k == t:
                    points.add((atom, t))
                elif question.earlier and atom not in self.background:
                    points.add((f"{atom}={k}", t))
        return in_order(joined(points, question.at))

    def streams(self, facts: Facts, t: int, contradictions: str) -> set[AnswerStream]:
        """The answer streams of a time-point."""
        known = tuple((fact, time) for fact, time in facts if time <= t)
        key = known, t, contradictions
        if key not in self._found:
            self._found[key] = lars_clingo.answer_streams(self.tree, by_time(known), t,
                                                          constraints=contradictions == "discard")
        return self._found[key]

    def facts(self, question: LarsQuestion) -> Facts:
        """The facts that count."""
        return counted(self.case, question.at)[0] if question.session else given_facts(self.case)

    def late(self, question: LarsQuestion) -> int:
        """How many facts were too late."""
        return counted(self.case, question.at)[1] if question.session else 0


def given_facts(case: Case) -> Facts:
    """All facts of a case, in order of arrival within each time-point."""
    return in_time(split(str(operation.fact)) for operation in case.operations)


def split(fact: str) -> tuple[str, int]:
    """`p(a)@3` as a fact and its time-point."""
    atom, _, time = fact.rpartition("@")
    return atom, int(time)


def in_time(facts: Iterable[tuple[str, int]]) -> Facts:
    """Facts in the order of time."""
    return tuple(sorted(facts, key=lambda fact: fact[1]))


def by_time(facts: Facts) -> list[tuple[int, list[str]]]:
    """Facts as a stream."""
    return [(time, [fact for fact, _ in together]) for time, together in groupby(facts, lambda fact: fact[1])]


def batches(case: Case) -> Iterator[tuple[int, list[tuple[str, int]]]]:
    """The query times of a session, each with what is handed in before it."""
    before = -1
    for query in case.options.queries:
        yield query, [split(str(o.fact)) for o in case.operations if before < o.arrival <= query]
        before = query


def counted(case: Case, at: int) -> tuple[Facts, int]:
    """The facts that count in a session up to a query time, and how many were too late: those of time-points that had
    been told."""
    found, late, before = [], 0, -1
    for query, batch in batches(case):
        if query > at:
            break
        found += [(fact, time) for fact, time in batch if time > before]
        late += len({(fact, time) for fact, time in batch if time <= before})
        before = query
    return in_time(found), late


def joined(points: Iterable[tuple[str, int]], end: int) -> Iterator[Row]:
    """Periods from time-points; what holds at the end is open."""
    for atom, times in groupby(sorted(points), lambda point: point[0]):
        for _, run in groupby(enumerate(time for _, time in times), lambda pair: pair[1] - pair[0]):
            held = [time for _, time in run]
            yield atom, held[0], None if held[-1] == end else held[-1] + 1
