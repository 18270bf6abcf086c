"""`eventide explain`: its answers as text, JSON and pages, what it says besides, what it refuses, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from eventide.cli.main import main

RULES = """\
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
happensAt(party(X), T) :- happensAt(win(X), T), \\+ happensAt(ill(X), T).
"""
WHY = """\
rich(ann)=true holds at 5, during [4, 10)
├─ rich(ann)=true is initiated at 3
│  └─ by rule rules.ec:1 initiatedAt(rich(X)=true, T) with X=ann, T=3
│     └─ win(ann) happens at 3  [events.csv, row 1]
└─ rich(ann)=true is terminated at 9
   └─ by rule rules.ec:2 terminatedAt(rich(X)=true, T) with X=ann, T=9
      └─ lose(ann) happens at 9  [events.csv, row 2]

2 facts of the input, none of which can be left out
"""
LARS = "jam(X) :- slow(X) [9], not police(X).\nslick(X) :- jam(X), wet [3].\n"
STREAM = """\
{"time": 1, "facts": ["slow(a)"]}
{"time": 2, "facts": ["slow(b)", "wet"]}
{"time": 4, "facts": ["police(b)"]}
"""
RICH = ("--fluent", "rich(ann)")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rules and facts, which is the current one."""
    monkeypatch.chdir(tmp_path)
    Path("rules.ec").write_text(RULES)
    Path("events.csv").write_text("win|3|3|ann\nlose|9|9|ann\nwin|4|4|bob\nill|4|4|bob\n")
    Path("jam.lars").write_text(LARS)
    Path("jam.jsonl").write_text(STREAM)
    return tmp_path


def explain(*options: str, program: str = "rules.ec", events: str = "events.csv") -> int:
    return main(["explain", program, "--events", events, *options])


