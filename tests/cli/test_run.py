"""`eventide run`: results by format and kind, the account of what was left out, exit codes, interruption."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from eventide.cli.main import main

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
initiatedAt(at(X)=Place, T) :- happensAt(go(X, Place), T).
holdsFor(happy(X)=true, I) :-
    holdsFor(rich(X)=true, I1), holdsFor(at(X)=pub, I2), union_all([I1, I2], I).
"""
EVENTS = "go|9|9|ann|work\nwin|13|13|ann\ngo|17|17|ann|pub\nlose|19|19|ann\n"
TIMELINE = """fluent,args,value,start,end
at,ann,pub,18,
at,ann,work,10,18
happy,ann,true,14,
rich,ann,true,14,20
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program and its events, which is the current one."""
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "events.csv").write_text(EVENTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    """`eventide run` on the program of the folder; options may be written in one text."""
    return main(["run", "rules.ec", *(word for argument in arguments for word in argument.split())])


@pytest.mark.usefixtures("folder")
class TestResults:
    def test_csv_on_standard_output(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run("--events", "events.csv") == 0
        printed = capsys.readouterr()
        assert printed.out == TIMELINE
        assert "read 4 facts of 3 kinds" in printed.err
        assert "recognised 4 rows from 4 facts at 1 query time" in printed.err

    def test_a_file_by_its_ending(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for name in ("out.csv", "out.jsonl", "out.parquet"):
            assert run("--events", "events.csv", "-o", name) == 0
        assert capsys.readouterr().out == ""
        assert (folder / "out.csv").read_text() == TIMELINE
        rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
        assert rows == pq.read_table(folder / "out.parquet").to_pylist()
        assert rows[0] == {"fluent": "at", "args": "ann", "value": "pub", "start": 18, "end": None}

    def test_windows(self, capsys: pytest.CaptureFixture[str]) -> None:
        options = "--events events.csv --window 10 --step 5 --start 5 --emit windows --fluents rich"
        assert run(options) == 0
        assert capsys.readouterr().out == (
            "query_time,fluent,args,value,start,end\n15,rich,ann,true,14,16\n20,rich,ann,true,14,20\n")

    def test_changes(self, capsys: pytest.CaptureFixture[str]) -> None:
        options = "--events events.csv --window 20 --step 5 --start 5 --emit changes --fluents rich"
        assert run(options) == 0
        assert capsys.readouterr().out == (
            "query_time,change,fluent,args,value,start,end\n"
            "15,+,rich,ann,true,14,\n20,+,rich,ann,true,14,20\n20,-,rich,ann,true,14,\n")

    def test_a_step_without_a_window_is_the_window_too(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run("--events events.csv --step 10 --start 0 --emit windows --fluents rich") == 0
        assert capsys.readouterr().out.splitlines()[1:] == ["20,rich,ann,true,14,20"]

    def test_a_horizon_bounds_how_far_before_looks_back(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "rules.ec").write_text(
            "collectIntervals(i(_)=true).\ncollectIntervals(j(_)=true).\n"
            "holdsFor(k(X)=true, I) :- holdsFor(i(X)=true, S), holdsFor(j(X)=true, T), "
            "allen(before, S, T, target, I).\n")
        (folder / "events.csv").write_text("i|5|2|5|true|a\nj|95|90|95|true|a\n")
        options = "--events events.csv --window 10 --start 0 --emit changes"
        assert run(options) == 0
        assert capsys.readouterr().out.splitlines()[1:] == ["100,+,k,a,true,91,95"]
        assert run(options, "--horizon 20") == 0
        assert capsys.readouterr().out.splitlines()[1:] == []
        assert run(options, "--horizon 0") == 2

    def test_a_horizon_that_hides_something_is_told(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "rules.ec").write_text(
            "collectIntervals(i(_)=true).\ncollectIntervals(j(_)=true).\n"
            "holdsFor(k(X)=true, I) :- holdsFor(i(X)=true, S), holdsFor(j(X)=true, T), "
            "allen(before, S, T, source, I).\n")
        (folder / "events.csv").write_text("i|5|2|5|true|a\nj|45|40|45|true|a\n")
        options = "--events events.csv --start 0"
        assert run(options, "--horizon 34") == 0
        told = "2 intervals had a partner for `before` beyond the horizon only; a longer --horizon sees more"
        assert told in capsys.readouterr().err.splitlines()
        for horizon in ("--horizon 35", ""):
            assert run(options, horizon) == 0
            assert "horizon" not in capsys.readouterr().err
        assert main(["--json", "run", "rules.ec", *options.split(), "--window", "60", "--horizon", "34"]) == 0
        said = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
        assert {"severity": "info", "message": told, "beyond_horizon": 2} in said

    def test_several_files_behind_one_option(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        lines = EVENTS.splitlines(keepends=True)
        (folder / "a.csv").write_text("".join(lines[:2]))
        (folder / "b.csv").write_text("".join(lines[2:]))
        for files in (["--events", "a.csv", "b.csv"], ["--events", "a.csv", "--events", "b.csv"],
                      ["--events=a.csv", "b.csv"]):
            assert run(*files) == 0
            assert capsys.readouterr().out == TIMELINE

    def test_background(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "rules.ec").write_text("initiatedAt(f(X)=V, T) :- happensAt(win(X), T), kind(X, V), good(V).")
        (folder / "events.csv").write_text("win|1|1|ann\nwin|1|1|bob\n")
        (folder / "kinds.csv").write_text("who,kind\nann,new\nbob,old\n")
        (folder / "good.ec").write_text("good(new).")
        assert run("--events", "events.csv", "--background", "kind=kinds.csv", "good.ec") == 0
        assert capsys.readouterr().out.splitlines()[1:] == ["f,ann,new,2,"]

    def test_ties_tick_and_initially_at(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        lamp = "initially(lit=true).\nterminatedAt(lit=true, T) :- happensAt(off, T)."
        (folder / "rules.ec").write_text(RULES + lamp)
        (folder / "events.csv").write_text("win|10|10|ann\nlose|10|10|ann\noff|20|20\n")
        options = "--events events.csv --tick 10 --initially-at -20 --start -30 --fluents rich,lit"
        assert run(options) == 0
        assert capsys.readouterr().out.splitlines()[1:] == ["lit,,true,-20,30"]
        assert run(options, "--ties", "initiation") == 0
        assert capsys.readouterr().out.splitlines()[1:] == ["lit,,true,-20,30", "rich,ann,true,20,"]

    def test_dates(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "events.csv").write_text("time,event,who\n1970-01-01T00:01:00,win,ann\n")
        assert run("--events", "events.csv", "--time-unit", "ms") == 0
        assert capsys.readouterr().out.splitlines()[1] == "happy,ann,true,60001,"

    def test_quiet(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run("--events", "events.csv", "-q") == 0
        assert capsys.readouterr().err == ""

    def test_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run("--events", "events.csv", "--json", "--profile") == 0
        printed = capsys.readouterr()
        assert len([json.loads(line) for line in printed.out.splitlines()]) == 4
        said = [json.loads(line) for line in printed.err.splitlines()]
        assert any(row.get("rows") == 4 and row["facts"] == 4 for row in said)
        assert {row["part"] for row in said if "part" in row} == {"rules", "reading", "reasoning", "writing"}

    def test_threads_change_nothing(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run("--events", "events.csv", "--threads", "1") == 0
        assert capsys.readouterr().out == TIMELINE


@pytest.mark.usefixtures("folder")
class TestAccount:
    def test_facts_outside_the_run_are_counted(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run("--events", "events.csv", "--start", "9", "--end", "18") == 0
        said = capsys.readouterr().err
        assert "left out 1 fact up to the start of the run" in said
        assert "left out 1 fact after the end of the run" in said

    def test_late_facts_are_counted_by_name(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "events.csv").write_text(EVENTS + "win|60|20|bob\ngo|70|70|ann|home\n")
        assert run("--events", "events.csv", "--window", "10") == 0
        assert "left out 1 fact that arrived too late for the window (win(_): 1)" in capsys.readouterr().err
        assert run("--events", "events.csv", "--window", "10", "--late", "fail", "-o", "out.csv") == 1
        printed = capsys.readouterr()
        assert "1 fact of win(_) arrived later" in printed.err
        assert not (folder / "out.csv").exists()
        assert run("--events", "events.csv", "--window", "10", "--late", "fail", "--emit", "changes") == 1
        assert capsys.readouterr().out == ""

    def test_late_facts_are_listed_beside_the_result(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "events.csv").write_text(EVENTS + "win|60|20|bob\ngo|70|70|ann|home\n")
        assert run("--events events.csv --window 10 --start 0 -o out.csv") == 0
        assert "(win(_): 1); they are in out.csv.late.csv" in capsys.readouterr().err
        assert (folder / "out.csv.late.csv").read_text() == (
            "fact,args,value,start,end,change,query_time\nwin,bob,,20,21,+,60\n")

    def test_bad_rows_fail_and_nothing_is_written(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "events.csv").write_text("wim|1|1|ann\n" * 30)
        assert run("--events", "events.csv", "-o", "out.csv") == 1
        said = capsys.readouterr().err
        assert said.count("the program does not know wim") == 20
        assert "and 10 more bad rows" in said
        assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "rules.ec"]

    def test_bad_rows_are_skipped_into_a_file(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "events.csv").write_text(EVENTS + "wim|1|1|ann\n")
        assert run("--events", "events.csv", "--bad-rows", "skip", "-o", "out.csv") == 0
        assert "left out 1 bad row; they are in out.csv.bad.csv" in capsys.readouterr().err
        assert (folder / "out.csv").read_text() == TIMELINE
        assert (folder / "out.csv.bad.csv").read_text().splitlines()[1] == (
            "events.csv,5,1,the program does not know wim,wim|1|1|ann")

    def test_words_in_columns_of_numbers_are_bad_rows(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "rules.ec").write_text("initiatedAt(fast(X)=V, T) :- happensAt(speed(X, V), T), V > 5.")
        (folder / "events.csv").write_text("time,event,who,speed\n1,speed,ann,7\n2,speed,ann,unknown\n3,speed,ann,9\n")
        assert run("--events", "events.csv", "--bad-rows", "skip") == 0
        assert capsys.readouterr().out.splitlines()[1:] == ["fast,ann,7,2,4", "fast,ann,9,4,"]
        assert "unknown" in (folder / "eventide.bad.csv").read_text()

    def test_nan_in_a_column_of_numbers_is_a_bad_row(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "rules.ec").write_text("initiatedAt(fast(X)=V, T) :- happensAt(speed(X, V), T), V > 5.")
        (folder / "events.csv").write_text("time,event,who,speed\n1,speed,ann,7.5\n2,speed,ann,nan\n3,speed,ann,9\n")
        assert run("--events", "events.csv") == 1
        assert "events.csv:3:13: error: argument 2 of speed is 'nan'" in capsys.readouterr().err
        assert run("--events", "events.csv", "--bad-rows", "skip") == 0
        assert capsys.readouterr().out.splitlines()[1:] == ["fast,ann,7.5,2,4", "fast,ann,9.0,4,"]

    @pytest.mark.parametrize("text", ["rich|5|5|true|ann\n", "time,event,who\n5,rich,ann\n"])
    def test_a_derived_fluent_among_the_data(
        self, text: str, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "events.csv").write_text(text)
        assert run("--events", "events.csv") == 1
        assert "the program derives rich itself; it cannot be among the data" in capsys.readouterr().err

    def test_an_unsorted_file_is_noted(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "events.csv").write_text("".join(reversed(EVENTS.splitlines(keepends=True))))
        assert run("--events", "events.csv") == 0
        printed = capsys.readouterr()
        assert printed.out == TIMELINE
        assert "events.csv:2:1: info: rows are not in order" in printed.err

    def test_warnings_are_counted(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "rules.ec").write_text(RULES + "terminatedAt(poor(X)=true, T) :- happensAt(win(X), T).")
        assert run("--events", "events.csv") == 0
        assert "1 warning about the rules" in capsys.readouterr().err


def test_the_example_of_the_help_works_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command, shows in {"run": "rich,ann,true,4,\n", "check": "rich(x)", "graph": ""}.items():
        assert main([command, "--help"]) == 0
        example = capsys.readouterr().out.partition("Example:")[2].partition("╭")[0]
        script = f'eventide() {{ "{sys.executable}" -m eventide "$@"; }}\n' + "\n".join(
            line.strip() for line in example.splitlines())
        done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert shows in done.stdout


def test_an_interrupted_run_leaves_nothing(folder: Path) -> None:
    program = (
        "import sys, time; from eventide.cli.main import main; from eventide.formats import results\n"
        "def slow(columns, out): out.write(b'half'); out.flush(); print('writing', flush=True); time.sleep(60)\n"
        "results.WRITERS['.csv'] = slow\n"
        "sys.exit(main(['run', 'rules.ec', '--events', 'events.csv', '-o', 'out.csv']))"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "writing\n"
    child.send_signal(signal.SIGINT)
    said = child.communicate()[1]
    assert child.returncode == 130
    assert said.endswith("error: interrupted\n")
    assert "Traceback" not in said
    assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "rules.ec"]


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_bar_on_a_terminal_and_lines_otherwise(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from eventide.cli import progress

    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    assert run("--events", "events.csv", "--window", "5") == 0
    assert "window 1 of " in capsys.readouterr().err

    import pty

    outer, inner = pty.openpty()
    child = subprocess.Popen([sys.executable, "-m", "eventide", "run", "rules.ec", "--events", "events.csv",
                              "--window", "5", "-o", "out.csv"], stderr=inner, env=os.environ | {"TERM": "xterm"})
    os.close(inner)
    shown = b""
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        try:
            piece = os.read(outer, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(outer)
    assert child.wait() == 0
    assert "windows" in shown.decode() and "━" in shown.decode()


@pytest.mark.parametrize("name", ["events.csv", "win=wins.csv", "./events.csv"])
def test_the_result_does_not_replace_an_input(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "wins.csv").write_text("time,who\n5,ann\n")
    file = folder / name.rpartition("=")[2]
    before = file.read_text()
    assert run("--events", name, "-o", str(file)) == 2
    assert "is an input of this run" in capsys.readouterr().err
    assert file.read_text() == before


@pytest.mark.parametrize("redirection, message", [
    (">&-", "standard output is closed"),
    ("> /dev/full", "cannot write: No space left on device"),
])
def test_standard_output_that_takes_nothing(redirection: str, message: str, folder: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m eventide -q run rules.ec --events events.csv {redirection}"
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
