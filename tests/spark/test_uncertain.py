"""Probabilistic recognition on Spark gives the rows of one machine, whatever is sent where."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.probability.worlds import END, Case, cases, facts_of, uncertain_text
from tests.spark.configured import Configured, sorted_rows
from tests.spark.exchanges import uncertain
from tests.spark.test_partitioning import PAIRS

import eventide as ev
from eventide.cli.main import main
from eventide.errors import InputError, ProgramError
from eventide.formats.facts import Facts
from eventide.probability.events import History
from eventide.probability.recognition import Uncertainty
from eventide.spark.batch import run, uncertain_partitioning_of
from eventide.spark.config import load_config
from eventide.spark.failures import ServiceError
from eventide.spark.flow import flow_of
from eventide.spark.running import check, prepare
from eventide.spark.streaming import stream

WINS = {"time": [1, 1, 2, 4, 6], "event": ["win", "win", "win", "win", "lose"],
        "who": ["ann", "ann", "bob", "bob", "ann"], "probability": [0.5, 0.5, 0.25, 0.5, 0.4]}
RICH = """initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
    terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
"""


def assert_same(found: list[tuple[Any, ...]], local: ev.Result) -> None:
    """The same rows; the probabilities, which come last, up to rounding."""
    wanted = sorted((tuple(row.values()) for row in local.to_arrow().to_pylist()), key=repr)
    assert [row[:-1] for row in found] == [row[:-1] for row in wanted]
    assert [row[-1] for row in found] == pytest.approx([row[-1] for row in wanted], rel=0, abs=1e-12)


def batches_of(program: ev.Program, tables: dict[str, pa.Table]) -> list[Facts]:
    """Every fact in a batch of its own."""
    return [program.read({name: table.slice(row, 1)}) for name, table in tables.items() for row in range(len(table))]


@settings(max_examples=20)
@given(cases(), st.sampled_from([1, 3, 7]), st.sampled_from(["marginal", "exact"]), st.sampled_from([None, "0.4"]))
def test_buckets_give_the_rows_of_one_machine(case: Case, buckets: int, history: History,
                                              threshold: str | None) -> None:
    program, tables = ev.parse(uncertain_text(case)), facts_of(case)
    found = uncertain(program, batches_of(program, tables), Uncertainty(history, threshold), buckets=buckets, start=0,
                      end=END)
    assert_same(found, program.run(tables, start=0, end=END, probabilistic=True, history=history, threshold=threshold))
    found = uncertain(program, batches_of(program, tables), Uncertainty("marginal", threshold), buckets=buckets,
                      start=0, end=END, window=3, step=2)
    assert_same(found, program.run(tables, start=0, end=END, probabilistic=True, threshold=threshold))


def test_a_fact_that_a_bucket_gets_in_two_ways_counts_once() -> None:
    program = ev.parse("""initiatedAt(f(X)=true, T) :- happensAt(meet(X, Y), T).
        initiatedAt(g(Y)=true, T) :- happensAt(meet(X, Y), T), happensAt(wave(X), T).""")
    sends = [send for send in uncertain_partitioning_of(program).stages[0].sends if send.relation == "meet(_,_)"]
    assert len(sends) > 1
    tables = {"meet": pa.table({"time": [1, 1], "x": ["a", "a"], "y": ["b", "b"], "probability": [0.5, 0.2]}),
              "wave": pa.table({"time": [1], "x": ["a"]})}
    found = uncertain(program, batches_of(program, tables), Uncertainty(), buckets=1, start=0, end=3)
    assert [row[-1] for row in found] == pytest.approx([0.6, 0.6])


def test_pairs_are_spread_and_what_needs_everybody_runs_in_one_bucket() -> None:
    spread = uncertain_partitioning_of(ev.parse(PAIRS))
    assert spread.spread and not spread.one_bucket and not spread.diagnostics
    whole = uncertain_partitioning_of(ev.parse("initiatedAt(open=true, T) :- happensAt(e(_), T)."))
    assert whole.one_bucket and "runs in one bucket" in whole.diagnostics[0].message


def test_streams_that_make_no_sense_are_refused() -> None:
    program = ev.parse(RICH)
    for options, message in (({"horizon": 5}, "Allen relations have no probabilities yet"),
                             ({"history": "exact"}, "history exact keeps the whole past"),
                             ({"threshold": "0.5", "emit": "final"}, "none is ever final"),
                             ({"memory": 5}, "give a threshold"),
                             ({"probabilistic": False, "memory": 5}, "need probabilistic=True"),
                             ({"probabilistic": False, "threshold": 0.5}, "need probabilistic=True")):
        with pytest.raises(InputError, match=message):
            flow_of(program, **{"buckets": 2, "window": 5, "probabilistic": True, **options})
    with pytest.raises(ProgramError, match="this rule has a probability"):
        flow_of(ev.parse("0.5::" + RICH), buckets=2, window=5)


@pytest.mark.spark
@pytest.mark.parametrize("options", [{}, {"threshold": "0.5"}, {"window": 4, "step": 2, "emit": "windows"}])
def test_on_spark(options: dict[str, Any], spark: Any) -> None:
    program, table = ev.parse(RICH), pa.table(WINS)
    frame = run(program, spark.createDataFrame(table), probabilistic=True, buckets=3, **options)
    found = sorted((tuple(row.values()) for row in frame.toArrow().to_pylist()), key=repr)
    assert frame.columns[-1] == "probability" and found
    assert_same(found, program.run(table, probabilistic=True, **options))


@pytest.mark.spark
def test_partners_on_spark(spark: Any) -> None:
    program = ev.parse(PAIRS)
    tables = {"near": pa.table({"time": [2, 3], "one": ["a", "c"], "other": ["b", "a"], "end": [9, 7],
                                "value": ["true"] * 2, "probability": [0.5, 0.8]}),
              "slows": pa.table({"time": [1, 3, 5, 5], "who": ["a", "b", "c", "c"],
                                 "probability": [0.9, 0.6, 0.5, 0.5]})}
    frames = {name: spark.createDataFrame(table).repartition(2) for name, table in tables.items()}
    found = run(program, frames, probabilistic=True, history="exact", buckets=3).toArrow().to_pylist()
    assert_same(sorted((tuple(row.values()) for row in found), key=repr),
                program.run(tables, probabilistic=True, history="exact"))


@pytest.mark.spark
def test_what_makes_no_sense_is_refused(spark: Any) -> None:
    events = spark.createDataFrame(pa.table(WINS))
    with pytest.raises(InputError, match="need probabilistic=True"):
        run(ev.parse(RICH), events, threshold="0.5")
    with pytest.raises(ProgramError, match="conditions on durations have no probabilities"):
        run(ev.parse(RICH + "holdsFor(f(X)=true, I) :- holdsFor(rich(X)=true, J), intDurGreater(J, 5, I)."), events,
            probabilistic=True)
    with pytest.warns(UserWarning, match="open runs in one bucket"):
        run(ev.parse("initiatedAt(open=true, T) :- happensAt(win(_), T)."), events, probabilistic=True)


@pytest.mark.spark
def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.ec").write_text(RICH)
    Path("events.csv").write_text("time,event,who,probability\n1,win,ann,0.5\n3,win,bob,0.8\n5,lose,bob,0.25\n")
    for engine in ("local", "spark"):
        assert main(["run", "rules.ec", "--events", "events.csv", "--probabilistic", "--threshold", "0.5", "--engine",
                     engine, "-o", f"{engine}.csv"]) == 0
    assert Path("spark.csv").read_text() == Path("local.csv").read_text() != ""


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_a_stream_that_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    """Late facts, corrections and retractions over two starts: the rows of a run over the whole, none twice."""
    rules = RICH + "0.5::" + RICH.replace("rich", "glad")
    configured = Configured(tmp_path, rules, uncertain="probabilistic = true\nthreshold = 0.4")
    header = "event,time,arrival,op,probability,who\n"
    configured.feed(header + "win,3,3,+,0.5,ann\nwin,5,5,+,0.8,bob\nlose,12,12,+,0.25,ann\nwin,13,13,+,1,cid\n")
    configured.feed(header + "lose,9,22,+,0.5,bob\nwin,3,23,-,,ann\nwin,26,26,+,0.9,ann\nlose,33,33,+,0.3,cid\n")
    assert configured.run() == 0
    between = configured.table()
    assert between.column_names[-1] == "probability"
    configured.feed(header + "win,34,36,+,0.6,ann\nlose,44,52,+,0.7,bob\nlose,1,53,+,1,bob\nwin,71,71,+,0.5,ann\n")
    assert configured.run() == 0
    program, files = ev.load(tmp_path / "rules.ec"), [str(path) for path in sorted((tmp_path / "in").iterdir())]
    local = program.run(files, emit="changes", **configured.options)
    last = configured.table()["query_time"].to_numpy().max()
    assert_same(configured.out(), ev.Result(local.to_arrow().filter(pc.field("query_time") <= last), local.counts))
    assert len(configured.out()) > len(between) > 0
    assert [(row["args"], row["start"]) for row in configured.lines("late")] == [("bob", 1)]
    configured.config.write_text(configured.config.read_text().replace("threshold = 0.4", "threshold = 0.9"))
    with pytest.raises(ServiceError, match=r"threshold was 0\.4 and is 0\.9"):
        check(prepare(load_config(configured.config)))


@pytest.mark.spark
@pytest.mark.slow
def test_a_streaming_frame(spark: Any, tmp_path: Path) -> None:
    """`ev.spark.stream` with rules that combine entities: changes with probabilities, and late facts without."""
    program = ev.parse(RICH + """
        initiatedAt(friends(X, Y)=true, T) :- happensAt(meet(X, Y), T), holdsAt(rich(X)=true, T), \\+ holdsAt(
            rich(Y)=true, T).""")
    table = pa.table({"time": [3, 5, 12, 26, 1, 61], "event": ["win", "win", "meet", "lose", "lose", "win"],
                      "who": ["ann", "bob", "ann", "bob", "cid", "dan"], "whom": [None, None, "bob", None, None, None],
                      "probability": [0.5, 0.8, 0.9, 0.25, 1.0, 0.5]})
    (tmp_path / "in").mkdir()
    for low in range(0, 6, 2):
        pq.write_table(table.slice(low, 2), tmp_path / "in" / f"{low}.parquet")
        os.utime(tmp_path / "in" / f"{low}.parquet", (low, low))  # files come in the order of their times
    session = spark.newSession()
    events = session.readStream.schema("time long, event string, who string, whom string, probability double").option(
        "maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    changes = stream(program, events, window=20, step=10, start=0, late=True, probabilistic=True, buckets=3)
    query = (changes.writeStream.format("parquet").option("path", str(tmp_path / "out"))
             .option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start())
    query.awaitTermination()
    found = session.read.parquet(str(tmp_path / "out")).toArrow()
    late = found.filter(pc.field("change") == "late").to_pylist()
    assert [tuple(row.values()) for row in late] == [(30, "late", "lose", "cid", "", 1, 2, None)]
    local = program.run(table.filter(pc.field("time") != 1), window=20, step=10, start=0, end=60, emit="changes",
                        probabilistic=True)
    assert {"rich", "friends"} == set(local.to_arrow()["fluent"].to_pylist())
    assert_same(sorted_rows(found.filter(pc.field("change") != "late")), local)
