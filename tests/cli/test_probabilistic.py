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
    assert run(options) == 2 or "threshold 2" in options
    assert message in capsys.readouterr().err
