"""A stream with truth maintenance: a run from change to change with its conflicts, or a session of contexts.

What a session says is collected as everywhere else; between changes nothing is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

import pyarrow as pa

from eventide.analysis.lars import analyse
from eventide.errors import InputError
from eventide.lars.answer_sets import Answer, Point
from eventide.lars.contexts import LIMIT, Conflict, Contexts, at_time
from eventide.lars.maintained import Answer as Held
from eventide.lars.maintained import MaintainedSession
from eventide.lars.results import Collected, NoAnswer, without_gaps
from eventide.lars.running import flags_of, named
from eventide.lars.stable_models import MOST_MODELS, Models
from eventide.lars.streams import in_order, read
from eventide.lars.values import python_value
from eventide.maintenance.defaults import extended
from eventide.syntax.lars_trees import LarsTree, Predicate

Stream = Iterable[tuple[int, str, Sequence[object]]]


@dataclass
class MaintainedRun:
    """A program, the facts of a stream in order of arrival, and what comes of them; the counterpart of `running.Run`.

    >>> from eventide.syntax.lars import parse
    >>> tree = parse("free :- closed [9]. jam :- slow [9]. :- free, jam.").tree
    >>> run = MaintainedRun(tree, [(1, "closed", ()), (4, "slow", ())], 20)
    >>> run.table([("free", 0), ("jam", 0)]).select(["fluent", "start", "end"]).to_pylist()
    [{'fluent': 'free', 'start': 1, 'end': 4}, {'fluent': 'jam', 'start': 11, 'end': 14}]
    >>> print(*run.gaps)
    no answer stream from 4 to 10: :- free, jam.
    >>> [str(fact) for conflict in run.conflicts for fact in conflict.facts]
    ['closed@1', 'slow@4']
    """

    tree: LarsTree
    facts: Stream
    end: int
    models: Models = "first"
    at: bool = False
    gaps: list[NoAnswer] = field(default_factory=list)
    several: list[tuple[int, int, int]] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    """The conflicts that were met, each once."""
    _given: dict[Point, None] = field(default_factory=dict)

    def table(self, wanted: Sequence[Predicate]) -> pa.Table:
        """The rows of some predicates, with a column `model` where there may be several answers."""
        collected = Collected(self.end, self.at, frozenset([*wanted, *flags_of(self.tree)]))
        for answer in self.answers():
            collected.add(answer)
        collected.earlier.update((point, None) for point in self._given if (point.name, len(point.row)) in wanted)
        self.several = collected.several
        found = without_gaps(collected.table(), self.gaps, self.end)
        return named(found if analyse(self.tree).several else found.drop_columns(["model"]), self.tree)

    def answers(self) -> Iterator[Answer]:
        """The answers at 0 … end, one after the other, each up to the next change."""
        session = MaintainedSession(self.tree)
        groups = groupby(self.facts, key=lambda fact: fact[0])
        following = next(groups, None)
        time = 0
        while time <= self.end:
            arrived = []
            if following is not None and following[0] == time:
                arrived = [(name, tuple(map(python_value, row))) for _, name, row in following[1]]
                following = next(groups, None)
            if self.at:
                self._given.update((Point(name, row, time), None) for name, row in arrived)
            session.advance(time, arrived)
            changes = (session.next_time(), None if following is None else following[0], self.end + 1)
            later = min(change for change in changes if change is not None)
            yield self._answer(session, time, later)
            time = later

    def _answer(self, session: MaintainedSession, start: int, end: int) -> Answer:
        found = extended(session.network, session.environment())
        most = 1 if self.models == "first" else MOST_MODELS + 1
        held = [session.answer(environment) for environment in islice(found, most)]
        if len(held) > MOST_MODELS:
            raise InputError(f"there are more than {MOST_MODELS} answer streams at {start}; ask for the first, or run "
                             "without truth maintenance")
        if not held:
            self._note(Contexts(session).first_conflicts(), start, end)
            return Answer(start, end, count=0)
        points = [_points(answer, start) for answer in held]
        if self.models == "brave":
            return Answer(start, end, frozenset.union(*points))
        certain = frozenset.intersection(*points)
        if self.models == "cautious":
            return Answer(start, end, certain)
        count = len(held) if self.models == "all" else None
        return Answer(start, end, certain, tuple(model - certain for model in points) if len(points) > 1 else (), count)

    def _note(self, conflicts: Sequence[Conflict], start: int, end: int) -> None:
        rules = sorted({str(violation) for conflict in conflicts for violation in conflict.violations})
        reasons = tuple(rules) or ("a loop through negation",)
        if self.gaps and (self.gaps[-1].end, self.gaps[-1].reasons) == (start, reasons):
            self.gaps[-1] = NoAnswer(self.gaps[-1].start, end, reasons)
        else:
            self.gaps.append(NoAnswer(start, end, reasons))
        self.conflicts += [conflict for conflict in conflicts if conflict not in self.conflicts]


def _points(answer: Held, now: int) -> frozenset[Point]:
    return frozenset(Point(name, row, None if time == now else time) for name, row, time in answer)


class ContextSession:
    """Facts come in, and at any time one may ask what they say together and apart. Time goes on.

    >>> from eventide.syntax.lars import parse
    >>> session = ContextSession(parse("free :- closed [9]. jam :- slow [9]. :- free, jam.").tree)
    >>> session.insert([(1, ["closed"]), (2, ["slow"])])
    >>> session.advance(to=2).is_consistent(), session.advance(to=11).is_consistent()
    (False, True)
    """

    def __init__(self, tree: LarsTree, limit: int = LIMIT) -> None:
        self.limit = limit
        self._session = MaintainedSession(tree)
        self._waiting: list[tuple[int, str, Sequence[object]]] = []

    def insert(self, events: object, **options: Any) -> None:
        """Facts of times that are to come, in any order: a path, tables, or a list of time-points with facts."""
        facts = list(in_order(read(events, **options)))
        past = next((fact for fact in facts if fact[0] <= self._session.time), None)
        if past is not None:
            raise InputError(f"{past[1]} at {past[0]} comes too late: the session is at {self._session.time}")
        self._waiting = sorted([*self._waiting, *facts], key=lambda fact: fact[0])

    def advance(self, to: int | None = None) -> Contexts:
        """Go on to a time (default: that of the last fact); what is found there is for reading before the next step."""
        time = max((fact[0] for fact in self._waiting), default=max(self._session.time, 0)) if to is None else to
        arrived = [fact for fact in self._waiting if fact[0] <= time]
        self._waiting = self._waiting[len(arrived):]
        at_time(self._session, arrived, time)
        return Contexts(self._session, self.limit)
