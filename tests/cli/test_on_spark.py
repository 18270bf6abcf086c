"""`eventide run --engine spark` says what `eventide run` says about bad input, and leaves out the same."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import eventide as ev
from eventide.cli.main import main
from eventide.errors import InputError, ProgramError
from eventide.formats.problems import SHOWN
from eventide.spark.batch import run
from eventide.spark.failures import clear_error, spark_error
from eventide.spark.tally import Tally

pytestmark = pytest.mark.spark
RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
initiatedAt(big(X)=true, T) :- happensAt(score(X, N), T), N * 9000000000000000000 > 7.
"""
TRACES = re.compile(r"Traceback|^\s+at |java\.|org\.apache|py4j|WARN|FutureWarning", re.MULTILINE)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: Any) -> Iterator[Path]:
    """A folder with a program, which is the current one, while Spark runs."""
    (tmp_path / "rules.ec").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert spark.range(1).count() == 1  # nothing that goes wrong ends the session


Told = tuple[int, list[str], dict[str, list[str]]]


@pytest.fixture
def both(capsys: pytest.CaptureFixture[str]) -> Callable[[str], tuple[Told, Told]]:
    """`both("--events a.csv")`: exit code, what is said, and the lines of what is written, without and with Spark."""
    def on(engine: str, options: str) -> Told:
        code = main(["run", "rules.ec", *options.split(), "--engine", engine, "-o", "out.csv"])
        said = capsys.readouterr().err
        assert not TRACES.search(said)
        lines = [re.sub(r" in \d+\.\d+ s", "", line) for line in said.splitlines()]
        written = {}
        for path in sorted(Path().glob("*out.*")):
            written[path.name] = path.read_text().splitlines()
            path.unlink()
        return code, [line for line in lines if not re.match(r"read \d|.*\[unsorted-file\]", line)], written

    return lambda options: (on("local", options), on("spark", options))


# -- what is left out --------------------------------------------------------------------------------------------------

BAD = "win|1|1|ann\nwinn|7|7|bob\nwin|x|7|bob\nlose|9|9|ann\nwin|9\n"


def test_bad_rows_stop_the_run(both: Any) -> None:
    Path("a.csv").write_text(BAD * 7)
    Path("b.csv").write_text("wim|1|1|ann\n")
    local, spark = both("--events a.csv b.csv --start 0 --end 20")
    assert local == spark
    assert (local[0], local[1][-2:], local[2]) == (1, ["and 2 more bad rows", local[1][-1]], {})
    assert "nothing was read" in local[1][-1] and sum("error:" in line for line in local[1]) == SHOWN


@pytest.mark.slow
def test_bad_rows_of_pieces_of_a_file_have_their_places(both: Any) -> None:
    names = ["win"] * 60
    names[40] = names[57] = "winn"
    Path("some.parquet").mkdir()
    for number in (1, 2):
        table = pa.table({"time": [*range(59), None], "event": names, "who": ["ann"] * 60})
        pq.write_table(table, f"some.parquet/{number}.parquet", row_group_size=20)
    _, (code, said, _) = both("--events some.parquet")
    assert code == 1
    assert [line for line in said if "error:" in line] == [
        f"some.parquet/{number}.parquet:{problem}" for number in (1, 2) for problem in (
            "41:2: error: the program does not know winn [unknown-name]",
            "58:2: error: the program does not know winn [unknown-name]", "60:1: error: time is empty [empty-field]")]


def test_bad_rows_are_left_out_and_the_first_are_listed(both: Any) -> None:
    Path("a.csv").write_text(BAD * 10 + "score|3|3|ann|much\n")
    local, spark = both("--events a.csv --bad-rows skip")
    assert local[0] == spark[0] == 0 and local[2]["out.csv"] == spark[2]["out.csv"]
    assert "left out 31 bad rows; they are in out.csv.bad.csv" in local[1]
    assert f"left out 31 bad rows; the first {SHOWN} are in out.csv.bad.csv" in spark[1]
    assert local[1][-1] == spark[1][-1]
    assert local[2]["out.csv.bad.csv"][:SHOWN + 1] == spark[2]["out.csv.bad.csv"]


@pytest.mark.parametrize("late", ["report", "fail"])
def test_late_facts_and_facts_outside_the_run(late: str, both: Any) -> None:
    Path("a.csv").write_text("win|1|1|eve\nwin|5|5|ann\nlose|19|6|ann\nwin|8|8|bob\nlose|16|9|bob\nwin|17|17|bob\n"
                             "score|14|7|ann|3\nwin|30|30|bob\n")
    local, spark = both(f"--events a.csv --window 4 --step 2 --start 3 --end 20 --late {late}")
    assert local == spark
    if late == "fail":
        assert (local[0], local[2]) == (1, {}) and "arrived later than the window" in local[1][0]
        return
    assert local[0] == 0 and "left out 1 fact up to the start of the run" in local[1]
    assert any(line.startswith("left out 3 facts that arrived too late for the window (lose") for line in local[1])
    assert len(local[2]["out.csv.late.csv"]) == 4


