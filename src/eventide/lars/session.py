"""LARS over a stream that goes on: facts are inserted, time advances, and what changes is told. No files.

Each advance gives what a run over all facts so far would say of the new time-points, and costs what changes: little at
once goes through `ticks`, much at once (and rules that look back in a cycle) through the columnar evaluation of the new
stretch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

import numpy as np
import pyarrow as pa

from eventide.engine.answers import SCHEMA
from eventide.errors import EventideError, InputError
from eventide.formats.facts import FactTable, column_of
from eventide.lars.checkpoint import Snapshot, fingerprint, to_bytes
from eventide.lars.columnar import Compiled, compile_tree
from eventide.lars.evaluation import Evaluation
from eventide.lars.results import FLAG
from eventide.lars.streams import fact_of, in_order, read
from eventide.lars.ticks.machine import Event, Key, Machine, by_changes
from eventide.lars.ticks.rows import Row
from eventide.lars.values import Value, ground_text, python_value
from eventide.notebook import changes_html
from eventide.syntax.lars_trees import LarsTree, Predicate
from eventide.syntax.terms import Number

MANY = 2000
"""With more new facts than this, an advance is evaluated by columns."""

Fact = tuple[int, Predicate, Row]
LATE = pa.schema([("fact", pa.string()), ("time", pa.int64())])


@dataclass(frozen=True)
class LarsChanges:
    """What is new at a query time. Intervals are `[start, end)`; an open one reaches the query time.

    `contradictions` are the new time-points at which a contradiction holds, with its rules.
    """

    query_time: int
    contradictions: dict[int, list[str]]
    _came: list[tuple[Predicate, Row, int, int | None]] = field(repr=False)
    _went: list[tuple[Predicate, Row, int, int | None]] = field(repr=False)
    _late: Sequence[Fact] = field(repr=False)
    _rules: dict[str, str] = field(repr=False, default_factory=dict)

    @property
    def rows(self) -> Sequence[tuple[Predicate, Row, int, int | None]]:
        """The rows that came, as values: predicate, arguments, start, end."""
        return self._came

    @property
    def late(self) -> pa.Table:
        """The facts of time-points that had been told already, and are not used: `fact, time`."""
        return pa.table({"fact": [ground_text(predicate[0], row) for _, predicate, row in self._late],
                         "time": [time for time, _, _ in self._late]}, schema=LATE)

    @property
    def added(self) -> pa.Table:
        """The rows that came: `fluent, args, value, start, end`."""
        return _table(self._came, self._rules)

    @property
    def removed(self) -> pa.Table:
        """The rows that went: open intervals that have ended."""
        return _table(self._went, self._rules)

    def _repr_html_(self) -> str:
        return changes_html(self)


class Retained:
    """The facts that can still matter: those in time windows, and the last ones that windows of tuples count."""

    def __init__(self, compiled: Compiled) -> None:
        self.lookback = compiled.lookback
        self._recent: deque[tuple[int, Fact]] = deque()
        self._number = 0
        self._windows: dict[tuple[Predicate | None, tuple[int, ...]], int] = {}
        for predicate, window in compiled.tuple_windows:
            key = (None, ()) if window.kind == "tuple" else (predicate, window.by)
            self._windows[key] = max(window.size, self._windows.get(key, 0))
        self._last: dict[tuple[object, ...], deque[tuple[int, Fact]]] = {}

    def add(self, fact: Fact) -> None:
        """One more fact, not earlier than the others."""
        self._number += 1
        self._recent.append((self._number, fact))
        for (predicate, by), size in self._windows.items():
            if predicate is None or predicate == fact[1]:
                key = predicate, by, tuple(fact[2][place] for place in by)
                self._last.setdefault(key, deque(maxlen=size)).append((self._number, fact))

    def forget(self, query: int) -> None:
        """What is too old for all time windows at a query time goes."""
        if self.lookback is not None:
            while self._recent and self._recent[0][1][0] + self.lookback < query:
                self._recent.popleft()

    def facts(self) -> list[Fact]:
        """All of them, in order of arrival."""
        found = dict(self._recent)
        for kept in self._last.values():
            found.update(kept)
        return [found[number] for number in sorted(found)]

    def since(self, query: int) -> int:
        """From which time-point on a stretch after the query time must be evaluated."""
        if self.lookback is None or any(len(kept) < kept.maxlen for kept in self._last.values()  # type: ignore[operator]
                                        ) or len(self._last) < len(self._windows):
            return 0
        oldest = [kept[0][1][0] for kept in (*self._last.values(), self._recent) if kept]
        return max(0, min(query + 1 - self.lookback, *oldest)) if oldest else max(0, query + 1 - self.lookback)


class LarsSession:
    """A stratified program over a stream; time begins at 0. Make one with `program.session()`.

    >>> from eventide.syntax.lars import parse
    >>> session = LarsSession(parse("busy(X) :- p(X) [3].").tree)
    >>> session.insert([(2, ["p(u)"])])
    >>> session.advance(to=4).added.select(["fluent", "args", "start", "end"]).to_pylist()
    [{'fluent': 'busy', 'args': 'u', 'start': 2, 'end': None}]
    >>> session.advance(to=9).added.select(["fluent", "args", "start", "end"]).to_pylist()
    [{'fluent': 'busy', 'args': 'u', 'start': 2, 'end': 6}]
    """

    def __init__(self, tree: LarsTree, inputs: Iterable[Predicate] = (), *, wanted: Sequence[Predicate] | None = None,
                 contradictions: str = "discard", most_by_ticks: int = MANY) -> None:
        self.tree, self.wanted, self.most_by_ticks = tree, wanted, most_by_ticks
        self.discards, self.flags = contradictions == "discard", contradictions == "flag"
        """Whether contradictions leave no answer, or are rows; otherwise (`apart`) they are only told as such."""
        self.query_time = -1
        self.late_facts = 0
        derived = {rule.head.predicate for rule in tree.rules if rule.head is not None}
        self._inputs = dict.fromkeys([*inputs, *(lit.predicate for rule in tree.rules for lit in rule.literals
                                                 if lit.predicate not in derived)])
        self._waiting: list[Fact] = []
        self._texts: dict[str, tuple[Predicate, Row]] = {}
        self._holding: dict[tuple[Key, Row], None] = {}
        self._violated: dict[tuple[str, Row], None] = {}
        self._begun: dict[tuple[Predicate, Row], int] = {}
        self._machine: Machine | None = None
        self._compile()
        self.retained = Retained(self.compiled)

    def _compile(self) -> None:
        self.compiled = compile_tree(self.tree, list(self._inputs))
        self._columns = Evaluation(self.compiled)
        self._machine = None
        self._changes = by_changes(self.compiled)

    # -- facts --------------------------------------------------------------------------------------------------------

    def insert(self, batch: object) -> None:
        """Hand in facts: a list of time-points with facts, a file, or tables; they count from their time-point on."""
        if isinstance(batch, list | tuple) and all(
                isinstance(item, list | tuple) and len(item) == 2 and type(item[0]) is int for item in batch):
            self._waiting += [(time, *self._fact(text)) for time, texts in batch for text in texts]
            return
        for time, name, values in in_order(read(batch)):
            self._waiting.append((time, (name, len(values)), tuple(map(python_value, values))))

    def _fact(self, text: object) -> tuple[Predicate, Row]:
        known = self._texts.get(text) if isinstance(text, str) else None
        if known is None:
            found = fact_of(text) if isinstance(text, str) else None
            if found is None:
                raise InputError(f"{text!r} is no fact; a fact is a name with values, such as p(a,3)")
            name, row = found
            if len(self._texts) > 100_000:  # not a memory of everything that ever came
                self._texts.clear()
            known = self._texts[str(text)] = (name, len(row)), tuple(map(python_value, row))
        return known

    # -- time ---------------------------------------------------------------------------------------------------------

    def advance(self, to: int) -> LarsChanges:
        """Go on to a time-point and say what changed since the last one."""
        if to < self.query_time:
            raise EventideError(f"cannot advance to {to}: the session is at {self.query_time} already")
        waiting = self._waiting
        try:
            facts, late = self._due(to)
            self._take_in(facts)
            by_columns = not self._changes or len(facts) > self.most_by_ticks
            events = self._by_columns(facts, to) if by_columns else self._by_ticks(facts, to)
        except BaseException:  # nothing half-done: facts wait again
            self._waiting, self._machine = waiting, None
            raise
        changes = self._told(events, to, late)
        for fact in facts:
            self.retained.add(fact)
        self.query_time = to
        self.late_facts += len(late)
        self.retained.forget(to)
        return changes

    def _take_in(self, facts: Sequence[Fact]) -> None:
        """Facts of predicates that rules or the program's own facts give too make another plan."""
        unknown = {predicate for _, predicate, _ in facts} - self._inputs.keys()
        if unknown & {*self.compiled.derived, *self.compiled.background}:
            self._inputs.update(dict.fromkeys(sorted(unknown)))
            self._compile()

    def _due(self, to: int) -> tuple[list[Fact], list[Fact]]:
        """The waiting facts up to a time-point, in order of arrival, and those that are too late; each once."""
        due = [fact for fact in self._waiting if self.query_time < fact[0] <= to]
        late: list[Fact] = []
        if len(due) < len(self._waiting):
            late = [fact for fact in self._waiting if fact[0] <= self.query_time]
        self._waiting = [fact for fact in self._waiting if fact[0] > to] if len(due) < len(self._waiting) else []
        due.sort(key=itemgetter(0))
        return list(dict.fromkeys(due)), list(dict.fromkeys(late))

    def _by_ticks(self, facts: Sequence[Fact], to: int) -> list[tuple[int, list[Event]]]:
        """What comes and goes at the time-points up to `to`, one after the other."""
        if self._machine is None:
            self._machine = self._replayed()
        return list(_stepped(self._machine, facts, to))

    def _replayed(self) -> Machine:
        """A machine that has seen the facts that still matter."""
        machine = Machine(self.compiled)
        deque(_stepped(machine, self.retained.facts(), self.query_time), maxlen=0)
        return machine

    def _by_columns(self, facts: Sequence[Fact], to: int) -> list[tuple[int, list[Event]]]:
        """The same, by one evaluation of the new stretch and what it looks back to."""
        self._machine = None
        low = self.query_time + 1
        first = self.retained.since(self.query_time)
        tables, arrivals = _columns([*self.retained.facts(), *facts], self.compiled)
        answers = self._columns.run(tables, to, first, arrivals)
        changes: dict[int, list[Event]] = {}
        before = dict(self._holding)
        relations: list[tuple[Key, object]] = [(p, answers.now(p)) for p in self.compiled.derived]
        relations += [(name, answers.contradictions(name)) for name in self.compiled.contradictions]
        for key, relation in relations:
            for values, start, end in answers.rows(relation):  # type: ignore[arg-type]
                row = tuple(map(python_value, values))
                if end is not None and end <= low:
                    continue
                if start > low or (key, row) not in before:
                    changes.setdefault(max(start, low), []).append((1, key, row))
                else:
                    del before[key, row]
                if end is not None and end <= to:
                    changes.setdefault(end, []).append((-1, key, row))
        for key, row in before:
            changes.setdefault(low, []).append((-1, key, row))
        return sorted(changes.items())

    # -- what is told -------------------------------------------------------------------------------------------------

    def _told(self, events: Iterable[tuple[int, list[Event]]], to: int, late: Sequence[Fact]) -> LarsChanges:
        came: list[tuple[Predicate, Row, int, int | None]] = []
        went: list[tuple[Predicate, Row, int, int | None]] = []
        broken: dict[int, list[str]] = {}
        low, begun = self.query_time + 1, self._begun
        new: dict[tuple[Predicate, Row], None] = {}
        for t, found in events:
            self._note_contradictions(broken, low, t)
            low = t
            was_silent = self._silent()
            self._apply(found)
            if self._silent() or was_silent:
                found = self._all_at_once()
            for sign, key, row in found:
                if isinstance(key, str):
                    if not self.flags:
                        continue
                    key = (FLAG + key, len(row))
                elif self.wanted is not None and key not in self.wanted:
                    continue
                if sign > 0:
                    begun[key, row] = t
                    new[key, row] = None
                else:
                    start = begun.pop((key, row))
                    came.append((key, row, start, t))
                    if start <= self.query_time:
                        went.append((key, row, start, None))
        self._note_contradictions(broken, low, to + 1)
        came += [(*row, begun[row], None) for row in new if row in begun]
        return LarsChanges(to, broken, came, went, late, self._rules())

    def _rules(self) -> dict[str, str]:
        """The texts of the contradictions, by the names of their rows."""
        return {FLAG + name: str(rule) for name, rule in self.compiled.contradictions.items()}

    def _silent(self) -> bool:
        """Whether there is no answer now, because of a contradiction."""
        return self.discards and bool(self._violated)

    def _apply(self, events: Iterable[Event]) -> None:
        """Note what holds now."""
        for sign, key, row in events:
            if sign > 0:
                self._holding[key, row] = None
                if isinstance(key, str):
                    self._violated[key, row] = None
            else:
                del self._holding[key, row]
                self._violated.pop((key, row), None)  # type: ignore[arg-type]

    def _all_at_once(self) -> list[Event]:
        """What begins or ends to be told when a contradiction goes or comes, or comes after another."""
        shown = set() if self._silent() else {(key, row) for key, row in self._holding if not isinstance(key, str)}
        events: list[Event] = [(-1, key, row) for key, row in self._begun if (key, row) not in shown]
        return events + [(1, key, row) for key, row in shown if (key, row) not in self._begun]

    def _note_contradictions(self, broken: dict[int, list[str]], low: int, high: int) -> None:
        for t in range(low, high) if self._violated else ():
            broken[t] = sorted({str(self.compiled.contradictions[key]) for key, _ in self._violated})

    def save(self) -> bytes:
        """All that is needed to go on later, with `program.restore`."""
        fluents = None if self.wanted is None else sorted({name for name, _ in self.wanted})
        return to_bytes(Snapshot(
            fingerprint(self.tree), {"fluents": fluents, "contradictions": "discard" if self.discards else "flag"},
            self.query_time, [(time, predicate[0], row) for time, predicate, row in self.retained.facts()],
            [(time, predicate[0], row) for time, predicate, row in self._waiting],
            [(key[0], row, None, start) for (key, row), start in self._begun.items()], self.late_facts))

    def resume(self, saved: Snapshot) -> None:
        """Become what was saved: facts that matter are seen again, rows keep their beginnings."""
        self._waiting = [(time, (name, len(row)), row) for time, name, row in saved.kept]
        if saved.query_time >= 0:
            self.advance(saved.query_time)
        self._begun = {((name, len(row)), row): start for name, row, _, start in saved.rows}
        self._waiting = [(time, (name, len(row)), row) for time, name, row in saved.waiting]
        self.late_facts = saved.late

    def holding(self) -> dict[str, list[Row]]:
        """The atoms that hold at the query time, by the name of their predicate."""
        found: dict[str, list[Row]] = {}
        for key, row in self._begun:
            found.setdefault(FLAG if key[0].startswith(FLAG) else key[0], []).append(row)
        return found

    def answer(self) -> pa.Table:
        """The atoms that hold at the query time, with the beginning of their open intervals."""
        return _table([(key, row, start, None) for (key, row), start in self._begun.items()], self._rules())


