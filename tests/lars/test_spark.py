"""LARS on Spark gives the rows of a run on one machine, bucket by bucket. Most of it is shown without Spark."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.lars_text import streams

import eventide as ev
from eventide.analysis.lars.keys import key_places
from eventide.cli.main import main
from eventide.lars.streams import read
from eventide.spark.lars import Job, planned, run
from eventide.syntax.lars import parse

APART = [
    "h(X) :- p(X) [3], not b(X) [1]. k(X) at T+1 :- e(X,Y) at T [2]. m(X) :- k(X) [2], not h(X).",
    "r(X,Z) :- e(X,Z) [4]. r(X,Z) :- r(X,Y), near(Y,Z). near(a,b). near(b,c).",
    "last(X,Y) :- e(X,Y) [2 # by X]. quiet(X) :- all(X), not p(X) [2]. all(a). all(c). all(d).",
    "on(X) :- p(X) [2], not off(X). off(X) :- p(X) [2], not on(X). both(X) :- on(X), b(X) [3].",
]
FLAGGED = "h(X) :- p(X) [3]. k(X) :- b(X) [2]. :- h(X), k(X)."
TOGETHER = [
    ("near(X,Y) :- e(X,P), e(Y,P).", "near(_,_) brings entities together"), ("busy :- p(X) [3].", "busy brings"),
    ("h(X) :- p(X) [2 #].", "counts the facts of all entities"), (FLAGGED, "leaves no answer for any entity"),
    ("h(X) :- e(X,Y) [2 # by Y].", "h(_) brings"), ("h(a) :- p(a).", "h(_) brings"),
]


def rows_in_buckets(job: Job, events: Any, end: int) -> list[tuple[Any, ...]]:
    """The rows of a job, each bucket a task."""
    sent = [batch for source in events for batch in job.sent(read(source))]
    marks = [{"bucket": bucket, "time": -1, "number": -1, "name": None, "args": None} for bucket in range(job.buckets)]
    found = []
    for bucket in range(job.buckets):
        own = [row for batch in sent for row in batch.to_pylist() if row["bucket"] == bucket]
        found += job.evaluated(pa.Table.from_pylist([*own, marks[bucket]]), end).to_pylist()
    return rows(pa.Table.from_pylist(found, job.schema))


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=str)


@given(st.sampled_from([*APART, FLAGGED]), streams(7, 3), st.integers(1, 4))
def test_buckets_add_up_to_a_run(text: str, stream: Any, buckets: int) -> None:
    program: Any = ev.parse(text, language="lars")
    how = {"contradictions": "flag"} if text == FLAGGED else {"models": "brave"}
    job = planned(program, buckets, {}, **how)
    assert job.buckets == buckets
    assert rows_in_buckets(job, [stream], 9) == rows(program.run(stream, end=9, **how).to_arrow())


@pytest.mark.parametrize(("text", "reason"), TOGETHER)
def test_entities_that_meet_stay_in_one_bucket(text: str, reason: str) -> None:
    program: Any = ev.parse(text, language="lars")
    with pytest.warns(UserWarning, match="one bucket") as told:
        job = planned(program, 4, {})
    assert job.buckets == 1 and reason in str(told[0].message)
    stream: Any = [(1, ["p(a)", "e(a,b)"]), (2, ["e(c,b)", "p(b)", "b(a)"])]
    assert rows_in_buckets(job, [stream], 6) == rows(program.run(stream, end=6).to_arrow())


def test_keys_may_stand_at_different_places() -> None:
    text = "h(Y,X) :- p(X), e(X,Y) [3]. g(X) :- h(Y,X) [2]."
    assert key_places(parse(text).tree) == {("h", 2): 1, ("p", 1): 0, ("e", 2): 0, ("g", 1): 0}


def test_all_answer_streams_are_numbered_together() -> None:
    program: Any = ev.parse(APART[3], language="lars")
    with pytest.warns(UserWarning, match="numbered together"):
        assert planned(program, 4, {}, models="all").buckets == 1


def test_a_bar_in_an_argument_is_refused() -> None:
    program: Any = ev.parse("h(X,Y) :- e(X,Y).", language="lars")
    with pytest.raises(ev.EventideError, match=r"with '\|' in it"):
        rows_in_buckets(planned(program, 2, {}), [[(1, ['e("a|b",c)'])]], 2)


@pytest.mark.spark
def test_on_spark(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program: Any = ev.parse(APART[0], language="lars")
    events = pa.table({"time": [1, 2, 2, 5, 6], "event": ["p", "e", "p", "b", "p"], "x": ["a", "a", "b", "b", "c"],
                       "y": [None, "c", None, None, None]})
    frame = spark.createDataFrame(events.to_pandas())
    wanted = rows(program.run(events).to_arrow())
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert rows(run(program, frame, buckets=3).toArrow()) == wanted
        assert rows(ev.spark.run(program, frame, buckets=2, fluents=["h"]).toArrow()) == [
            row for row in wanted if row[0] == "h"]
    with pytest.raises(ev.EventideError, match="leave out window"):
        ev.spark.run(program, frame, window=5)
    (tmp_path / "r.lars").write_text(APART[0])
    (tmp_path / "s.jsonl").write_text('{"time": 1, "facts": ["p(a)", "e(a,b)"]}\n{"time": 4, "facts": ["p(b)"]}\n')
    outputs = [tmp_path / "local.csv", tmp_path / "spark.csv"]
    for out, engine in zip(outputs, ("local", "spark"), strict=True):
        assert main(["run", str(tmp_path / "r.lars"), "--events", str(tmp_path / "s.jsonl"), "--engine", engine,
                     "-o", str(out)]) == 0
    assert outputs[0].read_text() == outputs[1].read_text()
