"""Streams on Spark give the rows of a run on one machine; what goes wrong is told in one message."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.spark.configured import RULES, Configured, sorted_rows
from tests.spark.servers import free_port

import eventide as ev
from eventide.errors import InputError
from eventide.spark.config import Log, Metrics, load_config
from eventide.spark.failures import ServiceError
from eventide.spark.operations import Batch, Figures, MetricsServer, Reporter
from eventide.spark.operator import labels
from eventide.spark.running import Stream, prepare

pytestmark = pytest.mark.spark
PAIRS = """
collectIntervals(near(_,_)=true).
initiatedAt(slow(V)=true, T) :- happensAt(slows(V), T).
terminatedAt(slow(V)=true, T) :- happensAt(speeds(V), T).
holdsFor(meet(A, B)=true, I) :-
    holdsFor(near(A, B)=true, I0), holdsFor(slow(A)=true, I1), holdsFor(slow(B)=true, I2),
    intersect_all([I0, I1, I2], I).
"""
FIRST = "event,time,arrival,op,who\nwin,3,3,+,ann\nwin,5,5,+,bob\nlose,12,12,+,ann\nwin,13,13,+,cid\nwin,14,14,+,dan\n"
SECOND = "event,time,arrival,op,who\nlose,9,22,+,bob\nwin,3,23,-,ann\nwin,26,26,+,ann\nlose,33,33,+,cid\n"
THIRD = "go|52|44|bob|pub\nlose|55|55|ann\nwin|71|71|ann\ngo|72|72|dan|7\n"


@pytest.fixture(autouse=True)
def quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.usefixtures("spark")
def test_a_stream_in_pieces_gives_the_rows_of_a_run_over_the_whole(tmp_path: Path,
                                                                  capsys: pytest.CaptureFixture[str]) -> None:
    """Late facts, corrections and retractions, several batches, and a new start between them."""
    stream = Configured(tmp_path)
    stream.feed(FIRST)
    stream.feed(SECOND)
    assert stream.run() == 0
    assert "stopped after 2 batches: 9 events" in capsys.readouterr().err
    between = stream.out()
    assert between == stream.local()
    stream.feed(THIRD)
    assert stream.run() == 0
    rows = stream.out()
    assert rows == stream.local() and len(rows) > len(between)
    assert {row[1] for row in rows} == {"+", "-"}
    assert stream.run() == 0 and stream.out() == rows  # nothing new


@pytest.mark.usefixtures("spark")
@pytest.mark.slow
def test_final_rows_are_there_once_and_for_ever(tmp_path: Path) -> None:
    """Over two starts: whatever ended before the last window, as a run over everything has it, and nothing twice."""
    stream = Configured(tmp_path, window=20, emit="final")
    stream.feed(FIRST)
    assert stream.run() == 0
    stream.feed("event,time,who\nlose,18,bob\nwin,26,ann\nlose,33,cid\n")
    stream.feed("event,time,who\nlose,55,ann\nwin,71,ann\nlose,120,dan\n")
    assert stream.run() == 0
    names = ["args", "start", "end"]
    found = [tuple(row[name] for name in names) for row in stream.table().to_pylist()]
    whole = ev.parse(RULES).run([str(path) for path in sorted((tmp_path / "in").iterdir())], start=0).to_arrow()
    ended = whole.filter(pc.less(whole["end"], 90)).select(names).to_pylist()
    assert sorted(found) == sorted(tuple(row.values()) for row in ended) and len(found) == 4
    assert "change" not in stream.table().column_names


@pytest.mark.usefixtures("spark")
@pytest.mark.slow
def test_programs_that_combine_entities(tmp_path: Path) -> None:
    stream = Configured(tmp_path, PAIRS, files=2)
    stream.feed("slows|2|2|ann\nslows|4|4|bob\nslows|6|6|eve\n")
    stream.feed("near|9|3|20|true|ann|bob\nspeeds|17|17|ann\n")
    stream.feed("near|25|18|30|true|bob|eve\nspeeds|28|28|bob\nslows|41|41|ann\n")
    stream.feed("speeds|62|62|eve\n")
    assert stream.run() == 0
    rows = stream.out()
    assert rows == stream.local()
    assert {"meet", "slow"} == {row[2] for row in rows}


@pytest.mark.usefixtures("spark")
def test_what_comes_too_late_and_what_cannot_be_read_has_a_place_of_its_own(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = Configured(tmp_path, window=20)
    stream.feed("win|3|3|ann\nthis is no fact\nwin|35|35|bob\n")
    stream.feed("lose|36|5|ann\nsing|40|40|ann\nlose|80|80|bob\n")
    stream.feed("PAR1 and no more", ".parquet")
    assert stream.run() == 0
    late = stream.lines("late")
    assert [(row["fact"], row["args"], row["start"], row["query_time"]) for row in late] == [("lose", "ann", 5, 40)]
    bad = stream.lines("quarantine")
    assert [(Path(row["source"]).name, row["line"], row["text"]) for row in bad] == [
        ("001.csv", 2, "this is no fact"), ("002.csv", 2, "sing|40|40|ann"), ("003.parquet", 1, "")]
    assert "sing" in bad[1]["problem"] and "damaged or incomplete" in bad[2]["problem"]
    said = capsys.readouterr().err
    assert "1 fact came too late for the window; it is in late" in said
    assert "1 record could not be read; it is in quarantine" in said


@pytest.mark.usefixtures("spark")
def test_other_rules_with_the_same_checkpoint_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = Configured(tmp_path)
    stream.feed(FIRST)
    assert stream.run() == 0
    capsys.readouterr()
    rules = tmp_path / "rules.ec"
    rules.write_text("% a comment changes nothing\n" + RULES)
    assert stream.run("--check") == 0
    rules.write_text(RULES.replace("happensAt(lose(X), T)", "happensAt(lose(X), T), happensAt(sad(X), T)")
                     + "initiatedAt(poor(X)=true, T) :- happensAt(lose(X), T).\n")
    stream.config.write_text(stream.config.read_text().replace("step = 10", "step = 5"))
    capsys.readouterr()
    for option in "--once", "--check":
        assert stream.run(option) == 1
        said = capsys.readouterr().err
        assert "the rules of rich(_) have changed" in said and "the rules of poor(_) are new" in said
        assert "step was 10 and is 5" in said and "begin anew" in said
        assert said.count("error:") == 1


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("damage", ["offsets", *(pytest.param(part, marks=pytest.mark.slow)
                                                 for part in ("stream.json", "state", "all of spark's"))])
def test_a_broken_checkpoint(tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One message; and with the checkpoint put back the stream goes on where it was."""
    stream = Configured(tmp_path)
    stream.feed(FIRST)
    assert stream.run() == 0
    stream.feed(SECOND)
    folder = tmp_path / "state"
    shutil.copytree(folder, tmp_path / "copy")
    if damage == "stream.json":
        (folder / "stream.json").write_text("{")
    elif damage == "offsets":
        (folder / "spark" / "offsets" / "0").write_text("not what it was")
    elif damage == "state":
        for path in (folder / "spark" / "state").rglob("*.*"):
            if path.is_file() and "_metadata" not in str(path):
                path.unlink()
    else:
        (folder / "stream.json").unlink()
    capsys.readouterr()
    assert stream.run() == 1
    said = capsys.readouterr().err
    assert said.count("error:") == 1 and "is broken" in said and "Traceback" not in said
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "copy", folder)
    assert stream.run() == 0
    assert stream.out() == stream.local()


