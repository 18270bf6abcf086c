"""A session says at every query time what a run from scratch says, whatever comes late, twice, changed or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.engine.session_cases import (
    SESSION_FAMILIES,
    Operation,
    SessionCase,
    Step,
    batch_of,
    give,
    regular_cases,
    session_cases,
)
from tests.oracle.sessions import Row, SlowSession, rows_of

import eventide as ev
from eventide.engine.recognition import Counts

FORCED = ("full", "keys", "ranges")
many = examples(0.8)  # the four properties of all families come to 2,000 cases, with the large profile to 80,000
every_family = pytest.mark.parametrize("family", sorted(SESSION_FAMILIES))


class Wanted(NamedTuple):
    """What a session is to say at a query time."""

    rows: set[Row]
    in_window: set[Row]
    late: int


def expected(program: ev.Program, case: SessionCase) -> tuple[list[Wanted], Counts]:
    """What the slow session says at each step, and its counts in the end."""
    slow = SlowSession(program, **case.options)
    wanted = []
    for step in case.steps:
        give(slow, case, step.operations)
        late = slow.advance(to=step.query).late.num_rows
        wanted.append(Wanted(distinct(slow.answer()), distinct(slow.window_answer()), late))
    return wanted, slow.counts


def distinct(table: Any) -> set[Row]:
    """The rows of an answer, in which no row occurs twice."""
    rows = rows_of(table)
    assert len(set(rows)) == len(rows)
    return set(rows)


def follow(session: Any, case: SessionCase, wanted: tuple[list[Wanted], Counts],
           between: Callable[[Any, int], Any] = lambda session, moment: session) -> None:
    """Take a session through the steps and check all it says against what is wanted.

    `between` may put another session in its place before (moment 2i) and after (2i+1) it is given the facts of step i.
    """
    held: set[Row] = set()
    for number, (step, now) in enumerate(zip(case.steps, wanted[0], strict=True)):
        session = between(session, 2 * number)
        give(session, case, step.operations)
        session = between(session, 2 * number + 1)
        changes = session.advance(to=step.query)
        added, removed = distinct(changes.added), distinct(changes.removed)
        assert changes.query_time == step.query
        assert removed <= held and not added & held, f"at {step.query}"
        held = held - removed | added
        assert held == now.rows, f"at {step.query}"
        assert distinct(session.window_answer()) == now.in_window, f"in the window of {step.query}"
        assert still_needed(case, step.query, held) <= distinct(session.answer()) <= held, f"held at {step.query}"
        assert changes.late.num_rows == now.late, f"late at {step.query}"
    assert tallies(session.counts) == tallies(wanted[1])


def still_needed(case: SessionCase, query: int, rows: set[Row]) -> set[Row]:
    """The rows of an answer that reach into the window."""
    window = case.options["window"]
    return {row for row in rows if window is None or row[4] is None or row[4] > query - window + 1}


def tallies(counts: Counts) -> tuple[object, ...]:
    """What was left out, and how often the session advanced."""
    return counts.before_start, counts.too_late, counts.late_by_name, counts.unmatched, counts.queries


@every_family
@many
@given(data=st.data())
def test_changes_add_up_to_the_answer_from_scratch(family: str, data: st.DataObject) -> None:
    case = data.draw(session_cases(family))
    program = ev.parse(case.text)
    follow(program.session(**case.options), case, expected(program, case))


@every_family
@many
@given(data=st.data())
def test_windows_are_those_of_a_run(family: str, data: st.DataObject) -> None:
    """And with facts that arrive in time none is too late: a window shows its part of the one-window answer."""
    timely = data.draw(st.booleans(), "timely")
    case = data.draw(regular_cases(family, timely))
    program = ev.parse(case.text)
    wanted, counts = expected(program, case)
    follow(program.session(**case.options), case, (wanted, counts))
    assert not (timely and counts.too_late)
    assert [now.in_window for now in wanted] == windows_of_run(program, case)


def windows_of_run(program: ev.Program, case: SessionCase) -> list[set[Row]]:
    """What one run over all facts says at the query times of a case with one step."""
    facts = batch_of(case, tuple(operation for step in case.steps for operation in step.operations))
    last = case.steps[-1].query
    step = case.steps[0].query - case.options["start"]
    rows = program.run(facts, step=step, end=last, emit="windows", **case.options).to_arrow().to_pylist()
    return [set(rows_of_query(rows, step.query)) for step in case.steps]


def rows_of_query(rows: list[dict[str, Any]], query: int) -> list[Row]:
    return [(r["fluent"], r["args"], r["value"], r["start"], r["end"]) for r in rows if r["query_time"] == query]


@every_family
@many
@given(data=st.data())
def test_a_restored_session_goes_on_as_if_nothing_had_been(family: str, data: st.DataObject) -> None:
    case = data.draw(session_cases(family))
    moment = data.draw(st.integers(0, 2 * len(case.steps) - 1), "saved at")
    program = ev.parse(case.text)

    def restored(session: Any, now: int) -> Any:
        return ev.parse(case.text).restore(session.save()) if now == moment else session

    follow(program.session(**case.options), case, expected(program, case), restored)


@every_family
@many
@given(data=st.data())
def test_every_evaluation_gives_the_same(family: str, data: st.DataObject) -> None:
    case = data.draw(session_cases(family))
    program = ev.parse(case.text)
    wanted = expected(program, case)
    for evaluation in FORCED:
        follow(program.session(evaluation=evaluation, **case.options), case, wanted)


# The slow session and the check themselves

RULES = """
collectIntervals(in1(_)=true).
holdsFor(s(X)=true,I) :- holdsFor(in1(X)=true,I).
initiatedAt(f(X)=true,T) :- happensAt(e1(X),T).
"""
LONG = ("interval", "in1", ("a",), "true", 2, 30)
EVENT = ("event", "e1", ("a",), 4)


def slow_case(*steps: tuple[list[Operation], int]) -> SessionCase:
    return SessionCase(RULES, {"window": 10, "start": 0}, tuple(Step(tuple(given), query) for given, query in steps))


def answers(case: SessionCase) -> list[set[Row]]:
    return [now.rows for now in expected(ev.parse(case.text), case)[0]]


def test_an_interval_is_retracted_from_the_window_on() -> None:
    case = slow_case(([Operation(LONG, 2, 1)], 5), ([Operation(LONG, 20, -1)], 20), ([Operation(LONG, 24, 1)], 25))
    assert answers(case) == [{("s", "a", "true", 2, 30)}, {("s", "a", "true", 2, 11)},
                             {("s", "a", "true", 2, 11), ("s", "a", "true", 16, 30)}]


def test_operations_count_in_the_order_they_arrive() -> None:
    case = slow_case(([Operation(EVENT, 6, -1), Operation(EVENT, 5, 1)], 8), ([Operation(EVENT, 9, 1)], 13),
                     ([Operation(EVENT, 14, -1)], 14))
    assert answers(case) == [set(), {("f", "a", "true", 5, None)}, {("f", "a", "true", 5, None)}]
    assert expected(ev.parse(RULES), case)[1].late_by_name == {"e1(_)": 1}


class Forgetful(SlowSession):
    """A session that takes no retractions."""

    def retract(self, batch: object) -> None:
        pass


def test_the_check_finds_a_session_that_is_wrong() -> None:
    case = slow_case(([Operation(EVENT, 5, 1)], 6), ([Operation(EVENT, 7, -1)], 8))
    program = ev.parse(RULES)
    wanted = expected(program, case)
    follow(SlowSession(program, **case.options), case, wanted)
    with pytest.raises(AssertionError, match="at 8"):
        follow(Forgetful(program, **case.options), case, wanted)
