"""Programs with several answers over a stream that goes on: facts are inserted, time advances, changes are told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pyarrow as pa

from eventide.analysis.lars import analyse
from eventide.lars.answer_sets import Above, Answer, Change, Point
from eventide.lars.checkpoint import Fact, Snapshot, fingerprint, to_bytes
from eventide.lars.results import FLAG, NoAnswer, merged_gaps, rows_table
from eventide.lars.running import Contradictions, flagged, flags_of, named
from eventide.lars.session import LarsChanges, LarsSession
from eventide.lars.splitting import GIVEN, Split, split
from eventide.lars.stable_models import Models
from eventide.lars.streams import in_order, read
from eventide.lars.values import ground_text, python_value
from eventide.notebook import changes_html
from eventide.syntax.lars_trees import LarsTree, Predicate

Told = tuple[Point, int | None]
"""A row that is told: the atom, and the number of its answer stream (None: all)."""
Row = tuple[Point, int | None, int, int | None]
"""The same with start and end (None: open)."""


@dataclass(frozen=True)
class AnswerChanges:
    """What is new at a query time: rows that came and went, new time-points without an answer, and facts too late.

    `several` are stretches of new time-points with how many answer streams they have, if all were asked for.
    """

    query_time: int
    no_answer: list[NoAnswer]
    several: list[tuple[int, int, int]]
    _tree: LarsTree = field(repr=False)
    _came: list[Row] = field(repr=False)
    _went: list[Row] = field(repr=False)
    _below: LarsChanges = field(repr=False)

    @property
    def late(self) -> pa.Table:
        """The facts of time-points that had been told already, and are not used: `fact, time`."""
        return self._below.late

    @property
    def added(self) -> pa.Table:
        """The rows that came: `fluent, args, value, start, end, model`."""
        return self._table(self._came)

    @property
    def removed(self) -> pa.Table:
        """The rows that went: open intervals that have ended."""
        return self._table(self._went)

    def _repr_html_(self) -> str:
        return changes_html(self)

    def _table(self, rows: list[Row]) -> pa.Table:
        ordered = sorted(rows, key=lambda row: (row[0].name, str(row[0].row), row[1] or 0, row[2]))
        return named(rows_table(ordered), self._tree)


@dataclass
class AnswerSession:
    """A program with several answers over a stream; time begins at 0. Make one with `program.session()`.

    >>> from eventide.syntax.lars import parse
    >>> tree = parse("on(X) :- p(X) [3], not off(X). off(X) :- p(X) [3], not on(X).").tree
    >>> session = AnswerSession(tree, models="brave")
    >>> session.insert([(2, ["p(u)"])])
    >>> session.advance(to=4).added.select(["fluent", "args", "start", "end"]).to_pylist()
    [{'fluent': 'off', 'args': 'u', 'start': 2, 'end': None}, {'fluent': 'on', 'args': 'u', 'start': 2, 'end': None}]
    >>> session.advance(to=9).removed.num_rows
    2
    """

    tree: LarsTree
    models: Models = "first"
    wanted: Sequence[Predicate] | None = None
    contradictions: Contradictions = "discard"
    query_time: int = -1
    _present: set[Predicate] = field(default_factory=set)
    _open: dict[Told, int] = field(default_factory=dict)
    _below: dict[Told, None] = field(default_factory=dict)
    _shown: Answer | None = None
    _waiting: list[Fact] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.contradictions == "flag":
            self.tree = flagged(self.tree)
            self.wanted = None if self.wanted is None else [*self.wanted, *flags_of(self.tree)]
        self._upper = _upper(self.tree)
        self._start([])

    def _start(self, kept: Sequence[Fact]) -> None:
        """Begin, or begin again with the facts that still matter: the windows show the same as before."""
        self.parts: Split = split(self.tree, self._upper, self._present)
        self._lower = LarsSession(self.parts.lower, contradictions="apart")
        self._above = Above(self.parts, self.models)
        self._shown = None
        if self.query_time >= 0:
            self._lower.insert(_as_texts(kept))
            self._above.arrivals.add(kept)
            rows = [(True, predicate, row) for predicate, row, _, end in self._lower.advance(self.query_time).rows
                    if end is None]
            self._below = {}
            for _ in self._stretch(self.query_time, self.query_time + 1, rows):
                pass
        self._lower.insert(_as_texts(self._waiting))

    def save(self) -> bytes:
        """All that is needed to go on later, with `program.restore`."""
        fluents = None if self.wanted is None else sorted({name for name, _ in self.wanted if name[0] != FLAG})
        return to_bytes(Snapshot(
            fingerprint(self.tree), {"models": self.models, "contradictions": self.contradictions, "fluents": fluents},
            self.query_time, self._kept(), self._waiting,
            [(point.name, point.row, model, start) for (point, model), start in self._open.items()],
            self._lower.late_facts, tuple(sorted(self._present))))

    def resume(self, saved: Snapshot) -> None:
        """Become what was saved: facts that matter are seen again, rows keep their beginnings."""
        self.query_time, self._waiting, self._present = saved.query_time, list(saved.waiting), set(saved.present)
        self._open = {(Point(name, row, None), model): start for name, row, model, start in saved.rows}
        self._start(saved.kept)
        self._lower.late_facts = saved.late

    def _kept(self) -> list[Fact]:
        return [(time, predicate[0], row) for time, predicate, row in self._lower.retained.facts()]

    def insert(self, batch: object) -> None:
        """Hand in facts: a list of time-points with facts, a file, or tables; they count from their time-point on."""
        facts = read(batch)
        arrived = [(time, name, tuple(map(python_value, row))) for time, name, row in in_order(facts)]
        fresh = {key for key in facts.tables if key in self._upper} - self._present
        if fresh:
            self._present |= fresh
            self._waiting += arrived
            self._start(self._kept())
        else:
            self._lower.insert(facts)
            self._waiting += arrived

    def advance(self, to: int) -> AnswerChanges:
        """Go on to a time-point and say what changed since the last one."""
        changes = self._lower.advance(to)
        arrived = sorted((fact for fact in self._waiting if self.query_time < fact[0] <= to), key=lambda fact: fact[0])
        self._waiting = [fact for fact in self._waiting if fact[0] > to]
        self._above.arrivals.add(arrived)
        first = self.query_time + 1
        events: dict[int, list[Change]] = {first: []} if first <= to else {}
        for predicate, row, start, end in changes.rows:
            if start >= first:
                events.setdefault(start, []).append((True, predicate, row))
            if end is not None:
                events.setdefault(end, []).append((False, predicate, row))
        for t in changes.contradictions:
            events.setdefault(t, [])
            events.setdefault(t + 1, [])
        told = _Told(self._open, first, self.tree)
        for start, stop in pairwise([*sorted(t for t in events if t <= to), to + 1]):
            rules = changes.contradictions.get(start, [])
            for answer in self._stretch(start, stop, events[start]):
                if rules or answer.count == 0:
                    reasons = (*rules, *(str(self.parts.origin[number]) for number in answer.reasons))
                    told.gap(NoAnswer(answer.start, answer.end, reasons or ("a loop through negation",)))
                    self._shown = None
                else:
                    told.count(answer)
                    if self._shown is None or events[start] or not _same(answer, self._shown):
                        told.take(answer.start, self._rows(answer))
                    self._shown = answer
        self.query_time = to
        return told.changes(to, changes)

    def _stretch(self, start: int, stop: int, changes: Iterable[Change]) -> Iterator[Answer]:
        upper: list[Change] = []
        for comes, predicate, row in sorted(changes, key=lambda change: change[0]):
            if predicate[0].startswith("$"):
                upper.append((comes, predicate, row))
            elif self.wanted is None or predicate in self.wanted:
                key = Point(predicate[0], row, None), None
                if comes:
                    self._below[key] = None
                else:
                    del self._below[key]
        return self._above.answers(start, stop, upper)

    def _rows(self, answer: Answer) -> set[Told]:
        """What is told of an answer; what is in all answer streams is told once."""
        found: set[Told] = set(self._below)
        for number, model in ((None, answer.certain), *enumerate(answer.models, 1)):
            for point in model:
                name = point.name.removeprefix(GIVEN)
                if point.time not in (None, answer.start) or (
                        self.wanted is not None and (name, len(point.row)) not in self.wanted):
                    continue
                key = Point(name, point.row, None)
                if (key, None) not in found:
                    found.add((key, number))
        return found


def _upper(tree: LarsTree) -> frozenset[Predicate]:
    """What is evaluated above: what has several answers, and recursion, if both ask about now only.

    Ground rules follow changes of few facts faster than columns follow recursion.
    """
    model = analyse(tree)
    found = set(model.several)
    for component in model.components:
        reads = {literal.predicate for rule in model.rules_of(component) for literal in rule.literals}
        if component.recursive or reads & found:
            found.update(component.predicates)
    return frozenset(found) if split(tree, found, ()).timeless else model.several


class _Told:
    """Gathers what an advance has to tell."""

    def __init__(self, holding: dict[Told, int], first: int, tree: LarsTree) -> None:
        self._open, self._first, self._tree = holding, first, tree
        self._came: list[Row] = []
        self._went: list[Row] = []
        self._gaps: list[NoAnswer] = []
        self._several: list[tuple[int, int, int]] = []

    def gap(self, gap: NoAnswer) -> None:
        """No answer: nothing holds."""
        self._gaps.append(gap)
        self.take(gap.start, set())

    def count(self, answer: Answer) -> None:
        """How many answer streams there are."""
        if answer.count is not None and answer.count > 1:
            self._several.append((answer.start, answer.end, answer.count))

    def take(self, t: int, rows: set[Told]) -> None:
        """What holds from a time-point on."""
        for key in [key for key in self._open if key not in rows]:
            start = self._open.pop(key)
            self._came.append((*key, start, t))
            if start < self._first:
                self._went.append((*key, start, None))
        for key in rows:
            self._open.setdefault(key, t)

    def changes(self, to: int, below: LarsChanges) -> AnswerChanges:
        """All of it."""
        new = [*self._came, *((*key, start, None) for key, start in self._open.items() if start >= self._first)]
        return AnswerChanges(to, merged_gaps(self._gaps), self._several, self._tree, new, self._went, below)


def _same(answer: Answer, other: Answer) -> bool:
    """Whether two answers say the same because nothing came or went between them."""
    return answer.certain is other.certain and answer.models is other.models


def _as_texts(facts: Iterable[Fact]) -> list[tuple[int, list[str]]]:
    return [(time, [ground_text(name, row)]) for time, name, row in facts]