@pytest.mark.usefixtures("spark")
@pytest.mark.slow
def test_a_rule_that_needs_more_than_the_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = Configured(tmp_path, "initiatedAt(seen(A, B)=true, T) :- happensAt(e(A), T), happensAt(e(B), T).\n",
                        more="[limits]\nrows = 100\n")
    stream.feed("".join(f"e|1|1|v{i}\n" for i in range(9)) + "e|30|30|v1\n")
    assert stream.run() == 0
    stream.feed("".join(f"e|31|31|v{i}\n" for i in range(11)) + "e|60|60|v1\n")
    capsys.readouterr()
    assert stream.run() == 1
    said = capsys.readouterr().err
    assert said.count("error:") == 1 and "203 rows; the limit is 100 rows" in said


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_a_first_batch_that_was_not_finished_begins_again(tmp_path: Path) -> None:
    stream = Configured(tmp_path)
    stream.feed(FIRST)
    assert stream.run() == 0
    for log in "commits", "offsets":  # as if it had been killed before anything was written but the state
        shutil.rmtree(tmp_path / "state" / "spark" / log)
    stream.feed(SECOND)
    assert stream.run() == 0
    assert stream.out() == stream.local()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of four megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("full", ["out", "state"])
def test_a_disk_without_room(tmp_path: Path, small_disk: Path, full: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The batch fails with one message, and is there when there is room again."""
    stream = Configured(tmp_path / "stream")
    (small_disk / full).mkdir()
    (stream.folder / full).symlink_to(small_disk / full)
    stream.feed(FIRST)
    assert stream.run() == 0
    stream.feed(SECOND)
    ballast = small_disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    capsys.readouterr()
    assert stream.run() == 1
    said = capsys.readouterr().err
    assert said.count("error:") == 1 and "No space left on device" in said and "Traceback" not in said
    ballast.unlink()
    assert stream.run() == 0
    assert stream.out() == stream.local()


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = Configured(tmp_path)
    (tmp_path / "in").rmdir()
    for option in "--check", "--once":
        assert stream.run(option) == 1
        assert f"there is no folder {tmp_path}/in" in capsys.readouterr().err


@pytest.mark.slow
def test_a_broker_that_does_not_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = Configured(tmp_path)
    kafka = 'kind = "kafka"\nservers = "127.0.0.1:9"\ntopics = ["t"]\nformat = "rtec"\ntimeout = 1'
    text = stream.config.read_text().replace('kind = "files"\npath = "in"\nmax_files = 1', kafka)
    stream.config.write_text(text)
    for option in "--check", "--once":
        assert stream.run(option) == 1
        said = capsys.readouterr().err
        assert said.count("error:") == 1 and "no Kafka broker answers at 127.0.0.1:9" in said


@pytest.mark.slow
def test_a_stream_from_a_program(spark: Any, tmp_path: Path) -> None:
    """`ev.spark.stream`: a streaming DataFrame in, one of changes out."""
    program = ev.parse(RULES)
    table = pa.table({"time": [3, 5, 12, 26, 1, 61], "event": ["win", "win", "lose", "win", "lose", "win"],
                      "who": ["ann", "bob", "ann", "cid", "cid", "dan"]})
    (tmp_path / "in").mkdir()
    for low in range(0, 6, 2):
        pq.write_table(table.slice(low, 2), tmp_path / "in" / f"{low}.parquet")
        os.utime(tmp_path / "in" / f"{low}.parquet", (low, low))  # files come in the order of their times
    session = spark.newSession()
    events = session.readStream.schema("time long, event string, who string").option(
        "maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    changes = ev.spark.stream(program, events, window=20, step=10, start=0, late=True)
    assert changes.isStreaming
    query = (changes.writeStream.format("parquet").option("path", str(tmp_path / "out"))
             .option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start())
    query.awaitTermination()
    found = sorted_rows(session.read.parquet(str(tmp_path / "out")).toArrow())
    in_time = table.filter(pc.field("time") != 1)
    wanted = sorted_rows(program.run(in_time, window=20, step=10, start=0, end=60, emit="changes").to_arrow())
    assert found == sorted([*wanted, (30, "late", "lose", "cid", "", 1, 2)], key=repr)


def test_frames_that_are_no_streams_of_facts(spark: Any, tmp_path: Path) -> None:
    program = ev.parse(RULES)
    with pytest.raises(InputError, match="no stream"):
        ev.spark.stream(program, spark.range(3), window=10)
    stream = spark.readStream.schema("when long, event string").parquet(str(tmp_path))
    with pytest.raises(InputError, match="no column time; its columns are when, event"):
        ev.spark.stream(program, stream, window=10)


def test_two_streams_with_one_checkpoint(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Configured(tmp_path)
    prepared = prepare(load_config(stream.config))
    reporter = Reporter(Log(level="error"))
    monkeypatch.setattr("eventide.spark.running._WAIT_FOR_LOCK", 0.0)
    first = Stream(prepared, reporter, Figures(), spark=spark)
    with pytest.raises(ServiceError, match="another stream uses the checkpoint"):
        Stream(prepared, reporter, Figures(), spark=spark)
    first.run(once=True)
    Stream(prepared, reporter, Figures(), spark=spark).run(once=True)


def test_labels_spread_evenly(spark: Any) -> None:
    """Every partition gets as many buckets, by Spark's own hash."""
    for buckets in 2, 3, 8:
        frame = spark.createDataFrame([(label,) for label in labels(buckets)], "key int")
        found = frame.selectExpr(f"pmod(hash(key), {buckets}) AS place").collect()
        assert [row.place for row in found] == list(range(buckets))


# -- figures and logs --------------------------------------------------------------------------------------------------


def test_metrics_over_http() -> None:
    figures = Figures()
    Batch(0, events=7, late=1, bad=2, changes=3, query_time=20, clock=26, state_rows=5, state_bytes=99,
          seconds=0.5).added_to(figures)
    server = MetricsServer(Metrics(port=free_port()), figures)
    try:
        base = f"http://127.0.0.1:{server.port}"
        text = urlopen(f"{base}/metrics").read().decode()
        values = dict(line.split() for line in text.splitlines() if not line.startswith("#"))
        assert values["eventide_events_total"] == "7" and values["eventide_lag"] == "6"
        assert values["eventide_bad_total"] == "2" and values["eventide_state_bytes"] == "99"
        assert "# TYPE eventide_changes_total counter" in text
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{base}/elsewhere")
        with pytest.raises(ServiceError, match=r"choose another metrics\.port"):
            MetricsServer(Metrics(port=server.port), figures)
    finally:
        server.close()


def test_logs_as_json_in_a_file(tmp_path: Path) -> None:
    reporter = Reporter(Log(level="info", file=tmp_path / "log", format="json"))
    reporter.say("hello", number=3)
    reporter.say("not told", 10)
    reporter.batch(Batch(4, events=2, seconds=1.0), Figures())
    reporter.close()
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [(line["level"], line["message"]) for line in lines] == [
        ("info", "hello"), ("info", "batch 4: 2 events, 0 rows out, 1.0 s")]
    assert lines[0]["number"] == 3 and lines[1]["batch"] == 4 and lines[1]["events"] == 2
    assert "number" not in lines[1]


def test_a_status_line_on_a_terminal() -> None:
    class Terminal:
        text = ""

        def write(self, text: str) -> None:
            self.text += text

        def flush(self) -> None: ...

        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    reporter = Reporter(Log(), out=terminal)  # type: ignore[arg-type]
    figures = Figures(events_total=10, changes_total=4, query_time=5, lag=1)
    reporter.batch(Batch(0), figures)
    reporter.warn("look")
    reporter.close()
    first, second = terminal.text.split("\n")[:2]
    assert first.startswith("\r\x1b[Kbatch 0 · 10 events") and first.endswith("warning look")
    assert second == "" and "info" not in terminal.text
