"""`eventide run --probabilistic`: rows with probabilities, what is said of them, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventide.cli.main import main

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
initiatedAt(glad(X)=true, T) :- happensAt(meet(X), T), holdsAt(rich(X)=true, T).
"""
EVENTS = "time,event,who,probability\n1,win,ann,0.8\n3,lose,ann,0.5\n5,meet,ann,\n7,meet,ann,\n"
HEAD = "fluent,args,value,start,end,probability\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rules and events, which is the current one."""
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "events.csv").write_text(EVENTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line: str) -> int:
    """`eventide run` of the rules over the events."""
    return main(["run", "rules.ec", "--events", "events.csv", *line.split()])


@pytest.mark.parametrize(("options", "rows"), [
    ("", "glad,ann,true,6,8,0.4\nglad,ann,true,8,,0.64\nrich,ann,true,2,4,0.8\nrich,ann,true,4,,0.4\n"),
    ("--history exact", "glad,ann,true,6,,0.4\nrich,ann,true,2,4,0.8\nrich,ann,true,4,,0.4\n"),
    ("--history exact --threshold 0.6 --fluents rich", "rich,ann,true,2,6,0.6\n"),
    ("--window 3 --step 2 --fluents rich", "rich,ann,true,2,4,0.8\nrich,ann,true,4,,0.4\n"),
])
def test_rows(options: str, rows: str, folder: Path) -> None:
    assert run(f"--probabilistic {options} -o out.csv") == 0
    assert (folder / "out.csv").read_text() == HEAD + rows


def test_what_the_history_decides_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    run("--probabilistic")
    assert "glad(_) read may owe its past to the same facts" in capsys.readouterr().err
    run("--probabilistic --history marginal")
    assert "owe its past" not in capsys.readouterr().err


def test_crisp_recognition_tells_that_it_uses_no_probabilities(capsys: pytest.CaptureFixture[str]) -> None:
    run("")
    assert "the probabilities of facts are not used" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "message"), [
    ("--threshold 0.5", "this needs --probabilistic"), ("--history exact", "this needs --probabilistic"),
    ("--probabilistic --window 5 --history exact", "windows forget the past"),
    ("--probabilistic --horizon 5", "Allen relations"),
    ("--probabilistic --threshold 2", "expected a number from 0 to 1"),
])
def test_refused(options: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(options) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("wrong", ["1.5", "-0.1", "nan", "inf", "much"])
def test_what_is_no_probability(wrong: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "events.csv").write_text(EVENTS + f"9,lose,ann,{wrong}\n")
    assert run("--probabilistic -o out.csv") == 1
    assert "events.csv:6:12: error: probability is not a number from 0 to 1" in capsys.readouterr().err
    assert not (folder / "out.csv").exists()
    assert run("--probabilistic --bad-rows skip --fluents rich -o out.csv") == 0
    assert (folder / "out.csv").read_text() == HEAD + "rich,ann,true,2,4,0.8\nrich,ann,true,4,,0.4\n"
    assert "left out 1 bad row" in capsys.readouterr().err


@pytest.mark.parametrize(("events", "options", "rows"), [
    # in any order
    ("3,lose,ann,0.5\n1,win,ann,0.8\n", "", "rich,ann,true,2,4,0.8\nrich,ann,true,4,,0.4\n"),
    ("3,lose,ann,0.5\n1,win,ann,0.8\n", "--threshold 0.6", "rich,ann,true,2,,0.666666666666667\n"),
    # the same event twice: two observations, 1 - (1 - 0.8)(1 - 0.5)
    ("1,win,ann,0.8\n1,win,ann,0.5\n", "", "rich,ann,true,2,,0.9\n"),
    # nothing happens for long: it goes on as it was, and every time-point counts
    ("1,win,ann,0.8\n1000001,lose,ann,0.5\n1000002,lose,ann,1\n", "--threshold 0.8", "rich,ann,true,2,1000002,0.8\n"),
    ("1,win,ann,0.8\n9,lose,ann,1\n19,win,ann,0.8\n29,lose,ann,1\n", "--threshold 0.6",
     "rich,ann,true,2,12,0.64\nrich,ann,true,17,30,0.615384615384615\n"),
])
def test_gaps_repetitions_and_disorder(events: str, options: str, rows: str, folder: Path) -> None:
    (folder / "events.csv").write_text("time,event,who,probability\n" + events)
    assert run(f"--probabilistic --fluents rich {options} -o out.csv") == 0
    assert (folder / "out.csv").read_text() == HEAD + rows


def test_more_time_points_than_can_be_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "events.csv").write_text("time,event,who,probability\n1,win,ann,0.8\n9000000000,lose,ann,0.5\n")
    assert run("--probabilistic --fluents rich --threshold 0.5") == 1
    assert "choose a coarser tick (--tick)" in capsys.readouterr().err
    assert run("--probabilistic --fluents rich --threshold 0.5 --tick 1000 -q") == 0
