"""Retracted and revised facts in one run: `op` takes a fact away from when the retraction arrives."""

from __future__ import annotations

import pyarrow as pa
from tests.engine.running import shown

import eventide as ev

RULES = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
"""


def run(rows: list[tuple[int, str, str, int, str]], **options: object) -> ev.Result:
    """Rows are (time, event, entity, arrival, op)."""
    names = ("time", "event", "who", "arrival", "op")
    table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})
    return ev.parse(RULES).run(table, **options)  # type: ignore[arg-type]


def test_a_retracted_fact_has_no_effect() -> None:
    result = run([(3, "up", "a", 3, "+"), (5, "down", "a", 5, "+"), (5, "down", "a", 7, "-")])
    assert result.timeline() == {"on(a)=true": [(4, None)]}


def test_it_has_its_effect_until_the_retraction_arrives() -> None:
    result = run([(3, "up", "a", 3, "+"), (5, "down", "a", 5, "+"), (5, "down", "a", 12, "-")],
                 window=20, step=10, start=0, end=20, emit="windows")
    rows = result.to_arrow().to_pylist()
    assert shown([r for r in rows if r["query_time"] == 10])[0] == {"on(a)=true": [(4, 6)]}
    assert shown([r for r in rows if r["query_time"] == 20])[0] == {"on(a)=true": [(4, 21)]}


def test_a_revision_replaces_a_fact() -> None:
    result = run([(3, "up", "a", 3, "+"), (3, "up", "a", 4, "-"), (8, "up", "a", 4, "+")])
    assert result.timeline() == {"on(a)=true": [(9, None)]}


def test_equal_facts_are_one_and_can_come_back() -> None:
    result = run([(3, "up", "a", 3, "+"), (3, "up", "a", 3, "+"), (3, "up", "a", 4, "-")])
    assert result.timeline() == {}
    result = run([(3, "up", "a", 3, "+"), (3, "up", "a", 4, "-"), (3, "up", "a", 6, "+")])
    assert result.timeline() == {"on(a)=true": [(4, None)]}


def test_retractions_of_what_was_never_there_are_counted() -> None:
    result = run([(3, "up", "a", 3, "+"), (4, "up", "b", 4, "-")])
    assert result.timeline() == {"on(a)=true": [(4, None)]}
    assert result.counts.unmatched == 1


def test_a_retraction_that_comes_too_late_is_counted() -> None:
    rows = [(3, "up", "a", 3, "+"), (3, "up", "a", 25, "-"), (30, "up", "b", 30, "+")]
    result = run(rows, window=10, step=10, start=0, end=30)
    assert result.timeline() == {"on(a)=true": [(4, None)], "on(b)=true": [(31, None)]}
    assert result.counts.late_by_name == {"up(_)": 1}


def test_the_run_lasts_until_the_last_arrival() -> None:
    program = ev.parse("collectIntervals(i(_)=true).\nholdsFor(k(X)=true, I) :- holdsFor(i(X)=true, I).")
    table = pa.table({"time": [4], "end": [9], "arrival": [9], "event": ["i"], "value": ["true"], "who": ["a"]})
    assert program.run(table).timeline() == {"k(a)=true": [(4, 9)]}