def test_why_and_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    """Both are answers: the command ends well."""
    assert explain(*RICH, "--at", "5") == 0
    assert capsys.readouterr() == (WHY, "")
    assert explain(*RICH, "--at", "12") == 0
    assert capsys.readouterr().out.startswith("✗ rich(ann)=true does not hold at 12\n├─ it held during [4, 10)\n")
    assert explain("--fluent", "party(bob)", "--at", "4") == 0
    assert "✗ \\+ happensAt(ill(bob), 4) fails first" in capsys.readouterr().out


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(*RICH, "--at", "5", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {key: found[key] for key in ("question", "at", "holds", "minimal")} == {
        "question": "rich(ann)=true", "at": 5, "holds": True, "minimal": True}
    assert found["run"] == {"start": 2, "end": 9, "tick": 1, "initially_at": 0, "ties": "termination"}
    assert found["facts"][0] == {"name": "win", "args": ["ann"], "time": 3, "file": "events.csv", "row": 1}
    assert found["reason"]["interval"] == [4, 10]
    rule = found["reason"]["reasons"][0]["reasons"][0]
    assert rule["rule"] == {"text": "initiatedAt(rich(X)=true, T)", "file": "rules.ec", "line": 1, "column": 1}
    assert rule["bindings"] == {"X": "ann", "T": "3"}
    assert explain(*RICH, "--between", "5", "9", "--json") == 0
    assert json.loads(capsys.readouterr().out)["run"]["between"] == [5, 9]


def test_a_page_by_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It needs nothing else, and names from the input are no markup."""
    evil = "<script>alert(1)</script>"
    (folder / "h<b>.csv").write_text(f"event,time,who\nwin,3,{evil}\n")
    assert explain("--fluent", f"rich('{evil}')", "--at", "7", "--html", "why.html", "-q", events="h<b>.csv") == 0
    assert capsys.readouterr().err == ""
    page = (folder / "why.html").read_text()
    assert "<script" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "h&lt;b&gt;.csv" in page
    assert not any(word in page for word in ("http://", "https://", " src=", "<link", "@import", "url("))
    assert explain(*RICH, "--at", "5", "--html", "why.html") == 0
    assert capsys.readouterr().err == "the proof is in why.html\n"
    assert explain(*RICH, "--at", "5", "--html", "nowhere/why.html") == 1
    assert "cannot write the file" in capsys.readouterr().err


def test_dates_are_times_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "dates.csv").write_text("time,event,who\n1970-01-01T00:00:03Z,win,ann\n1970-01-01T00:00:09Z,lose,ann\n")
    assert explain(*RICH, "--at", "1970-01-01T00:00:05", "--time-unit", "s", events="dates.csv") == 0
    assert capsys.readouterr().out.startswith("rich(ann)=true holds at 5, during [4, 10)\n")
    between = ("--between", "1970-01-01T00:00:05", "1970-01-01 00:00:12+00:00")
    assert explain(*RICH, *between, "--time-unit", "s", events="dates.csv") == 0
    assert "rich(ann)=true changed between 5 and 12" in capsys.readouterr().out
    assert explain(*RICH, "--at", "1970-01-01T00:00:05", events="dates.csv") == 2
    assert "declare one of s, ms, us, ns" in capsys.readouterr().err


def test_what_was_left_out_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.csv").write_text("win|3|3|ann\nlose|x|9|ann\nwin|4\n")
    assert explain(*RICH, "--at", "5", events="bad.csv") == 1
    printed = capsys.readouterr()
    assert printed.out == "" and "bad.csv:2:6: error: arrival is 'x'" in printed.err
    assert explain(*RICH, "--at", "5", "--bad-rows", "skip", events="bad.csv") == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("rich(ann)=true holds at 5, from 4 on") and printed.err == "left out 2 bad rows\n"
    (folder / "perhaps.csv").write_text("time,event,who,probability\n3,win,ann,0.4\n")
    assert explain(*RICH, "--at", "5", events="perhaps.csv") == 0
    assert "the probabilities of facts are not used; --probabilistic does" in capsys.readouterr().err
    assert explain(*RICH, "--at", "5", "--end", "2", "--start", "1") == 0
    assert "the run ends at 2: later facts do not count" in capsys.readouterr().out


@pytest.mark.parametrize(("options", "message"), [
    (("--fluent", "rihc(ann)", "--at", "5"), "did you mean rich?"),
    (("--fluent", "rich(ann,bob)", "--at", "5"), "known is rich(_)"),
    (("--fluent", "", "--at", "5"), "is no fluent with its value"),
    ((*RICH, "--between", "9", "5"), "must be before the second"),
    ((*RICH, "--between", "0", "5"), "an earlier start can be given (--start)"),
    ((*RICH, "--at", "5", "--background", "none.ec"), "cannot read the file"),
    ((*RICH, "--at", "5", "--start", "20"), "the run starts at 20"),
])
def test_wrong_input(capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str) -> None:
    assert explain(*options) == 1
    printed = capsys.readouterr()
    assert printed.out == "" and message in printed.err and "Traceback" not in printed.err
    assert explain(*options, "--json") == 1
    error = json.loads(capsys.readouterr().err.splitlines()[0])
    assert error["severity"] == "error" and message in error["message"]


@pytest.mark.parametrize(("options", "message"), [
    (RICH, "a time or two query times"),
    ((*RICH, "--at", "noon"), "the time 'noon' is not a whole number"),
    ((*RICH, "--at", "99999999999999999999"), "does not fit 64 bits"),
    ((*RICH, "--at", "5", "--depth", "0"), "greater than or equal to 1"),
    ((*RICH, "--at", "5", "--between", "2", "7"), "a time or two query times"),
    ((*RICH, "--between", "2", "7", "--end", "9"), "it does not go with --between"),
    (("--at", "5"), "Missing option '--fluent'"),
])
def test_wrong_usage(capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str) -> None:
    assert explain(*options) == 2
    assert message in capsys.readouterr().err


def test_lars(capsys: pytest.CaptureFixture[str]) -> None:
    """Environments with the lines of the facts; or the rules, and which condition failed first, and why."""
    lars = {"program": "jam.lars", "events": "jam.jsonl"}
    assert explain("--fluent", "slick(b)", "--at", "3", **lars) == 0
    assert capsys.readouterr().out == """\
slick(b) holds at 3
└─ environment 1: slow(b)@2, wet@2, not police(b)
   ├─ slow(b) at 2  [jam.jsonl, row 2]
   ├─ wet at 2  [jam.jsonl, row 2]
   └─ police(b) does not hold

2 facts of the input
"""
    assert explain("--fluent", "slick(b)", "--at", "4", **lars) == 0
    assert capsys.readouterr().out == """\
✗ slick(b) does not hold at 4
└─ ✗ by rule jam.lars:2 slick(X) :- jam(X), wet [3]. with X=b
   ├─ ✗ jam(b) fails first
   │  └─ ✗ by rule jam.lars:1 jam(X) :- slow(X) [9], not police(X). with X=b
   │     ├─ slow(b) [9]
   │     └─ ✗ not police(b) fails first
   │        └─ environment 1: police(b)@4
   │           └─ police(b) at 4  [jam.jsonl, row 3]
   └─ ? wet [3]
"""
    assert explain("--fluent", "jam(a,b)", "--at", "4", **lars) == 1
    assert "the program knows no jam(_,_); known is jam(_)" in capsys.readouterr().err
    for option in (("--between", "2", "4"), ("--at", "4", "--tick", "2"), ("--at", "4", "--probabilistic")):
        assert explain("--fluent", "jam(a)", *option, **lars) == 2
        assert "it does not go with LARS" in capsys.readouterr().err


MTL = """\
Warm(X) :- <>-[0,2] Sun(X).
Hot(X) :- []-[0,2] Warm(X), not Rain(X).
Tick(X) :- <>-[1,1] Tick(X).
"""
HOT = """\
Hot(a) holds at 7/2, during [3,9/2)
├─ by rule hot.mtl:2 Hot(X) :- []-[0,2] Warm(X), not Rain(X) with X=a
│  ├─ []-[0,2] Warm(a) holds during [3,9/2)
│  │  └─ Warm(a) holds during [1,9/2)
│  │     └─ by rule hot.mtl:1 Warm(X) :- <>-[0,2] Sun(X) with X=a
│  │        └─ <>-[0,2] Sun(a) holds during [1,9/2)
│  │           └─ Sun(a) holds during [1,5/2)
│  │              └─ Sun(a) is given for [1,4]  [warm.facts, row 1]
│  └─ not Rain(a) holds during [3,9/2)
└─ Rain(a) for [9/2,inf): without it, it would hold during [3,6]  [warm.facts, row 2]

2 facts of the input, none of which can be left out
"""


@pytest.fixture
def metric(folder: Path) -> dict[str, str]:
    """A program of DatalogMTL with its facts."""
    (folder / "hot.mtl").write_text(MTL)
    (folder / "warm.facts").write_text("Sun(a)@[1,4]\nRain(a)@[4.5,inf)\nTick(b)@1\n")
    return {"program": "hot.mtl", "events": "warm.facts"}


def test_datalogmtl(metric: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """Exact times, open ends, the rows of the facts; what must not hold; a page and data as for others."""
    assert explain("--fluent", "Hot(a)", "--at", "7/2", **metric) == 0
    assert capsys.readouterr() == (HOT, "")
    assert explain("--fluent", "Hot(a)", "--at", "5", **metric) == 0
    assert "✗ not Rain(a) fails first, at 5\n      └─ Rain(a) is given for [9/2,inf)" in capsys.readouterr().out
    assert explain("--fluent", "Warm(a)", "--at", "0.5", "--depth", "1", "--html", "why.html", **metric) == 0
    assert "✗ <>-[0,2] Sun(a) fails first, at 1/2" in capsys.readouterr().out and Path("why.html").exists()
    assert explain("--fluent", "Hot(a)", "--at", "3.5", "--json", **metric) == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: found[name] for name in ("question", "at", "holds", "minimal", "run")} == {
        "question": "Hot(a)", "at": "7/2", "holds": True, "minimal": True, "run": {}}
    assert {name: found["reason"][name] for name in ("interval", "left", "right")} == {
        "interval": ["3", "9/2"], "left": "closed", "right": "open"}
    assert found["facts"][0] == {"name": "Sun", "args": ["a"], "time": "1", "end": "4", "left": "closed",
                                 "right": "closed", "file": "warm.facts", "row": 1}


def test_datalogmtl_up_to_a_horizon(metric: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """Recursion without end is followed as far as a run follows it, or to the time that is asked for."""
    assert explain("--fluent", "Tick(b)", "--at", "20", "--json", **metric) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["holds"] and found["run"] == {"horizon": "22"} and len(found["facts"]) == 1
    assert explain("--fluent", "Tick(b)", "--at", "2", "--horizon", "7/2", "--json", **metric) == 0
    assert json.loads(capsys.readouterr().out)["run"] == {"horizon": "7/2"}


@pytest.mark.parametrize(("code", "options", "message"), [
    (1, ("--fluent", "Hto(a)", "--at", "3"), "the program knows no Hto(_); did you mean Hot?"),
    (1, ("--fluent", "Hot(a,b)", "--at", "3"), "known is Hot(_)"),
    (1, ("--fluent", "Hot(a", "--at", "3"), "'Hot(a' is no atom, such as P(a,3)"),
    (1, ("--fluent", "Hot(a)=true", "--at", "3"), "is no atom"),
    (1, ("--fluent", "Hot(a)@3", "--at", "3"), "the time is given apart (--at)"),
    (1, ("--fluent", "Hot(a)", "--at", "3", "--horizon", "2"), "the time 3 is after the horizon 2"),
    (2, ("--fluent", "Hot(a)", "--at", "noon"), "expected a number such as 12, 7/2 or 3.5"),
    (2, ("--fluent", "Hot(a)", "--at", "3", "--horizon", "x"), "is no number"),
    (2, ("--fluent", "Hot(a)"), "a time or two query times"),
    *((2, ("--fluent", "Hot(a)", *option), "it does not go with DatalogMTL") for option in (
        ("--between", "2", "4"), ("--at", "4", "--tick", "2"), ("--at", "4", "--probabilistic"),
        ("--at", "4", "--ties", "initiation"), ("--at", "4", "--start", "2"), ("--at", "4", "--end", "2"),
        ("--at", "4", "--initially-at", "2"), ("--at", "4", "--background", "b.ec"))),
])
def test_wrong_questions_to_datalogmtl(metric: dict[str, str], capsys: pytest.CaptureFixture[str], code: int,
                                       options: tuple[str, ...], message: str) -> None:
    assert explain(*options, **metric) == code
    printed = capsys.readouterr()
    assert printed.out == "" and "Traceback" not in printed.err
    assert message in " ".join(printed.err.replace("│", " ").split())


def test_a_horizon_is_for_datalogmtl(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(*RICH, "--at", "5", "--horizon", "9") == 2
    assert "it is for .mtl" in capsys.readouterr().err


def test_reports_have_proofs_of_the_event_calculus_only(folder: Path, metric: dict[str, str],
                                                        capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "result.csv").write_text("fluent,args,value,start,end\nHot,a,,2,5\n")
    for program, events in {metric["program"]: metric["events"], "jam.lars": "jam.jsonl"}.items():
        assert main(["report", "result.csv", "-o", "r.html", "--explain", program, "--events", events]) == 1
        assert "Event Calculus" in capsys.readouterr().err and not (folder / "r.html").exists()


def test_an_interrupted_question_leaves_nothing(folder: Path) -> None:
    """Ctrl-C ends with one line and the code 130."""
    program = (
        "import sys, time; from eventide.cli.main import main; from eventide.explanation import asking\n"
        "def slow(*arguments, **options): print('asked', flush=True); time.sleep(60)\n"
        "asking.explain = slow\n"
        "sys.exit(main(['explain', 'rules.ec', '--events', 'events.csv', '--fluent', 'rich(ann)', '--at', '5', "
        "'--html', 'why.html']))"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "asked\n"
    child.send_signal(signal.SIGINT)
    said = child.communicate()[1]
    assert child.returncode == 130 and said.endswith("error: interrupted\n") and "Traceback" not in said
    assert not (folder / "why.html").exists()


def test_proofs_of_a_report_show_that_they_move(monkeypatch: pytest.MonkeyPatch,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("eventide.cli.progress.SECONDS_BETWEEN_LINES", 0)
    assert main(["run", "rules.ec", "--events", "events.csv", "-o", "result.csv", "-q"]) == 0
    report = ["report", "result.csv", "-o", "r.html", "--explain", "rules.ec", "--events", "events.csv"]
    capsys.readouterr()
    assert main(report) == 0
    assert capsys.readouterr().err.splitlines()[:2] == ["proof 0 of 3", "proof 1 of 3"]
    assert main([*report, "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_a_report_explains_a_run_with_its_options(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The proofs are those of the run: its tick, its unit of time, its bad rows."""
    (folder / "dates.csv").write_text("time,event,who\n1970-01-01T00:01:20Z,win,ann\nnever,win,ann\n"
                                      "1970-01-01T00:03:20Z,lose,ann\n")
    options = ("--tick", "40", "--time-unit", "s", "--bad-rows", "skip", "--start", "0")
    assert main(["run", "rules.ec", "--events", "dates.csv", *options, "-o", "result.csv", "-q"]) == 0
    report = ("report", "result.csv", "-o", "r.html", "--explain", "rules.ec", "--events", "dates.csv")
    capsys.readouterr()
    assert main([*report, *options]) == 0
    assert capsys.readouterr().err == "left out 1 bad row\nwrote 2 intervals to r.html; open it in a browser\n"
    page = (folder / "r.html").read_text()
    assert page.count('<details id="why-') == 2 and "win(ann) happens at 80" in page and "[120, 240)" in page
    assert main([*report, "--time-unit", "s", "--bad-rows", "skip"]) == 0
    assert "1 interval without a proof: these rules, facts and options do not give them" in capsys.readouterr().err
    assert main([*report]) == 1
    assert main(["report", "result.csv", "-o", "r.html", "--tick", "40"]) == 2
    assert "this needs --explain" in capsys.readouterr().err
