"""What is said of DatalogMTL rules that cannot be carried out: one problem each, at its place, with a hint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import eventide as ev
from eventide.cli.main import main
from eventide.errors import EventideError, ProgramError

CASES = {
    # ranges
    "P :- <>-[3,1] Q.": ["1:9 reversed-range"], "P :- A since(1,1] B.": ["1:13 empty-range"],
    "P :- <>-[-2,-1] Q.": ["1:9 negative-range"], "[]+(2,2) P :- Q.": ["1:4 empty-range"],
    # forward propagation
    "P :- <>+[1,2] Q.": ["1:6 looks-ahead"], "P :- <>-[0,1] []+[1,2] Q.": ["1:15 looks-ahead"],
    "P :- A until[0,1] B.": ["1:6 looks-ahead"], "[]-[0,1] P :- Q.": ["1:1 derives-past"],
    "<>-[0,1] P :- Q.": ["1:1 uncertain-head"], "P :- Q, not <>+[0,1] R.": ["1:13 looks-ahead"],
    # safety
    "P(X,Y) :- Q(X).": ["1:5 unsafe-variable"], "P(X) :- Q(X), not R(X,Y).": ["1:23 unsafe-variable"],
    "P(X) :- Q(X), not R(X,_).": [], "P(X).": ["1:3 unsafe-variable"],
    "P(X) :- not Q(X).": ["1:3 unsafe-variable"],
    "P(X,Y) :- not Q(X,Y).": ["1:3 unsafe-variable", "1:19 unsafe-variable"],
    "P(X) :- Q(X), Y < 3.": ["1:15 unsafe-variable"], "P(Z) :- Q(X), Z = X + 1.": [],
    "P(Z) :- Q(X), X = Z + 1.": ["1:3 unsafe-variable"],
    "P(Z) :- Q(X), Z = X + Y, Y = X * 2.": [], "P(X,Y) :- A(Y) since[1,2] B(X).": [],
    "P(X) :- A(Y) since[0,2] B(X).": ["1:11 unsafe-variable"],
    "P(X) :- A(X) since[0,2] B.": ["1:3 unsafe-variable", "1:11 unsafe-variable"],
    "P(X,Y) :- A(X,Y) since[0,2] B(X), C(Y).": ["1:15 unsafe-variable"],
    "P(X,Y) :- C(X,Y), not (A(X,Y) since[0,2] B(X)).": ["1:28 unsafe-variable"],
    "P(X,Y) :- A(X,Y) since(0,2] B(X), C(Y).": [],
    # stratification
    "P(X) :- Q(X), not P(X).": ["1:15 negation-cycle"], "P :- Q. Q :- R, not <>-[1,1] P.": ["1:17 negation-cycle"],
    "P :- <>-[1,1] P. Q :- R, not P.": [],
    # arithmetic
    "P(X) :- Q(X), X < abc.": ["1:19 not-a-number"], "P(X) :- Q(X), X = abc.": [],
    "P(Z) :- Q(X), Z = foo(X).": ["1:19 not-arithmetic"],
    # names
    "Alarm(X) :- Sig(X). Q(X) :- Alarn(X).": [], "Recent(X) :- Sig(X). Q(X) :- recent(X).": ["1:30 misspelt-predicate"],
    "P(X) :- Q(X), Q(X,a).": ["1:15 several-arities"], "P(X) :- Q(X), a = b.": ["1:15 never-true"],
    "P(Z) :- Q(Y), Z = Y + 1. Q(Y) :- P(Y).": ["1:15 values-without-bound"],
    "P(Z) :- Q(Y), Z = Y + 1, Y < 9. Q(Y) :- P(Y).": [], "P(Z) :- <>-[1,2] P(Y), Z = Y + 1.": [],
}


@pytest.mark.parametrize("text", CASES)
def test_check(text: str) -> None:
    problems = ev.parse(text, language="mtl").check()
    found = sorted(f"{p.span.line}:{p.span.column} {p.code}" for p in problems if p.span)
    assert found == sorted(CASES[text])
    assert len(found) == len(problems)


def test_a_cycle_through_negation_tells_the_way() -> None:
    problem = ev.parse("P(X) :- Q(X).\nQ(X) :- <>-[1,1] R(X).\nR(X) :- S(X), not P(X).", language="mtl").check()[0]
    assert problem.message == "R depends on its own negation: R → Q → P, and not P(X)"


def test_a_wrong_program_does_not_run() -> None:
    program = ev.parse("P(X) :- <>+[0,1] Q(X).", language="mtl")
    with pytest.raises(ProgramError, match="looks ahead"):
        program.run({})
    with pytest.raises(ProgramError):
        program.session()


def test_background_and_languages() -> None:
    with pytest.raises(EventideError, match="no background"):
        ev.parse("P :- Q.", language="mtl", background=["ports.csv"])
    with pytest.raises(EventideError, match="known are ec, mtl, lars"):
        ev.parse("P :- Q.", language="sql")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("clock.mtl").write_text("P(X) :- <>-[1,1] P(X).\nQ(X) :- P(X), not R(X).\n")
    Path("clock.facts").write_text("P(a)@0\nR(a)@[1,3/2]\n")
    return tmp_path


def test_check_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "clock.mtl"]) == 0
    told = capsys.readouterr().out
    assert "level 1\n  P(x)\nlevel 2\n  Q(x)\ncycle through P(x)" in told
    assert "streams run by Algorithm 1" in told
    assert main(["--json", "check", "clock.mtl", "--plan"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"] == ["R(x)"] and found["cycles"] == [["P(x)"]] and found["memory"]["window"] == "1"
    Path("wrong.mtl").write_text("P(X) :- <>-[2,1] Q(X).\n")
    assert main(["check", "wrong.mtl"]) == 1
    assert "wrong.mtl:1:12: error: the range [2,1] ends before it begins [reversed-range]" in capsys.readouterr().out


def test_run_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "clock.mtl", "--events", "clock.facts", "--horizon", "7/2", "--fluents", "Q"]) == 0
    rows = ["Q,a,,0,0,closed,closed", "Q,a,,2,2,closed,closed", "Q,a,,3,3,closed,closed"]
    assert capsys.readouterr().out.splitlines() == ["fluent,args,value,start,end,left,right", *rows]
    assert main(["run", "clock.mtl", "--events", "clock.facts", "-o", "out.csv"]) == 0
    assert "the recursion through P goes on and on: all is told up to 5/2" in capsys.readouterr().err
    assert Path("out.csv").read_text().splitlines()[-1] == "Q,a,,2,2,closed,closed"


def test_a_stream_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["run", "clock.mtl", "--events", "clock.facts", "--horizon", "3", "--fluents", "Q"]
    assert main(options) == 0
    whole = capsys.readouterr().out
    for step in ("1/2", "2", "0.3"):
        assert main([*options, "--step", step]) == 0
        assert capsys.readouterr().out == whole
    assert main([*options, "--at", "2,5/2"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["Q,a,,2,2,closed,closed"]
    assert main([*options, "--variant", "algorithm-1"]) == 0
    assert "by Algorithm 1 (as asked for)" in capsys.readouterr().err


def test_changes_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("post.mtl").write_text("Late(X) :- <>-[2,2] Sent(X), not Arrived(X).\nBusy(X) :- <>-[0,3] Sent(X).\n")
    Path("post.csv").write_text("start,end,left,right,event,x,arrival\n0,0,closed,closed,Sent,a,0\n"
                                "1,4,closed,open,Arrived,a,7/2\n5,5,closed,closed,Sent,a,5\n")
    options = ["run", "post.mtl", "--events", "post.csv", "--emit", "changes", "--step", "3/2"]
    assert main(options) == 0
    late = ["9/2,-,Late,a,,2,2,closed,closed"]
    rows = ["3/2,+,Busy,a,,0,,closed,open", "3,+,Late,a,,2,2,closed,closed", "9/2,+,Busy,a,,0,3,closed,closed",
            "9/2,-,Busy,a,,0,,closed,open", *late, "5,+,Busy,a,,5,,closed,open"]
    assert capsys.readouterr().out.splitlines() == ["query_time,change,fluent,args,value,start,end,left,right", *rows]
    assert main([*options, "--delay", "1"]) == 0, "by then what was told of 2 is settled"
    assert capsys.readouterr().out.splitlines()[1:] == [row for row in rows if row not in late]
    Path("post.csv").write_text("time,event,x,arrival\n0,Sent,a,0\n1,Sent,b,9\n")
    assert main([*options, "--delay", "1", "-o", "out.csv"]) == 0
    assert "left out 1 fact that arrived too late" in capsys.readouterr().err
    assert Path("out.csv.late.csv").read_text().splitlines()[1:] == ["Sent,b,,1,1,closed,closed,+,9"]
    assert main([*options, "--delay", "1", "--late", "fail"]) == 1
    assert "1 fact of Sent(_) arrived later than the delay allows" in capsys.readouterr().err


@pytest.mark.parametrize(("option", "told"), [
    ("--window 3", "told by the rules"), ("--tick 2", "time is dense"), ("--probabilistic", "facts are certain"),
    ("--emit changes", "--step by step"), ("--emit windows", "the rules have no window"),
    ("--delay 3", "this needs --emit changes"), ("--horizon x", "'x' is no number"),
    ("--step 0", "must be more than 0"),
    ("--fluents Z", "the program derives no 'Z'"), ("--background a=b.csv", "all facts have a time"),
])
def test_options_without_meaning(folder: Path, capsys: pytest.CaptureFixture[str], option: str, told: str) -> None:
    assert main(["run", "clock.mtl", "--events", "clock.facts", *option.split()]) in (1, 2)
    assert told in capsys.readouterr().err


def test_graph_on_the_command_line(folder: Path) -> None:
    assert main(["graph", "clock.mtl", "-o", "clock.json"]) == 0
    assert {"from": "P(_)", "to": "P(_)", "cycle": True} in json.loads(Path("clock.json").read_text())["arrows"]
