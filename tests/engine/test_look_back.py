"""What is decided long after it began: durations, and what their starts and ends bring about, however time is cut."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.engine.running import facts_of
from tests.oracle.sessions import rows_of

import eventide as ev

ON = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
holdsFor(long(X)=true, I) :- holdsFor(on(X)=true, J), intDurGreater(J, 3, I).
happensAt(heard(X), T) :- happensAt(reset(X), T).
"""
ALARM = ON + """
initiatedAt(alarm(X)=true, T) :- happensAt(start(long(X)=true), T).
terminatedAt(alarm(X)=true, T) :- happensAt(reset(X), T).
"""
NESTED = ALARM + """
holdsFor(longer(X)=true, I) :- holdsFor(alarm(X)=true, J), intDurGreater(J, 6, I).
holdsFor(brief(X)=true, I) :- holdsFor(alarm(X)=true, J), intDurLess(J, 6, I).
initiatedAt(call(X)=true, T) :- happensAt(start(longer(X)=true), T), \\+ happensAt(up(X), T).
terminatedAt(call(X)=true, T) :- happensAt(end(brief(X)=true), T).
terminatedAt(call(X)=true, T) :- happensAt(end(long(X)=true), T).
fi(call(X)=true, call(X)=false, 5).
"""
STREAM = pa.table({"time": [6, 8, 12, 13, 20, 21, 30, 33, 40, 47], "event": [
    "up", "reset", "down", "up", "down", "up", "reset", "down", "up", "reset"], "what": ["a"] * 10})


@pytest.mark.parametrize("rules", [ON, ALARM, NESTED], ids=["duration", "alarm", "nested"])
@pytest.mark.parametrize("end", [20, 33, 60])
@pytest.mark.parametrize(("window", "step"), [(5, 5), (5, 1), (5, 2), (3, 3), (1, 1), (9, 4), (10, 10), (60, 60)])
def test_windows_say_what_one_window_says(rules: str, end: int, window: int, step: int) -> None:
    program = ev.parse(rules)
    expected = program.run(STREAM, start=0, end=end).timeline()
    last = -(-end // step) * step  # the last query time: the timeline is as of then
    if last != end:
        facts = STREAM.filter(pc.less_equal(STREAM["time"], end))
        expected = program.run(facts, start=0, end=last).timeline()
    assert program.run(STREAM, start=0, end=end, window=window, step=step).timeline() == expected


def test_a_duration_that_is_reached_between_two_windows() -> None:
    facts = pa.table({"time": [6, 8, 40], "event": ["up", "reset", "down"], "what": ["a"] * 3})
    found = ev.parse(ALARM).run(facts, start=0, end=20, window=5, step=5).timeline()
    assert found["alarm(a)=true"] == [(7, 9)]
    assert found["long(a)=true"] == [(7, None)]


@pytest.mark.parametrize("evaluation", ["auto", "ranges", "keys", "full"])
def test_a_front_that_reaches_further_back_than_a_piece_does_not_reach_what_it_has_forgotten(evaluation: str) -> None:
    """A duration is decided long after its start; another fluent of the same entity has forgotten that time."""
    program = ev.parse("""
    initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
    terminatedAt(on(X)=true, T) :- happensAt(end(seen(X, Y)=true), T).
    holdsFor(brief(X)=true, I) :- holdsFor(on(X)=true, I0), intDurLess(I0, 6, J), intDurGreater(J, 2, I).
    happensAt(marked(X), T) :- happensAt(mark(X, _), T).
    initiatedAt(known(X)=true, T) :- happensAt(marked(X), T).
    """)
    facts = [("up", "m", 9), ("mark", "m", "o", 4), ("mark", "n", "m", 13), ("up", "n", 12), ("mark", "o", "o", 20)]
    expected = answer_of(program, facts, 21)
    session = program.session(window=2, start=-1, evaluation=evaluation)
    held: set[tuple[object, ...]] = set()
    for query in range(1, 22, 2):
        due = [fact for fact in facts if query - 2 < fact[-1] <= query]
        if due:
            session.insert(facts_of([(("event", name, tuple(args), time), None) for name, *args, time in due]))
        changes = session.advance(query)
        held = (held - set(rows_of(changes.removed))) | set(rows_of(changes.added))
    assert held == expected


def answer_of(program: ev.Program, facts: list[tuple[object, ...]], end: int) -> set[tuple[object, ...]]:
    """The rows of one window."""
    given = facts_of([(("event", name, tuple(args), time), None) for name, *args, time in facts])
    return set(rows_of(program.run(given, start=-1, end=end).to_arrow()))


def test_a_deadline_far_beyond_the_time_that_is_laid_out() -> None:
    program = ev.parse("initiatedAt(on(X)=true, T) :- happensAt(up(X), T).\nfi(on(X)=true, on(X)=over, 100000).")
    session = program.session(window=5)
    session.insert(facts_of([(("event", "up", ("a",), 3), None)]))
    held: set[tuple[object, ...]] = set()
    for query in (*range(5, 200, 5), 100_003):
        changes = session.advance(query)
        held = (held - set(rows_of(changes.removed))) | set(rows_of(changes.added))
    assert held == {("on", "a", "true", 4, 100_004), ("on", "a", "over", 100_004, None)}
