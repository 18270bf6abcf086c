"""`eventide intervals`: the example of its help, every option, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eventide.cli.main import main

PROBS = "time,probability\n1,0\n2,0.5\n3,0.7\n4,0.9\n5,0.4\n6,0.1\n7,0\n8,0\n9,0.5\n10,1\n"
HEAD = "fluent,args,value,start,end,probability\n"
ALL = HEAD + "probs,,true,1,6,0.5\nprobs,,true,2,7,0.52\nprobs,,true,8,11,0.5\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with probabilities, which is the current one."""
    (tmp_path / "probs.csv").write_text(PROBS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def intervals(line: str) -> int:
    """`eventide intervals` with arguments in one text."""
    return main(["intervals", *line.split()])


@pytest.mark.parametrize(("options", "expected"), [
    ("", ALL),
    ("--batch 3", ALL),
    ("--credible", HEAD + "probs,,true,2,7,0.52\nprobs,,true,8,11,0.5\n"),
    ("--memory 2 --batch 4", HEAD + "probs,,true,1,6,0.5\nprobs,,true,2,7,0.52\nprobs,,true,9,11,0.75\n"),
    ("--memory 50 --durations 4,1 --seed 3", ALL),
    ("--memory 50 --durations 4,1 --resolver published", ALL),
    ("--memory 50 --resolver fifo", ALL),
])
def test_options(options: str, expected: str, folder: Path) -> None:
    assert intervals(f"probs.csv --threshold 0.5 {options} -o out.csv") == 0
    assert (folder / "out.csv").read_text() == expected


def test_standard_output_and_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert intervals("probs.csv --threshold 0.7") == 0
    printed = capsys.readouterr()
    assert printed.out == HEAD + "probs,,true,2,5,0.7\nprobs,,true,9,11,0.75\n"
    assert printed.err == "2 intervals in 1 stream\n"
    assert intervals("probs.csv --threshold 0.7 --json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["start"], row["end"]) for row in rows] == [(2, 5), (9, 11)]


def test_learned_durations(folder: Path) -> None:
    assert intervals("probs.csv --threshold 0.5 --learn durations.json -o out.csv") == 0
    assert json.loads((folder / "durations.json").read_text())["counts"] == [[3, 1], [5, 2]]
    assert intervals("probs.csv --threshold 0.5 --memory 9 --durations durations.json -o again.csv") == 0
    assert (folder / "again.csv").read_text() == ALL


@pytest.mark.parametrize(("line", "code", "words"), [
    ("probs.csv", 2, ["threshold"]),
    ("probs.csv --threshold 2", 2, ["--threshold", "threshold is 2", "0 to 1"]),
    ("probs.csv --threshold 0.5 --durations 4", 1, ["cannot read the durations"]),
    ("probs.csv --threshold 0.5 --durations 4,1", 2, ["--memory", "give a memory"]),
    ("probs.csv --threshold 0.5 --resolver fifo", 2, ["give a memory"]),
    ("probs.csv --threshold 0.5 --memory 4 --resolver fifo --durations 4,1", 2, ["makes no use of durations"]),
    ("probs.csv --threshold 0.5 --memory 4 --durations 4,x", 2, ["MEAN,SD"]),
    ("probs.csv --threshold 0.5 --memory -1", 2, ["memory"]),
    ("probs.csv --threshold 0.5 --resolver best", 2, ["resolver"]),
    ("probs.csv --threshold 0.5 -o out.txt", 2, ["ending"]),
    ("probs.csv --threshold 0.5 -o probs.csv", 2, ["an input of this run"]),
    ("absent.csv --threshold 0.5", 1, ["absent.csv", "cannot read"]),
    ("gap.csv --threshold 0.5 -o out.csv", 1, ["gap.csv:3:1", "1 is missing", "--gaps", "3,0.5"]),
    ("twice.csv --threshold 0.5 -o out.csv", 1, ["twice.csv:4:", "has a probability already"]),
    ("high.csv --threshold 0.5 -o out.csv", 1, ["high.csv:3:3", "1.5 is no probability"]),
    ("undefined.csv --threshold 0.5 -o out.csv", 1, ["undefined.csv:3:3", "nan is no probability"]),
])
def test_refused(line: str, code: int, words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "gap.csv").write_text("time,probability\n1,0.5\n3,0.5\n4,0.5\n")
    (folder / "twice.csv").write_text("time,probability\n1,0.5\n2,0.5\n2,0.5\n")
    (folder / "high.csv").write_text("time,probability\n1,0.5\n2,1.5\n")
    (folder / "undefined.csv").write_text("time,probability\n1,0.5\n2,nan\n")
    assert intervals(line) == code
    told = capsys.readouterr().err
    for word in words:
        assert word in told
    assert not (folder / "out.csv").exists()


def test_rows_in_any_order(folder: Path) -> None:
    head, *rows = (folder / "probs.csv").read_text().splitlines()
    (folder / "probs.csv").write_text("\n".join([head, *rows[::-1]]) + "\n")
    assert intervals("probs.csv --threshold 0.5 -o out.csv") == 0
    assert (folder / "out.csv").read_text() == ALL


def test_the_example_of_the_help(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "probs.csv").write_text("time,probability\n1,0\n2,0.5\n3,0.7\n4,0.9\n5,0.4\n6,0.1\n")
    assert intervals("probs.csv --threshold 0.5") == 0
    assert capsys.readouterr().out == HEAD + "probs,,true,1,6,0.5\nprobs,,true,2,7,0.52\n"
