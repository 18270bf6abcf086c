"""`eventide run|check|graph` on LARS programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eventide.cli.main import main

RULES = """free(L) :- closed(L) [1]. jam(L) :- slow(L) [2].
:- free(L), jam(L).
calm :- not any. any :- jam(L).
"""
CHOICE = "c(X) :- p(X) [2], not k(X). k(X) :- p(X) [2], not c(X). d :- c(X).\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "road.lars").write_text(RULES)
    (tmp_path / "choice.lars").write_text(CHOICE)
    (tmp_path / "road.jsonl").write_text(
        '{"time": 1, "facts": ["slow(a)"]}\n{"time": 3, "facts": ["closed(a)", "zz"]}\n')
    (tmp_path / "choice.jsonl").write_text('{"time": 1, "facts": ["p(x)", "p(y)"]}\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "road.lars", "--events", "road.jsonl", "--end", "6"]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == [
        "fluent,args,value,start,end", "any,,,1,3", "calm,,,0,1", "calm,,,4,", "free,a,,4,5", "jam,a,,1,3"]
    assert "no rule reads zz" in told.err
    assert "no answer stream at 3: :- free(L), jam(L). with L = a" in told.err


def test_flagged_contradictions_and_truth_maintenance(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "road.lars", "--events", "road.jsonl", "--end", "6", "-q"]
    assert main([*arguments, "--contradictions", "flag", "-o", "flags.csv"]) == 0
    assert '⊥,a,":- free(L), jam(L).",3,4' in (folder / "flags.csv").read_text().splitlines()
    assert main([*arguments, "--contradictions", "flag", "--maintain", "-o", "same.csv"]) == 0
    assert (folder / "same.csv").read_text() == (folder / "flags.csv").read_text()
    assert main(["run", "road.lars", "--events", "road.jsonl", "--maintain"]) == 0
    assert "in conflict: slow(a)@1, closed(a)@3" in capsys.readouterr().err


@pytest.mark.parametrize(("models", "rows"), [
    ("all", ["c,x,,1,2,1", "c,x,,1,2,2", "c,y,,1,2,1", "c,y,,1,2,3", "d,,,1,2,1", "d,,,1,2,2", "d,,,1,2,3",
             "k,x,,1,2,3", "k,x,,1,2,4", "k,y,,1,2,2", "k,y,,1,2,4"]),
    ("cautious", []),
    ("brave", ["c,x,,1,2,", "c,y,,1,2,", "d,,,1,2,", "k,x,,1,2,", "k,y,,1,2,"]),
])
def test_models(folder: Path, capsys: pytest.CaptureFixture[str], models: str, rows: list[str]) -> None:
    rules = CHOICE.replace("[2]", "[0]")
    (folder / "choice.lars").write_text(rules)
    assert main(["run", "choice.lars", "--events", "choice.jsonl", "--end", "4", "--models", models]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == ["fluent,args,value,start,end,model", *rows]
    assert ("several answer streams at 1 time-points, up to 4 at 1" in told.err) == (models == "all")


def test_what_is_known_of_earlier_time_points(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "b.lars").write_text("b at T :- p(X) at T [2].\n")
    assert main(["run", "b.lars", "--events", "choice.jsonl", "--end", "6", "--earlier", "-q"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["b,,,1,2", "b,,1,2,4"]


def test_changes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "road.lars", "--events", "road.jsonl", "--emit", "changes", "--fluents", "jam,calm", "-q"]
    assert main([*arguments, "--step", "2", "--end", "6"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "query_time,change,fluent,args,value,start,end", "2,+,calm,,,0,1", "2,+,jam,a,,1,", "4,+,calm,,,4,",
        "4,+,jam,a,,1,3", "4,-,jam,a,,1,"]
    assert main(["run", "choice.lars", "--events", "choice.jsonl", "--emit", "changes", "--models", "brave", "-q",
                 "--fluents", "d", "--end", "5"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "query_time,change,fluent,args,value,start,end,model", "1,+,d,,,1,,", "4,+,d,,,1,4,", "4,-,d,,,1,,"]


@pytest.mark.parametrize(("arguments", "message"), [
    (["--window", "5"], "the windows stand in the rules"), (["--emit", "windows"], "the windows stand in the rules"),
    (["--emit", "changes", "--maintain"], "changes go without"),
    (["--start", "5", "--end", "3"], "before it starts"),
    (["--fluents", "jamm"], "did you mean jam?"), (["--probabilistic"], "facts are certain"),
])
def test_options_without_meaning(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str],
                                 message: str) -> None:
    assert main(["run", "road.lars", "--events", "road.jsonl", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_options_of_lars_are_refused_elsewhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "r.ec").write_text("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).\n")
    (folder / "e.csv").write_text("win|3|3|ann\n")
    assert main(["run", "r.ec", "--events", "e.csv", "--models", "all"]) == 2
    assert "it is for .lars" in capsys.readouterr().err


def test_wrong_rules_write_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.lars").write_text("h(Y) :- p(X) [#3].\n")
    assert main(["run", "bad.lars", "--events", "choice.jsonl", "-o", "out.csv"]) == 1
    told = capsys.readouterr()
    assert "bad.lars:1:15: error: a window of tuples is written with the number first" in told.err
    assert not (folder / "out.csv").exists() and "Traceback" not in told.err


def test_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "choice.lars"]) == 0
    assert capsys.readouterr().out.splitlines()[4:] == [
        "0 errors, 0 warnings", "inputs       p(_)",
        "answer sets  c(_), k(_)  (loop through negation: c(_) → k(_) → c(_))",
        "answer sets  d  (reads what has several answers)"]
    assert main(["check", "road.lars", "--json", "--plan"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["contradictions"] == [":- free(L), jam(L)."] and "level 1" in found["plan"]
    assert [one["evaluation"] for one in found["components"]] == ["columnar"] * 4


def test_check_fails_with_a_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.lars").write_text("h(Y) :- p(X).\n")
    assert main(["check", "bad.lars"]) == 1
    assert "bad.lars:1:3: error: nothing binds the variable Y of the head [unsafe-variable]" in capsys.readouterr().out


def test_graph(folder: Path) -> None:
    assert main(["graph", "road.lars", "-o", "g.json", "-q"]) == 0
    found = json.loads((folder / "g.json").read_text())
    assert {box["name"]: (box["kind"], box["level"]) for box in found["boxes"]} == {
        "closed(_)": ("input event", 0), "slow(_)": ("input event", 0), "free(_)": ("conclusion", 1),
        "jam(_)": ("conclusion", 1), "any": ("conclusion", 2), "calm": ("conclusion", 3),
        "contradiction 1": ("contradiction", 2)}
    for ending in (".svg", ".png", ".html", ".dot"):
        assert main(["graph", "choice.lars", "-o", f"g{ending}", "-q"]) == 0
