"""What is decided long after it began: durations, and what their starts and ends bring about, however time is cut."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

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