def _stepped(machine: Machine, facts: Sequence[Fact], to: int) -> Iterator[tuple[int, list[Event]]]:
    """The time-points at which something comes or is due."""
    arriving = deque((t, [(predicate, row) for _, predicate, row in group])
                     for t, group in groupby(facts, key=itemgetter(0)))
    while True:
        due = machine.due()
        t = min(arriving[0][0] if arriving else to + 1, due if due is not None else to + 1)
        if t > to:
            return
        new = arriving.popleft()[1] if arriving and arriving[0][0] == t else []
        found = machine.step(t, new)
        if found:
            yield t, found


def _columns(facts: Sequence[Fact], compiled: Compiled) -> tuple[dict[Predicate, FactTable], np.ndarray | None]:
    """Facts in order of arrival as tables, numbered."""
    found: dict[Predicate, list[tuple[int, int, Row]]] = {}
    for number, (time, predicate, row) in enumerate(facts):
        found.setdefault(predicate, []).append((number, time, row))
    tables = {
        predicate: FactTable(
            predicate[0], "event", np.array([time for _, time, _ in rows], np.int64),
            tuple(column_of([_plain(row[i]) for _, _, row in rows]) for i in range(predicate[1])),
            rows=np.array([number for number, _, _ in rows], np.int64))
        for predicate, rows in found.items()}
    return tables, np.array([time for time, _, _ in facts], np.int64) if compiled.counts_tuples else None


def _plain(value: Value) -> int | float | str:
    return value.value if isinstance(value, Number) else value


def _table(rows: Sequence[tuple[Predicate, Row, int, int | None]], rules: Mapping[str, str]) -> pa.Table:
    """Rows as a table; contradictions have their rule as the value."""
    names = [FLAG if key[0] in rules else key[0] for key, *_ in rows]
    return pa.table([
        pa.array(names, pa.string()).dictionary_encode().cast(SCHEMA.field(0).type),
        pa.array(["|".join(map(str, row)) for _, row, *_ in rows], pa.string()),
        pa.array([rules.get(key[0], "") for key, *_ in rows], pa.string()),
        pa.array([start for *_, start, _ in rows], pa.int64()), pa.array([end for *_, end in rows], pa.int64())],
        schema=SCHEMA)