def test_what_is_computed_twice_counts_once(spark: Any, tmp_path: Path) -> None:
    program = ev.parse(RULES)
    table = pa.table({"time": [*range(50), None], "event": ["win"] * 50 + ["lose"], "who": ["ann"] * 51})
    for number in range(3):
        pq.write_table(table, tmp_path / f"{number}.parquet")
    tally = Tally(spark)
    paths = [str(tmp_path / f"{number}.parquet") for number in range(3)]
    frame = run(program, paths, start=9, end=30, spark=spark, tally=tally, bad_rows="skip")
    for _ in range(2):
        frame.collect()
        counts = tally.counts
        assert (counts.facts, counts.before_start, counts.after_end, tally.bad_rows) == (150, 30, 57, 3)
    run(program, paths[0], start=9, end=30, spark=spark, tally=tally, bad_rows="skip").collect()
    assert (tally.counts.facts, tally.bad_rows) == (200, 4)  # another run counts for itself


# -- what stops a run --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_files_that_cannot_be_read(both: Any) -> None:
    pq.write_table(pa.table({"event": ["win"], "who": ["ann"]}), "no_time.parquet")
    pq.write_table(pa.table({"time": range(9000), "event": ["win"] * 9000, "who": map(str, range(9000))}), "a.parquet")
    whole = Path("a.parquet").read_bytes()
    Path("short.parquet").write_bytes(whole[: len(whole) // 2])
    Path("garbled.parquet").write_bytes(whole[:100] + b"\xff" * 3000 + whole[3100:])
    for name in ("no_time.parquet", "nowhere.csv"):
        local, spark = both(f"--events {name}")
        assert local == spark and local[0] == 1 and local[1][0].startswith(f"{name}:1:1: error: ")
    for name, problem in {"short.parquet": "no Parquet file: ", "garbled.parquet": "no Parquet file: ",
                          "nowhere.parquet": "cannot read the file: "}.items():
        (_, local, _), (code, said, written) = both(f"--events {name}")
        assert code == 1 and said[0].startswith(f"{name}:1:1: error: {problem}") and len(said) == 2
        assert local[0].startswith(f"{name}:1:1: error: ") and not written


def test_rules_that_fail_inside_a_task(both: Any, spark: Any) -> None:
    Path("a.csv").write_text("score|1|1|ann|2000000000\n")
    local, on_spark = both("--events a.csv")
    assert local == on_spark
    assert local[0] == 1 and "rules.ec:4:" in local[1][0] and "does not fit 64 bits" in local[1][0]
    events = spark.createDataFrame([(1, "score", "ann", 2000000000)], "time long, event string, who string, n long")
    with pytest.raises(Exception) as caught:
        run(ev.load("rules.ec"), events).collect()
    error = clear_error(caught.value)
    assert isinstance(error, ProgramError) and error.diagnostics[0].code == "arithmetic-overflow"
    assert error.diagnostics[0].span is not None and error.diagnostics[0].hint


def test_a_frame_without_a_column(spark: Any) -> None:
    with pytest.raises(InputError, match="<DataFrame>:1:1: error: no column time") as caught:
        run(ev.parse(RULES), spark.createDataFrame([("win", "ann")], "event string, who string"))
    assert caught.value.diagnostics[0].hint == "rename the column with the times"


def test_a_result_without_room(both: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.csv").write_text("win|1|1|ann\n")

    def full(source: str, target: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    local, spark = both("--events a.csv")
    assert local == spark and local[0] == 1
    assert local[1:] == (["out.csv:1:1: error: cannot write the file: No space left on device [cannot-write]"], {})


@pytest.mark.parametrize("text, told", [
    ("java.io.IOException: No space left on device", "No space left on device: Spark had no room"),
    ("SparkException: Python worker exited unexpectedly (crashed)", "a worker of Spark was lost"),
])
def test_what_spark_cannot_do(text: str, told: str) -> None:
    error = spark_error(RuntimeError(f"Job aborted: {text}\n\tat org.apache.spark"))
    assert error is not None and str(error).startswith(told)
    assert spark_error(RuntimeError("something else")) is None


@pytest.mark.slow
def test_nothing_but_messages_from_a_session_of_its_own(folder: Path) -> None:
    Path("a.csv").write_text(BAD)
    command = [sys.executable, "-m", "eventide", "run", "rules.ec", "--events", "a.csv", "--engine", "spark",
               "--spark-master", "local[1]", "--start", "0", "--end", "9"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and not done.stdout
    assert not TRACES.search(done.stderr) and done.stderr.startswith("a.csv:2:1: error: the program does not know winn")
