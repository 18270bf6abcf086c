"""Why a fluent changed between two query times: which facts came or were taken back meanwhile that made it so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eventide.analysis.patterns import leaf_count, name_of
from eventide.errors import InputError
from eventide.explanation.asking import Explainer
from eventide.explanation.proof import Fact, Proof, Reason
from eventide.explanation.proving import Leaves, pair_text, when
from eventide.explanation.reduction import cost_of, stretches_in, times_in
from eventide.explanation.worlds import Case, FactId, Stretch, cell
from eventide.formats.facts import Facts, FactTable, chosen

MOST_REPLAYS = 2000
_FLUENT = {"was": "held", "is": "holds", "would": "hold"}
_EVENT = {"was": "happened", "is": "happens", "would": "happen"}


@dataclass(frozen=True)
class Operation:
    """What happened to a fact: it came, or it was taken back."""

    fact: FactId
    came: bool


def explain_change(program: Any, events: object, fluent: str, between: tuple[int, int], *, start: int | None = None,
                   tick: int = 1, initially_at: int = 0, ties: str = "termination", **options: Any) -> Proof:
    """What came or went between two query times that changed the intervals of a fluent, and why they are what they are.

    The answers compared are those over all facts that have arrived by each of the two times. The facts of the proof are
    a minimal set: with them, and no others that came meanwhile, the change is the same; without one of them it is not.

    >>> import eventide as ev
    >>> import pyarrow as pa
    >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).", source="rules.ec")
    >>> events = pa.table({"time": [3, 5], "event": ["win", "win"], "who": ["ann", "bob"], "arrival": [12, 13]})
    >>> print(explain_change(program, events, "rich(ann)=true", (10, 20)))
    rich(ann)=true changed between 10 and 20: it held nowhere, it holds from 4 on
    ├─ win(ann) at 3 came at 12: without it, it would hold nowhere  [<Table>, row 1]
    └─ rich(ann)=true holds at 4, from 4 on
       └─ rich(ann)=true is initiated at 3
          └─ by rule rules.ec:1 initiatedAt(rich(X)=true, T) with X=ann, T=3
             └─ win(ann) happens at 3  [<Table>, row 1]
    <BLANKLINE>
    1 fact of the input, none of which can be left out
    """
    first, last = between
    if first >= last:
        raise InputError(f"the first query time ({first}) must be before the second ({last})")
    known: dict[str, Any] = {"tick": tick, "initially_at": initially_at, "ties": ties}
    after = Explainer(program, events, start=start, end=last, **known, **options)
    template, texts = after.question(fluent)
    later = after.case(template)
    low = later.run.start
    if first < low:
        raise InputError(f"the first query time ({first}) is before the start of the run ({low}); an earlier "
                         "start can be given (--start)")
    before = Explainer(program, after.facts, start=low, end=first, **known)
    return _Change(before, after, template, texts, between).proof(fluent)


class _Change:
    """Two answers about one fluent, and the facts that stand between them."""

    def __init__(self, before: Explainer, after: Explainer, template: str, texts: list[str],
                 between: tuple[int, int]) -> None:
        self.before, self.after, self.template, self.between = before, after, template, between
        self.is_fluent = len(texts) > leaf_count(template)
        rows = [_rows(explainer.case(template)) for explainer in (before, after)]
        self._table_rows, facts = _both(after.facts, *rows)
        settings = replace(after.settings, start=after.case(template).run.start, end=between[1])
        wanted = sorted({template, *after.program.model.parts.get(template, {})})
        self.case = Case(after.program, facts, settings, wanted)
        self.leaves: Leaves = after.leaves(self.case, template, texts, "f" if self.is_fluent else "e")
        places = {self._row(id_): id_ for id_ in self.case.all_facts}
        old, new = ({(name, row) for name, found in each.items() for row in found} for each in rows)
        self._base = {places[row] for row in old if row in places}
        self.operations = [*(Operation(places[row], True) for row in sorted(new - old) if row in places),
                           *(Operation(places[row], False) for row in sorted(old - new) if row in places)]
        self.replays = 0

    def _row(self, id_: FactId) -> tuple[str, int]:
        """The row of a fact in its table, before any were chosen."""
        name, place = id_
        probability = self.case.streams[name].probability
        assert probability is not None
        return name, int(self._table_rows[name][int(probability[place])])

    def answer(self, operations: Sequence[Operation]) -> list[Stretch]:
        """The intervals at the second query time if only these operations had come since the first."""
        facts = set(self._base)
        for operation in operations:
            (facts.add if operation.came else facts.discard)(operation.fact)
        self.replays += cost_of(self.case, len(facts))
        return self._stretches(self.case.world(sorted(facts)))

    def _stretches(self, world: Any) -> list[Stretch]:
        if self.is_fluent:
            return stretches_in(world, self.template, self.leaves)
        return [Stretch(time, time + 1) for time in times_in(world, self.template, self.leaves)]

    def proof(self, question: str) -> Proof:
        """The change and its causes."""
        first, last = self.between
        was, now = (self._stretches(e.case(self.template).whole) for e in (self.before, self.after))
        text = pair_text(self.template, self.leaves) if self.is_fluent else question
        run = {"start": self.case.run.start, "between": list(self.between), **{
            name: getattr(self.after.settings, name) for name in ("tick", "initially_at", "ties")}}
        if was == now:
            claim = f"{text} is the same at {first} and {last}: it {self._told(now, 'is')}"
            why = () if now else self.after.why(question, last).reason.reasons
            return Proof(text, last, False, Reason("note", claim, why, holds=False), run=run)
        found = _smallest(self.operations, lambda few: self.answer(few) == now, lambda: self.replays < MOST_REPLAYS)
        claim = f"{text} changed between {first} and {last}: it {self._told(was, 'was')}, it {self._told(now, 'is')}"
        found.sort(key=lambda operation: (self.case.fact(operation.fact).time, operation.fact))
        causes = [self._cause(operation, found) for operation in found] or [
            Reason("note", "no fact that came or went has to do with it: time went on")]
        causes.append(self.after.why(question, _first_difference(was, now)).reason)
        facts = tuple(self._fact(operation) for operation in found)
        return Proof(text, last, True, Reason("holds", claim, tuple(causes), time=last), facts,
                     self.replays < MOST_REPLAYS, run)

    def _fact(self, operation: Operation) -> Fact:
        """A fact as it stands in the input, which the facts of the case are chosen from."""
        name, row = self._row(operation.fact)
        table = self.after.facts.tables[name_of(name), leaf_count(name)]
        source, number = table.place(row)
        return replace(self.case.fact(operation.fact), source=source, row=number)

    def _cause(self, operation: Operation, found: Sequence[Operation]) -> Reason:
        fact = self._fact(operation)
        name, row = self._row(operation.fact)
        table = self.after.facts.tables[name_of(name), leaf_count(name)]
        happened = f"came at {_arrival(table, row)}" if operation.came else self._taken_back(table, row)
        rest = self.answer([other for other in found if other is not operation])
        return Reason("needed", f"{fact} at {fact.time} {happened}: without {'it' if operation.came else 'that'}, it "
                      f"would {self._told(rest, 'would')}", fact=fact, time=fact.time)

    def _taken_back(self, table: FactTable, row: int) -> str:
        """That a fact was taken back, when and where: by the last row that says so up to the second query time."""
        assert table.op is not None
        columns = [column for column in (*table.args, table.value, table.end) if column is not None]
        alike = [other for other in np.flatnonzero((table.op < 0) & (table.time == table.time[row])).tolist()
                 if all(cell(column, other) == cell(column, row) for column in columns)
                 and _arrival(table, other) <= self.between[1]]
        last = max(alike, key=lambda other: _arrival(table, other))
        source, number = table.place(last)
        place = Fact("", (), source=source, row=number).place
        return f"was taken back at {_arrival(table, last)}{f' by {place}' if place else ''}"

    def _told(self, found: Sequence[Stretch], tense: str) -> str:
        """When it is so, as a sentence goes on: `held nowhere`, `would happen at 3, at 5`."""
        forms = _FLUENT if self.is_fluent else _EVENT
        if not found:
            return f"{forms[tense]} nowhere" if self.is_fluent else f"never {forms[tense]}"
        times = [when(*stretch).removeprefix("holds ") if self.is_fluent else f"at {stretch.start}"
                 for stretch in found]
        return f"{forms[tense]} {', '.join(times)}"


def _arrival(table: FactTable, row: int) -> int:
    """When a row of a table is known: as it arrives, but not before it is so."""
    time = int(table.time[row])
    return time if table.arrival is None else max(time, int(table.arrival[row]))


def _rows(case: Case) -> dict[str, set[int]]:
    """The rows of the tables that take part in a run, by input."""
    return {name: set(stream.probability.astype(np.int64).tolist()) for name, stream in case.streams.items()
            if stream.probability is not None}


def _both(facts: Facts, *rows: dict[str, set[int]]) -> tuple[dict[str, list[int]], Facts]:
    """The facts of both runs as if all had come at once, and which rows these are."""
    tables, taken = {}, {}
    for name in rows[0]:
        wanted = sorted(set().union(*(each.get(name, set()) for each in rows)))
        key = name_of(name), leaf_count(name)
        if key in facts.tables and wanted:
            table = chosen(facts.tables[key], np.array(wanted, np.int64))
            tables[key], taken[name] = replace(table, op=None, arrival=None), wanted
    return taken, Facts(tables)


def _smallest(operations: Sequence[Operation], is_enough: Callable[[Sequence[Operation]], bool],
              may_go_on: Callable[[], bool]) -> list[Operation]:
    """Few operations that are enough: pieces are left out as long as the rest is, at last one by one.

    As in `reduction`: delta debugging (Zeller and Hildebrandt 2002) with the tests of complements alone.
    """
    kept, size = list(operations), max(len(operations), 1)
    while may_go_on():
        at, shorter = 0, False
        while at < len(kept) and may_go_on():
            fewer = kept[:at] + kept[at + size:]
            if is_enough(fewer):
                kept, shorter = fewer, True
            else:
                at += size
        if size == 1 and not shorter:
            break
        size = max(size // 2, 1)
    return kept


def _first_difference(was: Sequence[Stretch], now: Sequence[Stretch]) -> int:
    """The first time-point at which two answers differ."""
    edges = sorted({t for s in (*was, *now) for t in s if t is not None})

    def at(found: Sequence[Stretch], time: int) -> bool:
        return any(s.start <= time and (s.end is None or time < s.end) for s in found)

    return next((t for t in edges if at(was, t) != at(now, t)), edges[0])
