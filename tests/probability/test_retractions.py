"""Uncertain facts that come late, twice, or are taken back: at every query time the rows of a run from scratch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.probability.worlds import END, Case, cases, facts_of, uncertain_text

import eventide as ev
from eventide.formats.facts import Facts

LAST = END + 3
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Operation:
    """One fact that is inserted or taken back; signed ones come in a table with `op`."""

    name: str
    fact: dict[str, Any]
    arrival: int
    takes: bool
    signed: bool

    def table(self) -> dict[str, pa.Table]:
        """As it is handed in."""
        given = {**self.fact, "arrival": self.arrival} | ({"op": "-" if self.takes else "+"} if self.signed else {})
        return {self.name: pa.table({name: [value] for name, value in given.items()})}

    @property
    def identity(self) -> Row:
        """What makes two facts the same."""
        return (self.name, *(value for name, value in self.fact.items() if name != "probability"))


@st.composite
def operations(draw: st.DrawFn, case: Case, window: int) -> list[Operation]:
    """Each fact is inserted once or twice, late or not, and perhaps taken back, in any order."""
    found: list[Operation] = []
    for name, table in facts_of(case).items():
        for fact in table.to_pylist():
            for _ in range(draw(st.sampled_from((1, 1, 2, 3)))):
                # an interval that reaches out of the window counts with a part of it: these are always in time
                delay = draw(st.sampled_from((0, 0, 1, 2, 5))) if "end" not in fact else 0
                p = {} if "probability" not in fact else {"probability": draw(st.sampled_from((0.2, 0.5, 1.0)))}
                found.append(Operation(name, {**fact, **p}, fact["time"] + delay, draw(st.booleans()), draw(
                    st.booleans())))
    return draw(st.permutations(found))


def effective(log: list[Operation], query: int, window: int) -> dict[str, pa.Table]:
    """The facts after all operations by a query time, one operation after the other."""
    there: dict[Row, list[Operation]] = {}
    for each in sorted(log, key=lambda each: each.arrival):
        in_time = each.arrival - each.fact["time"] < window
        if each.arrival <= query and in_time:
            known = there.setdefault(each.identity, [])
            if each.takes:
                known.clear()
            elif not each.signed or not known:
                known.append(each)
    tables: dict[str, list[dict[str, Any]]] = {}
    for known in there.values():
        for each in known:
            tables.setdefault(each.name, []).append(each.fact)
    return {name: pa.Table.from_pylist(rows) for name, rows in tables.items()}


def rows_of(table: pa.Table) -> list[Row]:
    return [tuple(row.values()) for row in table.to_pylist()]


@settings(max_examples=20)
@given(cases(), st.sampled_from((2, 4, 20)), st.sampled_from([None, "0.4"]), st.data())
def test_every_answer_is_that_of_a_run_from_scratch(case: Case, window: int, threshold: str | None,
                                                    data: st.DataObject) -> None:
    program = ev.parse(uncertain_text(case))
    log = data.draw(operations(case, window))
    options: dict[str, Any] = {"start": 0, "probabilistic": True, "threshold": threshold}
    session = program.session(window=window, **options)
    for each in log:
        hand_in = session.retract if each.takes and not each.signed else session.insert
        hand_in(each.table())
    held: Counter[Row] = Counter()
    for query in range(1, LAST + 1):
        changes = session.advance(to=query)
        held.subtract(rows_of(changes.removed))
        held.update(rows_of(changes.added))
        assert set(held.values()) <= {0, 1}  # what is taken away was there, and nothing comes twice
        held = +held
        whole = program.run(effective(log, query, window) or Facts(), end=query, **options).to_arrow()
        ours, theirs = (sorted(rows, key=lambda row: repr(row[:-1])) for rows in (held, rows_of(whole)))
        assert [row[:-1] for row in ours] == [row[:-1] for row in theirs]
        assert [row[-1] for row in ours] == pytest.approx([row[-1] for row in theirs], rel=0, abs=1e-12)
    too_late = sum(each.arrival - each.fact["time"] >= window for each in log)
    assert session.counts.too_late == too_late


def test_what_is_forgotten_is_not_taken_back() -> None:
    """Maximal intervals in bounded memory: all changes together are what the recogniser finds in the whole series."""
    program = ev.parse("""initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
        terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).""")
    times = list(range(1, 120, 3))
    facts = pa.table({"time": times, "event": ["win" if at % 4 < 2 else "lose" for at in range(len(times))],
                      "x": ["ann"] * len(times), "probability": [(0.9, 0.6, 0.95, 0.3)[at % 4] for at in times]})
    bound: dict[str, Any] = {"threshold": "0.6", "memory": 6, "durations": (5, 2)}
    session = program.session(window=9, start=0, probabilistic=True, **bound)
    session.insert(facts)
    held: Counter[Row] = Counter()
    for query in range(3, 121, 3):
        changes = session.advance(to=query)
        held.update(rows_of(changes.added))
        held.subtract(rows_of(changes.removed))
    series = [0.0] * 121
    for row in program.run(facts, start=0, end=120, probabilistic=True).to_arrow().to_pylist():
        for time in range(row["start"], 121 if row["end"] is None else row["end"]):
            series[time] = row["probability"]
    first = next(time for time, p in enumerate(series) if p)
    found = ev.probability.intervals(series[first:], **bound)
    wanted = {(start + first, end + first) for start, end in found.pairs()}
    assert {(row[3], 121 if row[4] is None else row[4]) for row in +held} == wanted
    assert len(wanted) > 5 and len(session.answer()) < len(wanted)
