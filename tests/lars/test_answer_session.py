"""Sessions of programs with several answers: whatever the steps, the changes add up to what a run says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.oracle.lars_text import Shape, programs, streams

import eventide as ev
from eventide.lars.answer_session import AnswerSession

END = 8
half = examples(1 / 2)


def rows(table: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=str)


@half
@given(programs(Shape(stratified=False, contradictions=True)), streams(7, 3), st.sets(st.integers(0, END - 1)),
       st.sampled_from(["first", "all", "cautious", "brave"]), st.sampled_from(["discard", "flag"]))
def test_changes_add_up_to_a_run(text: str, stream: list[tuple[int, list[str]]], steps: set[int], models: Any,
                                 contradictions: Any) -> None:
    program: Any = ev.parse(text, language="lars")
    session = program.session(models=models, contradictions=contradictions)
    if not isinstance(session, AnswerSession):
        return
    held: list[tuple[Any, ...]] = []
    without = []
    before = -1
    for to in [*sorted(steps), END]:
        if to % 3 == 0:
            session = program.restore(session.save())
        session.insert([(t, facts) for t, facts in stream if before < t <= to])
        changes = session.advance(to=to)
        for row in rows(changes.removed):
            held.remove(row)
        held += rows(changes.added)
        without += [t for gap in changes.no_answer for t in range(gap.start, gap.end)]
        before = to
    wanted = program.run(stream, end=END, models=models, contradictions=contradictions)
    assert sorted(held, key=str) == rows(wanted.to_arrow())
    assert without == [t for gap in wanted.no_answer for t in range(gap.start, gap.end)]


@half
@given(programs(Shape(contradictions=True)), streams(7, 3), st.sets(st.integers(0, END - 1)),
       st.sampled_from(["discard", "flag"]))
def test_stratified_sessions_go_on_from_what_was_saved(text: str, stream: list[tuple[int, list[str]]], steps: set[int],
                                                       contradictions: Any) -> None:
    program: Any = ev.parse(text, language="lars")
    sessions = [program.session(contradictions=contradictions) for _ in range(2)]
    for session in sessions:
        session.insert(stream)
    for to in [*sorted(steps), END]:
        sessions[1] = program.restore(sessions[1].save())
        one, other = (session.advance(to=to) for session in sessions)
        assert (rows(one.added), rows(one.removed)) == (rows(other.added), rows(other.removed))
        assert one.contradictions == other.contradictions


def test_what_is_no_saved_session_is_refused() -> None:
    program: Any = ev.parse("a :- p [3].", language="lars")
    state = program.session().save()
    for wrong, message in ((b"x", "no saved LARS session"), (state[:-1], "damaged"),
                           (state.replace(b"session 1", b"session 7"), "another version")):
        with pytest.raises(ev.EventideError, match=message):
            program.restore(wrong)
    other: Any = ev.parse("a :- p [4].", language="lars")
    with pytest.raises(ev.EventideError, match="another program"):
        other.restore(state)


def test_facts_that_come_late_are_told() -> None:
    program: Any = ev.parse("a(X) :- p(X) [3], not b(X). b(X) :- p(X) [3], not a(X).", language="lars")
    session = program.session(models="brave")
    session.advance(to=5)
    session.insert([(3, ["p(u)"]), (6, ["p(v)"])])
    changes = session.advance(to=6)
    assert changes.late.to_pylist() == [{"fact": "p(u)", "time": 3}]
    assert [row["args"] for row in changes.added.to_pylist()] == ["v", "v"]


def test_facts_of_predicates_that_rules_conclude_may_come_at_any_time() -> None:
    program: Any = ev.parse("a(X) :- p(X) [3], not b(X) [2]. b(X) :- p(X) [3], not a(X).", language="lars")
    session = program.session(models="brave")
    session.insert([(1, ["p(u)"])])
    session.advance(to=2)
    session.insert([(3, ["b(u)"])])
    changes = session.advance(to=3)
    assert [(row["fluent"], row["start"], row["end"]) for row in changes.added.to_pylist()] == [("a", 1, 3)]
