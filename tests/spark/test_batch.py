"""Batch runs on Spark give the rows of a run on one machine, whatever the input; and say what is wrong with it.

That their answers are right is shown where those of one machine are: every conformance test runs on both.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark.test_partitioning import PAIRS, SINGLE

import eventide as ev
from eventide.cli.main import main
from eventide.errors import EventideError, InputError
from eventide.spark.batch import run
from eventide.spark.failures import clear_error

pytestmark = pytest.mark.spark
EVENTS = {"time": [1, 2, 4, 6, 9], "event": ["win", "go", "win", "lose", "go"],
          "who": ["ann", "bob", "bob", "ann", "ann"], "where": [None, "pub", None, None, "pub"]}


@pytest.fixture(autouse=True)
def one_bucket_is_no_news() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def plain(rows: Any) -> list[tuple[Any, ...]]:
    """The rows of a result or a DataFrame, in an order of their own."""
    found = rows.to_arrow() if isinstance(rows, ev.Result) else rows.toArrow()
    return sorted((tuple(row.values()) for row in found.to_pylist()), key=repr)


# -- windows -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("emit", ["timeline", "windows", "changes"])
def test_windows(emit: Any, spark: Any) -> None:
    program = ev.parse(SINGLE)
    events = spark.createDataFrame(pa.table({**EVENTS, "arrival": [1, 2, 6, 6, 9]}))
    options: dict[str, Any] = {"window": 4, "step": 2, "emit": emit}
    local = program.run(events.toArrow(), **options)
    assert plain(run(program, events, **options)) == plain(local)


@pytest.mark.slow
def test_windows_of_pairs(spark: Any) -> None:
    program = ev.parse(PAIRS)
    events = {"near": spark.createDataFrame([(2, "a", "b", 9, "true"), (3, "c", "a", 7, "true")],
                                            "time long, one string, other string, end long, value string"),
              "slows": spark.createDataFrame([(1, "a"), (3, "b"), (5, "c")], "time long, who string")}
    local = {name: frame.toArrow() for name, frame in events.items()}
    for options in ({}, {"window": 4, "step": 3, "emit": "changes"}):
        assert plain(run(program, events, **options)) == plain(program.run(local, **options))


# -- inputs ------------------------------------------------------------------------------------------------------------


def test_frames_and_files(tmp_path: Path, spark: Any) -> None:
    program, table = ev.parse(SINGLE), pa.table(EVENTS)
    wanted = plain(program.run(table))
    pq.write_table(table, tmp_path / "events.parquet")
    (tmp_path / "events.csv").write_text("win|1|1|ann\ngo|2|2|bob|pub\nwin|4|4|bob\nlose|6|6|ann\ngo|9|9|ann|pub\n")
    for events in (spark.createDataFrame(table), tmp_path / "events.parquet", str(tmp_path / "events.csv")):
        assert plain(run(program, events, spark=spark)) == wanted
    assert plain(run(program, spark.createDataFrame(table), fluents=["happy"], buckets=3)) == [
        row for row in wanted if row[0] == "happy"]


def test_one_machine_takes_frames_too(spark: Any) -> None:
    program, table = ev.parse(SINGLE), pa.table(EVENTS)
    frame = spark.createDataFrame(table)
    assert plain(program.run(frame)) == plain(program.run(table))
    wins = frame.where("event = 'win'").select("time", "who")
    assert plain(program.run({"win": wins})) == plain(program.run({"win": wins.toArrow()}))
    with pytest.raises(InputError, match=r"a streaming DataFrame has no end; ev\.spark\.stream"):
        program.run(spark.readStream.format("rate").load())


def test_a_bucket_without_facts_is_evaluated(spark: Any) -> None:
    program = ev.parse("""
        initially(open(X)=true) :- shop(X).
        grounding(open(X)=true) :- shop(X).
        terminatedAt(open(X)=true, T) :- happensAt(close(X), T).
        shop(a). shop(b). shop(c). shop(d).""")
    events = spark.createDataFrame([(3, "close", "b")], "time long, event string, who string")
    assert plain(run(program, events, buckets=4)) == plain(program.run(events.toArrow()))


def test_what_is_wrong_is_said(spark: Any) -> None:
    program = ev.parse(SINGLE)
    with pytest.raises(InputError, match="no input of a run on Spark"):
        run(program, 7, spark=spark)
    with pytest.raises(InputError, match="emit is 'all'"):
        run(program, spark.createDataFrame(pa.table(EVENTS)), emit="all")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="derives no sad"):
        run(program, spark.createDataFrame(pa.table(EVENTS)), fluents=["sad"])
    with pytest.raises(EventideError, match="the run ends at 3"):
        run(program, spark.createDataFrame(pa.table(EVENTS)), start=5, end=3)
    events = spark.createDataFrame([(1, "wins", "ann")], "time long, event string, who string")
    with pytest.raises(Exception) as caught:
        run(program, events).collect()
    error = clear_error(caught.value)
    assert error is not None and "the program does not know wins" in str(error)


def test_what_runs_in_one_bucket_is_warned_about(spark: Any) -> None:
    program = ev.parse("initiatedAt(open=true, T) :- happensAt(e(_), T).")
    events = spark.createDataFrame([(1, "e", "ann")], "time long, event string, who string")
    with pytest.warns(UserWarning, match="open runs in one bucket: no argument of it names an entity"):
        assert plain(run(program, events)) == [("open", "", "true", 2, None)]


# -- the command line --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
                 spark: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.ec").write_text(SINGLE)
    Path("events.csv").write_text("win|1|1|ann\nlose|9|3|ann\nwin|4|4|bob\nlose|6|6|bob\n")
    options = ["rules.ec", "--events", "events.csv", "--window", "4", "--step", "2", "--emit", "changes"]
    outputs = []
    for engine in ("local", "spark"):
        assert main(["run", *options, "--engine", engine, "-o", f"{engine}.csv"]) == 0
        outputs.append(Path(f"{engine}.csv").read_text())
        told = capsys.readouterr().err
        assert "left out 1 fact that arrived too late for the window (lose" in told
        assert "from 4 facts at 5 query times" in told
    assert outputs[0] == outputs[1] and len(outputs[0].splitlines()) > 3
    Path("events.csv").write_text("wins|1|1|ann\n")
    assert main(["run", *options, "--engine", "spark"]) == 1
    assert "the program does not know wins" in capsys.readouterr().err
    assert spark.range(1).count() == 1
