"""Sessions over uncertain facts: insertions, retractions, saving and restoring, and how much they hold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.probability.worlds import END, Case, cases, facts_of, uncertain_text

import eventide as ev
from eventide.errors import EventideError, InputError
from eventide.probability import Recogniser
from eventide.probability.recognition import UncertainRecognition

RICH = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
"""


def fact(time: int, name: str = "win", p: float = 0.5, who: str = "ann") -> pa.Table:
    return pa.table({"time": [time], "event": [name], "x": [who], "probability": [p]})


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    found = zip(*table.select(["args", "start", "end", "probability"]).to_pydict().values(), strict=True)
    return sorted(((*row[:-1], round(row[-1], 9)) for row in found), key=repr)


@settings(max_examples=25)
@given(cases(), st.integers(1, 6), st.sampled_from([None, "0.4"]), st.data())
def test_saving_changes_nothing_and_facts_may_come_in_any_order(case: Case, window: int, threshold: str | None,
                                                                data: st.DataObject) -> None:
    program = ev.parse(uncertain_text(case))
    whole, parts = (program.session(window=window, start=0, probabilistic=True, threshold=threshold) for _ in "ab")
    tables = facts_of(case)
    whole.insert(tables)
    single = [{name: table.slice(row, 1)} for name, table in tables.items() for row in range(len(table))]
    for each in data.draw(st.permutations(single)):
        parts.insert(each)
    for query in range(1, END + 1):
        expected, found = whole.advance(to=query), parts.advance(to=query)
        assert rows(found.added) == rows(expected.added)
        assert rows(found.removed) == rows(expected.removed)
        state = parts.save()
        parts = program.restore(state)
        assert parts.save() == state
    assert rows(whole.answer()) == rows(parts.answer())
    assert whole.counts == parts.counts


def test_insertions_and_retractions() -> None:
    session = ev.parse(RICH).session(window=10, start=0, probabilistic=True)
    session.insert(fact(1))
    session.insert(fact(1, p=0.2))  # another observation
    assert rows(session.advance(to=3).added) == [("ann", 2, None, 0.6)]
    session.retract(fact(1))  # takes the fact away however often it was inserted
    session.insert(fact(4, "win", 0.8))
    changes = session.advance(to=5)
    assert rows(changes.removed) == [("ann", 2, None, 0.6)]
    assert rows(changes.added) == [("ann", 5, None, 0.8)]
    session.retract(fact(2))
    session.advance(to=6)
    assert session.counts.unmatched == 1
    assert rows(session.window_answer()) == [("ann", 5, 7, 0.8)]
    with pytest.raises(EventideError, match="is at 6 already"):
        session.advance(to=4)


def test_an_interval_that_is_taken_back_late_loses_what_the_window_sees() -> None:
    program = ev.parse("collectIntervals(in(_)=true). holdsFor(seen(X)=true, I) :- holdsFor(in(X)=true, I).")
    session = program.session(window=5, start=0, probabilistic=True)
    period = {"in": pa.table({"time": [2], "end": [30], "value": ["true"], "x": ["a"], "probability": [0.5]})}
    session.insert(period)
    assert rows(session.advance(to=4).added) == [("a", 2, 30, 0.5)]
    session.retract(period)
    changes = session.advance(to=12)
    assert (rows(changes.removed), rows(changes.added)) == ([("a", 2, 30, 0.5)], [("a", 2, 8, 0.5)])


@pytest.mark.parametrize("options", [{}, {"threshold": "0.7", "memory": 4, "durations": (5, 2)}])
def test_what_is_held_is_bounded(options: dict[str, Any]) -> None:
    session = ev.parse(RICH).session(window=10, start=0, probabilistic=True, **options)
    held = []
    for time in range(1, 400, 3):
        session.insert(fact(time, "win" if time % 2 else "lose", 0.9))
        session.advance(to=time + 2)
        held.append(session.rows)
    assert max(held[100:]) <= max(held[:30]) < 40


def test_a_session_that_was_interrupted_is_as_before_or_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    program = ev.parse(RICH)
    session = program.session(window=10, start=0, probabilistic=True, threshold="0.3")
    session.insert(fact(1))
    session.advance(to=3)
    session.insert(fact(2))
    state = session.save()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(UncertainRecognition, "found", interrupted)
        session.advance(to=5)
    assert session.save() == state
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Recogniser, "peek", interrupted)
        session.advance(to=5)
    with pytest.raises(EventideError, match="restore a saved one"):
        session.advance(to=5)
    assert rows(program.restore(state).advance(to=5).added) == [("ann", 2, None, 0.6875)]


def test_what_makes_no_sense() -> None:
    program = ev.parse(RICH)
    for options, message in (({"threshold": 0.5}, "need probabilistic=True"),
                             ({"probabilistic": True, "memory": 4}, "give a threshold"),
                             ({"probabilistic": True, "horizon": 4}, "do not go with")):
        with pytest.raises(InputError, match=message):
            program.session(window=5, **options)  # type: ignore[call-overload]
    state = program.session(window=5, probabilistic=True, threshold=Fraction(1, 3)).save()
    assert program.restore(state).save() == state
    with pytest.raises(InputError, match="damaged"):
        program.restore(state[:-1])
    with pytest.raises(InputError, match="other rules"):
        ev.parse(RICH.replace("rich", "happy")).restore(state)
