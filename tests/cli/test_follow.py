"""`eventide run --follow`: a stream in pieces gives what a run over the whole gives; interruption and restart."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest

from eventide.cli import follow as module
from eventide.cli.main import main

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
initiatedAt(at(X)=Place, T) :- happensAt(go(X, Place), T).
"""
ROWS = [("go", 9, 9, "ann", "work"), ("win", 13, 13, "ann", ""), ("go", 17, 17, "ann", "pub"),
        ("lose", 19, 19, "ann", ""), ("win", 41, 20, "bob", ""), ("win", 44, 38, "bob", ""), ("go", 70, 70, "ann", "7")]
RTEC = "".join("|".join(str(f) for f in row if f != "") + "\n" for row in ROWS)
HEADED = "event,arrival,time,who,place\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)
JSONL = "".join(json.dumps({"event": event, "arrival": arrival, "time": time, "who": who}
                           | ({"place": int(place) if place.isdigit() else place} if place else {})) + "\n"
                for event, arrival, time, who, place in ROWS)
FORMS = {"rtec.csv": RTEC, "headed.csv": HEADED, "lines.jsonl": JSONL}
OPTIONS = ["--window", "20", "--step", "10", "--start", "0"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program and the stream in every form, which is the current one."""
    (tmp_path / "rules.ec").write_text(RULES)
    for name, text in FORMS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    return main(["run", "rules.ec", *OPTIONS, *arguments])


def feed(monkeypatch: pytest.MonkeyPatch, pieces: list[str]) -> None:
    """Let standard input bring a stream in these pieces."""
    def read(file: int, size: int) -> bytes:
        return next(rest, b"")

    rest: Iterator[bytes] = iter([piece.encode() for piece in pieces])
    monkeypatch.setattr("eventide.formats.tail.os.read", read)
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115


def cut(text: str, size: int) -> list[str]:
    return [text[at:at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("emit", ["changes", "windows"])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_stream_in_pieces_gives_what_a_run_gives(
    form: str, emit: str, size: int, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("--events", form, "--emit", emit, "-o", "whole.csv") == 0
    feed(monkeypatch, cut(FORMS[form].rstrip("\n"), size))
    assert run("--events", "-", "--follow", "--emit", emit, "-o", "out.csv") == 0
    assert (folder / "out.csv").read_text() == (folder / "whole.csv").read_text()
    assert (folder / "out.csv.late.csv").read_text() == (folder / "whole.csv.late.csv").read_text()
    assert "at 50: 1 fact too late (win: 1)" in capsys.readouterr().err


@pytest.mark.parametrize("threshold", [[], ["--threshold", "0.4"]])
def test_uncertain_facts(threshold: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows have probabilities, as in a run over the whole; over three starts and their saved states."""
    lines = [f"{line},{p}" for line, p in zip(
        HEADED.splitlines(), ("probability", 0.5, 0.75, 0.25, 0.5, 1, 0.5, 1), strict=True)]
    (folder / "whole.in.csv").write_text("\n".join(lines) + "\n")
    options = ["--probabilistic", *threshold, "-o"]
    assert run("--events", "whole.in.csv", "--emit", "changes", *options, "whole.csv") == 0
    whole = (folder / "whole.csv").read_text()
    assert whole.startswith("query_time,change,fluent,args,value,start,end,probability\n") and ",0.5\n" in whole
    stream = folder / "stream.csv"
    stream.touch()
    for part in (lines[:4], lines[4:6], lines[6:]):
        monkeypatch.setattr(module, "sleep", Interrupted(stream, ["\n".join(part) + "\n"]))
        assert run("--events", "stream.csv", "--follow", "--state", "state", *options, "grown.csv") == 130
    covered = "".join(line for line in whole.splitlines(keepends=True) if not line.startswith("70"))
    assert (folder / "grown.csv").read_text() == covered
    assert run("--events", "stream.csv", "--follow", "--state", "state", "-o", "grown.csv") == 1  # it is another stream
    feed(monkeypatch, cut("\n".join(lines), 9))
    assert run("--events", "-", "--follow", *options, "out.csv") == 0
    assert (folder / "out.csv").read_text() == whole


def test_standard_output(folder: Path) -> None:
    command = [sys.executable, "-m", "eventide", "-q", "run", "rules.ec", *OPTIONS, "--events", "-", "--follow"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write("go|9|9|ann|work\nwin|13|13|ann\ngo|17")
    child.stdin.flush()
    assert child.stdout.readline() == "query_time,change,fluent,args,value,start,end\n"
    assert child.stdout.readline() == "10,+,at,ann,work,10,\n"  # 13 shows that 10 has passed; the stream goes on
    child.stdin.write("|17|ann|pub\n")
    assert child.communicate()[0] == (
        "20,+,at,ann,pub,18,\n20,+,at,ann,work,10,18\n20,+,rich,ann,true,14,\n20,-,at,ann,work,10,\n")
    assert child.returncode == 0


class Interrupted:
    """Lets a file grow by one piece whenever the stream waits for more, and then presses Ctrl-C."""

    def __init__(self, path: Path, pieces: list[str]) -> None:
        self.path, self.pieces = path, list(pieces)

    def __call__(self, seconds: float) -> None:
        if not self.pieces:
            raise KeyboardInterrupt
        with self.path.open("a") as file:
            file.write(self.pieces.pop(0))


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_grows_and_a_restart(form: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is interrupted, the output goes on where it was, with whole query times only."""
    assert run("--events", form, "--emit", "changes", "-o", "whole.csv") == 0
    whole = (folder / "whole.csv").read_text()
    covered = "".join(line for line in whole.splitlines(keepends=True) if not line.startswith("70"))
    stream = folder / f"stream.{form.rpartition('.')[2]}"
    stream.touch()
    for piece in cut(FORMS[form], 40):
        monkeypatch.setattr(module, "sleep", Interrupted(stream, [piece[:13], piece[13:]]))
        code = run("--events", stream.name, "--follow", "-o", "out.csv", "--state", "state")
        assert code == 130
        shown = (folder / "out.csv").read_text()
        assert covered.startswith(shown)
        with (folder / "out.csv").open("a") as out:
            out.write("50,+,half")  # as if it had been killed while it wrote
    assert shown == covered
    assert "win,bob,,20,21,+,50" in (folder / "out.csv.late.csv").read_text()
    assert run("--events", stream.name, "--follow", "-o", "out.csv", "--state", "state", "--tick", "2") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_killed_again_and_again_it_goes_on_where_it_was(folder: Path) -> None:
    events = "".join(f"{'win' if time % 3 else 'lose'}|{time}|{time}|v{time % 7}\n" for time in range(400))
    (folder / "whole.csv").write_text(events)
    assert run("--events", "whole.csv", "--emit", "changes", "-o", "wanted.csv") == 0
    stream, out = folder / "stream.csv", folder / "out.csv"
    command = [sys.executable, "-m", "eventide", "-q", "run", "rules.ec", *OPTIONS, "--events", stream.name, "--follow",
               "-o", out.name, "--state", "state"]
    for given in 1500, 3200, len(events):
        stream.write_text(events[:given])
        size = out.stat().st_size if out.exists() else 0
        child = subprocess.Popen(command)
        while child.poll() is None and not (out.exists() and out.stat().st_size > size):
            sleep(0.01)
        child.kill()
        assert child.wait() == -signal.SIGKILL
    child = subprocess.Popen(command)  # nothing new comes: what is there is due
    wanted = "".join(line for line in (folder / "wanted.csv").read_text().splitlines(keepends=True)
                     if not line.startswith("400"))  # which no later event has shown to be over
    while child.poll() is None and out.read_text() != wanted:
        sleep(0.01)
    child.send_signal(signal.SIGINT)
    assert child.wait() == 130
    assert out.read_text() == wanted


def test_a_file_that_becomes_shorter(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "sleep", lambda seconds: (folder / "rtec.csv").write_text("go"))
    assert run("--events", "rtec.csv", "--follow") == 1
    assert "rtec.csv:1:1: error: the file is shorter than what was read of it" in capsys.readouterr().err


@pytest.mark.parametrize("form, bad, place", [
    ("rtec.csv", "wim|75|75|ann\n", "<stdin>:8:1"), ("headed.csv", "wim,75,75,ann,\n", "<stdin>:9:1"),
    ("lines.jsonl", '{"event": "wim", "time": 75}\n', "<stdin>:8:2"),
])
def test_bad_rows(
    form: str, bad: str, place: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    feed(monkeypatch, cut(FORMS[form] + bad, 50))
    assert run("--events", "-", "--follow") == 1
    printed = capsys.readouterr()
    assert f"{place}: error: the program does not know wim" in printed.err
    assert "50,+,rich,bob,true,39," in printed.out
    feed(monkeypatch, cut(FORMS[form] + bad + bad, 50))
    assert run("--events", "-", "--follow", "--bad-rows", "skip", "-o", "out.csv") == 0
    assert "left out 2 bad rows; they are in out.csv.bad.csv" in capsys.readouterr().err
    assert (folder / "out.csv.bad.csv").read_text().count("does not know wim") == 2
    assert (folder / "out.csv.bad.csv").read_text().count("problem") == 1


def test_late_facts_can_stop_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    feed(monkeypatch, [RTEC])
    assert run("--events", "-", "--follow", "--late", "fail") == 1
    printed = capsys.readouterr()
    assert "1 fact of win(_) arrived later than the window reaches back" in printed.err
    assert printed.out.splitlines()[-1].startswith("20,")


def test_a_line_does_not_arrive_before_the_one_above_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So the answer does not depend on how the stream is cut into pieces."""
    shown = []
    for size in (1, 1000):
        feed(monkeypatch, cut("win|5|5|ann\ngo|25|25|ann|work\nlose|15|15|ann\ngo|40|40|ann|pub\n", size))
        assert run("--events", "-", "--follow", "--fluents", "rich") == 0
        shown.append(capsys.readouterr().out.splitlines()[1:])
    assert shown[0] == shown[1] == ["10,+,rich,ann,true,6,", "30,+,rich,ann,true,6,16", "30,-,rich,ann,true,6,"]


def test_what_is_older_than_the_first_line_counts_inside_of_the_window(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for window, lines, row, said in (
            ("3", "win|5|5|ann\nlose|4|4|ann\n", "7,+,rich,ann,true,6,", "at 7: 1 fact too late (lose: 1)"),
            ("4", "lose|5|5|ann\nwin|4|4|ann\n", "7,+,rich,ann,true,5,6", "followed 2 facts through 1 query time")):
        feed(monkeypatch, [lines])
        assert main(["run", "rules.ec", "--events", "-", "--follow", "--step", "3", "--window", window]) == 0
        printed = capsys.readouterr()
        assert printed.out.splitlines()[1:] == [row]
        assert said in printed.err


@pytest.mark.parametrize("options, problem", [
    (["--events", "rtec.csv", "headed.csv", "--follow"], "one file or - can be followed"),
    (["--events", "a.parquet", "--follow"], "a .csv, a .jsonl or - can be followed"),
    (["--events", "rtec.csv", "--follow", "--end", "9"], "has no end"),
    (["--events", "rtec.csv", "--follow", "--emit", "timeline"], "choose windows or changes"),
    (["--events", "rtec.csv", "--follow", "-o", "out.parquet"], "Parquet cannot grow"),
    (["--events", "-", "--follow", "-o", "out.csv", "--state", "s"], "it needs -o and a file to follow"),
    (["--events", "-"], "this needs --follow"),
    (["--events", "rtec.csv", "--state", "s"], "this needs --follow"),
])
@pytest.mark.usefixtures("folder")
def test_wrong_usage(options: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*options) == 2
    assert problem in capsys.readouterr().err
    assert main(["run", "rules.ec", "--events", "rtec.csv", "--follow"]) == 2


def test_ctrl_c_waits_for_the_end_of_a_query_time() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), module.uninterrupted():
        signal.raise_signal(signal.SIGINT)
        done.append("whole")
    assert done == ["whole"]
