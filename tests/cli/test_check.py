"""`eventide check`: every problem with its line, and a summary of what the program reads and derives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eventide.applications import APPLICATIONS
from eventide.cli.main import main

RULES = """initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=true, I1), intDurGreater(I1, 5, I).
happensAt(party(X), T) :- happensAt(start(happy(X)=true), T).
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A program without problems."""
    file = tmp_path / "rules.ec"
    file.write_text(RULES)
    return file


def test_a_sound_program(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(rules)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "0 errors, 0 warnings",
        "inputs",
        "  event                 win(x)",
        "level 1",
        "  simple                rich(x)",
        "level 2",
        "  statically determined happy(x)=true",
        "level 3",
        "  event                 party(x)",
        "a session holds",
        "  win(x)        the window",
        "  rich(x)       the window",
        "  happy(x)=true the window and the last 5 before it (a duration is asked for)",
        "  party(x)      the window and the last 5 before it (for happy(_)=true: a duration is asked for)",
    ]


def test_as_json(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(rules), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["diagnostics"] == []
    assert found["inputs"] == [{"name": "win(x)", "kind": "event", "arity": 1, "arguments": ["x"]}]
    assert [(row["name"], row["level"], row["keys"]) for row in found["results"]] == [
        ("rich(x)", 1, ["x"]), ("happy(x)", 2, ["x"]), ("party(x)", 3, ["x"])]
    assert found["cycles"] == []
    assert found["bounds"][2] == {
        "name": "happy(x)=true", "holds": "the window and the last 5 before it (a duration is asked for)", "limit": 5,
        "why": "a duration is asked for"}


def test_a_problem_is_shown_with_its_line(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules.write_text(RULES + "terminatedAt(rich(X)=true, T) :-\n    hapensAt(lose(X), T).\n")
    assert main(["check", str(rules)]) == 1
    assert capsys.readouterr().out.splitlines()[:5] == [
        f"{rules}:5:5: error: unknown condition 'hapensAt' [misspelt-condition]",
        "        hapensAt(lose(X), T).",
        "        ^^^^^^^^^^^^^^^^^^^^",
        "    hint: did you mean 'happensAt'?",
        "1 error, 0 warnings",
    ]
    assert main(["check", str(rules), "--json"]) == 1
    problem, = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (problem["code"], problem["line"], problem["column"]) == ("misspelt-condition", 5, 5)


def test_warnings_alone_are_no_failure(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules.write_text(RULES + RULES)
    assert main(["check", str(rules)]) == 0
    assert "0 errors, 3 warnings" in capsys.readouterr().out


def test_quiet_shows_problems_only(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(rules), "-q"]) == 0
    assert capsys.readouterr().out == ""


def test_the_plan(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(rules), "--plan"]) == 0
    assert "rich(_) :=" in capsys.readouterr().out
    assert main(["check", str(rules), "--plan", "--json"]) == 0
    assert "rich(_) :=" in json.loads(capsys.readouterr().out)["plan"]


def test_background(rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules.write_text("initiatedAt(f(X)=true, T) :- happensAt(win(X), T), kind(X, new).\n")
    assert main(["check", str(rules)]) == 1
    assert "level 1" in capsys.readouterr().out
    (tmp_path / "kinds.csv").write_text("who,kind\nann,new\n")
    assert main(["check", str(rules), "--background", f"kind={tmp_path / 'kinds.csv'}"]) == 0


@pytest.mark.parametrize("name", sorted(APPLICATIONS))
def test_the_shipped_programs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(APPLICATIONS[name].rules), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert {row["code"] for row in found["diagnostics"] if row["severity"] == "error"} <= {"missing-background"}
    assert found["inputs"] and found["results"]


def test_cycles_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(APPLICATIONS["netbill"].rules)])
    assert "cycle through contract(_,_,_), obl(send_EPO(_,_,_)), " in capsys.readouterr().out
