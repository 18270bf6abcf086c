"""Times between the time-points of a coarser tick: where windows, starts and query times cut, the grid decides."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.engine.running import facts_of

import eventide as ev


def test_a_late_period_counts_from_the_first_time_point_inside_the_window() -> None:
    program = ev.parse("initiatedAt(seen(X)=true, T) :- happensAt(start(st(X)=hi), T).")
    session = program.session(window=10, tick=5, start=-5)
    session.insert(facts_of([(("interval", "st", ("a",), "hi", 45, 105), 54)]))
    assert [(row["fluent"], row["start"]) for row in session.advance(60).added.to_pylist()] == [("seen", 55)]


def test_initial_values_hold_from_the_first_time_point_after_the_start() -> None:
    program = ev.parse("initially(on=true).\ninitiatedAt(on=true, T) :- happensAt(up, T).")
    assert program.run({"up": pa.table({"time": [20]})}, start=4, tick=5).timeline() == {"on=true": [(5, None)]}
    assert program.session(start=4, tick=5).advance(20).added["start"].to_pylist() == [5]


@pytest.mark.parametrize("window", [None, 100])
def test_the_start_of_what_begins_with_the_first_fact_is_seen(window: int | None) -> None:
    program = ev.parse("buildFromPoints(pt(_)=true).\nhappensAt(began(X), T) :- happensAt(start(pt(X)=true), T).")
    session = program.session(tick=7, window=window)
    session.insert({"pt": pa.table({"time": [21, 35], "who": ["a", "a"], "value": ["true", "true"]})})
    assert session.advance(70).added["start"].to_pylist() == [14, 28]


def test_a_run_of_points_goes_on_until_the_next_time_point_has_passed() -> None:
    program = ev.parse("buildFromPoints(pt(_)=true).\ninitiatedAt(over(X)=true, T) :- happensAt(end(pt(X)=true), T).")
    points = {"pt": pa.table({"time": [120, 125], "who": ["a", "a"], "value": ["true", "true"]})}
    session = program.session(tick=5)
    session.insert(points)
    assert session.advance(126).added.num_rows == 0
    assert [(row["fluent"], row["start"]) for row in session.advance(130).added.to_pylist()] == [("over", 130)]
