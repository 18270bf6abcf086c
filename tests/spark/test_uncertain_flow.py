"""Streams of uncertain facts in buckets give what one session gives: random programs, units, batches and restarts."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.probability.worlds import END, Case, cases, facts_of, uncertain_text
from tests.spark.flows import Local, Outcome, Row, streamed, units_of
from tests.spark.test_partitioning import PAIRS

import eventide as ev
from eventide.formats.facts import Facts
from eventide.spark.flow import flow_of

MEET = """
initiatedAt(tired(X)=true, T) :- happensAt(works(X), T).
terminatedAt(tired(X)=true, T) :- happensAt(sleeps(X), T).
0.8::initiatedAt(talking(X, Y)=true, T) :-
    happensAt(meets(X, Y), T), holdsAt(tired(X)=true, T), \\+ holdsAt(tired(Y)=true, T).
terminatedAt(talking(X, Y)=true, T) :- happensAt(end(tired(X)=true), T), happensAt(sees(Y), T).
"""


def assert_same(found: Outcome, wanted: Outcome) -> None:
    """The same rows, late facts and counts; probabilities, which come last, up to rounding."""
    assert _bare(found.rows) == _bare(wanted.rows)
    assert [row[-1] for row in _by_rest(found.rows)] == pytest.approx([row[-1] for row in _by_rest(wanted.rows)],
                                                                     rel=0, abs=1e-12)
    assert (found.late, found.counts) == (wanted.late, wanted.counts)


def _by_rest(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: repr(row[:-1]))


def _bare(rows: list[Row]) -> list[Row]:
    return [row[:-1] for row in _by_rest(rows)]


@settings(max_examples=25)
@given(case=cases(), data=st.data())
def test_changes(case: Case, data: st.DataObject) -> None:
    """Units of facts that come late, twice and are taken back; some buckets are saved and restored in between."""
    program, tables = ev.parse(uncertain_text(case)), facts_of(case)
    window, step = data.draw(st.sampled_from(((3, 2), (4, 4), (6, 1))), "window")
    parts: list[Facts] = []
    for name, table in tables.items():
        for row in range(len(table)):
            one = table.slice(row, 1)
            delay = data.draw(st.sampled_from((0, 0, 1, 5)))
            arrival = pa.array([time + delay for time in one["time"].to_pylist()])
            sign = data.draw(st.sampled_from(("+", "+", "-")))
            parts.append(program.read({name: one.append_column("arrival", arrival).append_column("op", [[sign]])}))
    parts = [*data.draw(st.permutations(parts)), program.read({"a": pa.table({"time": [END + 3], "x": ["y"]})})]
    units = units_of(parts)
    ends = sorted(data.draw(st.sets(st.integers(1, len(units)), max_size=3)))
    batches = [units[low:high] for low, high in zip([0, *ends], [*ends, len(units)], strict=True)]
    options: dict[str, Any] = {"window": window, "start": 0, "probabilistic": True,
                               "threshold": data.draw(st.sampled_from((None, "0.4")))}
    chance = data.draw(st.randoms(use_true_random=False))
    flow = flow_of(program, buckets=data.draw(st.sampled_from((1, 2, 5))), step=step, **options)
    found = streamed(flow, batches, lambda: chance.random() < 0.4, random.Random(chance.random()))
    assert_same(found, Local(program, step=step, **options).changes(units))


def meetings(seed: int) -> pa.Table:
    """People who work, sleep and meet, some of it told late."""
    rng = random.Random(seed)
    rows: list[tuple[Any, ...]] = []
    for time in (time for time in range(1, 150) for _ in range(3)):
        name, *who = rng.choice((("works", 1), ("sleeps", 1), ("sees", 1), ("meets", 2)))
        people = rng.sample("abcdefgh", who[0])
        told = time + rng.choice((0, 0, 0, 8, 30))
        rows.append((time, told, name, people[0], people[1] if len(people) > 1 else None, rng.choice((0.2, 0.9, 1.0))))
    rows.sort(key=lambda row: row[1])
    names = ("time", "arrival", "event", "one", "other", "probability")
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})


@pytest.mark.parametrize("options", [{}, {"threshold": "0.5"}, {"threshold": "0.4", "memory": 5, "durations": (9, 4)}])
def test_people_who_meet(options: dict[str, Any]) -> None:
    """Rules that combine entities: facts of partners are in every bucket, and each is counted and listed once."""
    program, table = ev.parse(MEET), meetings(7)
    units = units_of([program.read(table.slice(at, 50)) for at in range(0, len(table), 50)])
    options = {"window": 20, "step": 10, "start": 5, "probabilistic": True, **options}
    wanted = Local(program, **options).changes(units)
    assert len(wanted.rows) > 300 and wanted.late and wanted.counts["before_start"]
    assert sum(row[2] == "talking" for row in wanted.rows) > 50
    flow = flow_of(program, buckets=3, **options)
    assert flow.buckets == 3 and flow.last == 1 and not flow.diagnostics
    assert_same(streamed(flow, [units[:4], units[4:]], lambda: True), wanted)


def test_one_bucket_says_why_and_pairs_are_spread() -> None:
    flow = flow_of(ev.parse("initiatedAt(open=true, T) :- happensAt(e(_), T)."), buckets=4, window=5,
                   probabilistic=True)
    assert flow.buckets == 1 and "runs in one bucket" in flow.diagnostics[0].message
    assert flow_of(ev.parse(PAIRS), buckets=4, window=5, probabilistic=True).buckets == 4


def test_final_rows_come_once() -> None:
    """Of a stream without late facts, the final rows are those of a run over everything, before the last window."""
    program, table = ev.parse(MEET), meetings(3).drop_columns(["arrival"]).sort_by("time")
    units = units_of([program.read(table.slice(at, 50)) for at in range(0, len(table), 50)])
    options: dict[str, Any] = {"window": 20, "step": 10, "start": 0, "probabilistic": True}
    found = streamed(flow_of(program, buckets=3, emit="final", **options), [[unit] for unit in units], lambda: True)
    last = max(int(str(row[0])) for row in found.rows)
    whole = program.run(table, start=0, probabilistic=True).to_arrow().to_pylist()
    wanted = [tuple(row.values())[:-1] for row in whole if row["end"] is not None and row["end"] < last - 20]
    rows = [row[1:-1] for row in found.rows]
    assert len(rows) == len(set(rows)) > 50
    assert set(wanted) <= set(rows)
