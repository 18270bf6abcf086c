"""Runs over windows go through a session: answers as they come, what they add up to, and the odd cases."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import eventide as ev
from eventide.engine.recognition import Settings
from eventide.formats.results import sorted_columns, writer_for
from eventide.results import _Held

RULES = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
collectIntervals(in(_)=true).
holdsFor(seen(X)=true, I) :- holdsFor(in(X)=true, I).
"""


def events(*rows: tuple[int, str, str, int, str]) -> pa.Table:
    """Rows are (time, event, entity, arrival, op)."""
    names = ("time", "event", "who", "arrival", "op")
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})


def periods(*rows: tuple[int, int, int, str]) -> pa.Table:
    """Rows are (start, end, arrival, op) of the input fluent."""
    names = ("time", "end", "arrival", "op")
    table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})
    for name, value in {"event": "in", "value": "true", "who": "a"}.items():
        table = table.append_column(name, pa.array([value] * len(rows)))
    return table


STREAM = events((3, "up", "a", 3, "+"), (8, "down", "a", 8, "+"), (8, "down", "a", 14, "-"), (12, "up", "b", 19, "+"),
                (17, "down", "a", 17, "+"), (2, "up", "c", 25, "+"), (31, "down", "b", 31, "+"))
OPTIONS = {"window": 10, "step": 5, "start": 0}


def test_answers_come_one_query_time_after_the_other() -> None:
    program = ev.parse(RULES)
    answers = program.answers(STREAM, Settings(**OPTIONS), emit="changes")  # type: ignore[arg-type]
    seen = [(answer.query_time, answer.table.num_rows, answers.counts.queries) for answer in answers]
    assert [query for query, _, _ in seen] == [5, 10, 15, 20, 25, 30, 35]
    assert [queries for _, _, queries in seen] == list(range(1, 8))
    whole = program.run(STREAM, emit="changes", **OPTIONS)  # type: ignore[arg-type]
    assert sum(rows for _, rows, _ in seen) == len(whole)


def test_late_facts_are_listed_with_their_query_time() -> None:
    answers = ev.parse(RULES).answers(STREAM, Settings(**OPTIONS))  # type: ignore[arg-type]
    assert [row for answer in answers for row in answer.late.to_pylist()] == [
        {"fact": "up", "args": "c", "value": "", "start": 2, "end": 3, "change": "+", "query_time": 25}]
    assert answers.counts.late_by_name == {"up(_)": 1}


def test_the_timeline_is_what_the_changes_add_up_to() -> None:
    program = ev.parse(RULES)
    held: set[tuple[object, ...]] = set()
    rows = program.run(STREAM, emit="changes", **OPTIONS).to_arrow().to_pylist()  # type: ignore[arg-type]
    for row in sorted(rows, key=lambda row: (row["query_time"], row["change"] == "+")):
        fact = tuple(row[name] for name in ("fluent", "args", "value", "start", "end"))
        (held.add if row["change"] == "+" else held.remove)(fact)
    timeline = program.run(STREAM, **OPTIONS).to_arrow().to_pylist()  # type: ignore[arg-type]
    assert {tuple(row.values()) for row in timeline} == held
    assert len(timeline) == len(held) == 2


def test_what_changes_add_up_to_is_settled_now_and_then() -> None:
    """Rows that came and went are not kept until the end."""
    program = ev.parse(RULES)
    session = program.session(window=10, start=0)
    held = _Held()
    held._limit = 3
    for time in range(1, 40):
        session.insert(events((time, "up" if time % 2 else "down", "a", time, "+")))
        held.apply(session.advance(to=time + 1))
        assert held._changes <= 2 * held._settled + 3
    assert held.rows().num_rows == 20


def test_a_retraction_takes_away_the_part_of_a_period_inside_the_window() -> None:
    result = ev.parse(RULES).run(periods((2, 30, 2, "+"), (2, 30, 18, "-")), window=10, step=10, start=0, end=20)
    assert result.timeline() == {"seen(a)=true": [(2, 11)]}


def test_a_fact_that_arrives_before_it_occurs_waits() -> None:
    rows = ev.parse(RULES).run(events((13, "up", "a", 4, "+")), emit="changes", **OPTIONS)  # type: ignore[arg-type]
    assert [(row["query_time"], row["start"]) for row in rows.to_arrow().to_pylist()] == [(15, 14)]


def test_a_step_that_is_longer_than_the_window() -> None:
    stream = events((3, "up", "a", 3, "+"), (18, "up", "b", 18, "+"))
    result = ev.parse(RULES).run(stream, window=5, step=10, start=0)
    assert result.timeline() == {"on(b)=true": [(19, None)]}
    assert result.counts.late_by_name == {"up(_)": 1}


def test_facts_after_the_end_are_counted_and_not_used() -> None:
    result = ev.parse(RULES).run(STREAM, end=18, emit="changes", **OPTIONS)  # type: ignore[arg-type]
    assert (result.counts.facts, result.counts.after_end, result.counts.queries) == (7, 3, 4)
    assert set(result.to_arrow()["args"].to_pylist()) == {"a"}


def test_a_session_that_is_refused_stays_as_it_was() -> None:
    session = ev.parse(RULES).session(window=10, start=0)
    session.insert(events((3, "up", "a", 3, "+")))
    session.advance(to=10)
    with pytest.raises(ev.EventideError, match="cannot advance to 9: the session is at 10 already"):
        session.advance(to=9)
    session.insert(events((8, "down", "a", 8, "+")))
    again = session.advance(to=10)  # the same query time, with what came since
    assert again.added["end"].to_pylist() == [9]


def test_a_large_jump_is_one_step() -> None:
    session = ev.parse(RULES).session(window=10, start=0)
    session.insert(events((3, "up", "a", 3, "+"), (999_999_995, "down", "a", 4, "+")))
    assert session.advance(to=10).added["end"].to_pylist() == [None]
    assert session.advance(to=1_000_000_000).added["end"].to_pylist() == [999_999_996]
    assert session.counts.queries == 2


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_tables_that_follow_one_another_are_one_file(ending: str, tmp_path: Path) -> None:
    program = ev.parse(RULES)
    program.run(STREAM, emit="windows", **OPTIONS).write(tmp_path / f"whole{ending}")  # type: ignore[arg-type]
    target = tmp_path / f"pieces{ending}"
    answers = program.answers(STREAM, Settings(**OPTIONS), emit="windows")  # type: ignore[arg-type]
    with target.open("wb") as file:
        writer_for(target)((sorted_columns(answer.table) for answer in answers), file)
    if ending == ".parquet":
        assert pq.read_table(target).to_pylist() == pq.read_table(tmp_path / "whole.parquet").to_pylist()
    else:
        assert target.read_bytes() == (tmp_path / f"whole{ending}").read_bytes()


def test_a_result_shows_its_first_rows() -> None:
    result = ev.parse(RULES).run(STREAM)
    assert repr(result).splitlines() == [
        "<Result: 3 rows>", "fluent,args,value,start,end", "on,a,true,4,18", "on,b,true,13,32", "on,c,true,3,"]
