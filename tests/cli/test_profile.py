"""`eventide run --profile` and `--flame`: tables, JSON, the page, and what goes without them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eventide.cli.main import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rules of all languages and facts for them."""
    monkeypatch.chdir(tmp_path)
    Path("rules.ec").write_text("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).\n")
    Path("events.csv").write_text("win|3|3|ann\nwin|9|9|bob\n")
    Path("rules.mtl").write_text("Near(X) :- <>-[0,1] Seen(X).\n")
    Path("seen.facts").write_text("Seen(a)@3\n")
    Path("rules.lars").write_text("b(X) :- a(X) [3].\n")
    Path("stream.jsonl").write_text('{"time": 2, "facts": ["a(x)"]}\n')
    return tmp_path


@pytest.mark.parametrize(("arguments", "rule"), [
    (["rules.ec", "--events", "events.csv"], "initiatedAt(rich(X)=true, T)  rules.ec:1"),
    (["rules.ec", "--events", "events.csv", "--window", "5"], "initiatedAt(rich(X)=true, T)  rules.ec:1"),
    (["rules.ec", "--events", "events.csv", "--probabilistic"], "initiatedAt(rich(X)=true, T)  rules.ec:1"),
    (["rules.mtl", "--events", "seen.facts"], "Near(X)  rules.mtl:1"),
    (["rules.lars", "--events", "stream.jsonl"], "b/1 now, all its rules together"),
])
def test_tables_and_page(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], rule: str) -> None:
    assert main(["run", *arguments, "-o", "plain.csv"]) == 0
    assert main(["run", *arguments, "--profile", "--flame", "flame.html", "-o", "out.csv"]) == 0
    told = capsys.readouterr().err
    assert rule in told
    assert "operator" in told
    assert "reasoning" in told
    assert Path("flame.html").read_text().startswith("<!doctype html>")
    assert Path("out.csv").read_text() == Path("plain.csv").read_text()


def test_the_page_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "rules.ec", "--events", "events.csv", "--flame", "flame.html", "-o", "out.csv"]) == 0
    told = capsys.readouterr().err
    assert "wrote flame.html" in told
    assert "operator" not in told


def test_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "rules.ec", "--events", "events.csv", "--profile", "--json", "-o", "out.csv"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    told, = (line for line in lines if "rules" in line)
    assert {rule["rule"] for rule in told["rules"]} == {
        "initiatedAt(rich(X)=true, T)", "rich(_), all its rules together"}
    assert {operator["operator"] for operator in told["operators"]} == {"inertia", "events"}
    assert {"own", "shared", "rows", "bytes"} <= told["rules"][0].keys()


def test_what_is_left_to_answer_sets_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("rules.lars").write_text("b(X) :- a(X) [3], not c(X).\nc(X) :- a(X) [3], not b(X).\n")
    assert main(["run", "rules.lars", "--events", "stream.jsonl", "--profile", "-o", "out.csv"]) == 0
    assert "the rest is answer sets, facts that come in" in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--flame", "flame.svg"], ["--flame", "flame.html", "--engine", "spark"],
                                  ["--flame", "flame.html", "--follow", "--step", "5"],
                                  ["--profile", "--follow", "--step", "5"]])
def test_pages_that_cannot_be_made(folder: Path, more: list[str]) -> None:
    assert main(["run", "rules.ec", "--events", "events.csv", *more]) == 2
    assert not list(folder.glob("flame*"))
