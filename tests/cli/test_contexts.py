"""`eventide contexts`: the example of its help, conflicts and ways out, as text and as JSON, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eventide.cli.main import main

RULES = "free :- closed [9]. jam :- slow [9]. :- free, jam."
STREAM = '{"time": 1, "facts": ["closed"]}\n{"time": 2, "facts": ["slow"]}\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program and a stream, which is the current one."""
    (tmp_path / "road.lars").write_text(RULES)
    (tmp_path / "road.jsonl").write_text(STREAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contexts(*options: str) -> int:
    return main(["contexts", "road.lars", "--events", "road.jsonl", *options])


def test_conflicts_and_ways_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert contexts() == 0
    assert capsys.readouterr().out == """\
at 2: 2 facts, together inconsistent
conflict 1: closed@1, slow@2
  :- free, jam.
context 1: without closed@1
    jam  because slow@2
context 2: without slow@2
    free  because closed@1
in every context: nothing
"""


def test_another_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert contexts("--at", "11") == 0
    assert capsys.readouterr().out.splitlines() == [
        "at 11: 1 fact, together consistent", "context 1: all facts", "    jam  because slow@2"]
    assert contexts("--at", "12") == 0
    assert capsys.readouterr().out == "at 12: 0 facts, together consistent\ncontext 1: all facts\n    nothing\n"


def test_a_chosen_context(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert contexts("--without", "slow@2", "--without", "closed") == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["context 1: without closed@1, slow@2", "    nothing"]
    (folder / "road.jsonl").write_text(STREAM + '{"time": 3, "facts": ["wet"]}\n')
    (folder / "road.lars").write_text(RULES + " slick :- wet [9].")
    assert contexts("--without", "wet") == 0
    printed = capsys.readouterr()
    assert "context" not in printed.out and printed.err == "without these facts there is still no answer\n"


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "road.lars").write_text("free(X) :- closed(X) [9], not open(X). jam :- slow [9]. :- free(X), jam.")
    (folder / "road.jsonl").write_text('{"time": 1, "facts": ["closed(a)"]}\n{"time": 2, "facts": ["slow"]}\n')
    assert contexts("--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "time": 2, "facts": ["closed(a)@1", "slow@2"], "consistent": False,
        "conflicts": [{"facts": ["closed(a)@1", "slow@2"],
                       "violations": [{"rule": ":- free(X), jam.", "values": {"X": "a"}}]}],
        "contexts": [
            {"without": ["closed(a)@1"], "answers": [[{"atom": "jam", "why": [{"facts": ["slow@2"], "not": []}]}]]},
            {"without": ["slow@2"], "answers": [[
                {"atom": "free(a)", "why": [{"facts": ["closed(a)@1"], "not": ["open(a)"]}]}]]}],
        "certain": []}


def test_rules_that_contradict_themselves(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "road.lars").write_text("free :- closed [9]. :- area(1). area(1).")
    assert contexts() == 0
    assert capsys.readouterr().out == """\
at 2: 1 fact, together inconsistent
conflict 1: the rules by themselves, without any fact
  :- area(1).
no context is without a conflict
"""


def test_several_answers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "road.lars").write_text("left :- slow, not right. right :- slow, not left. wait :- closed, not wait.")
    assert contexts() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "answer" in line] == ["  answer 1 of 2", "  answer 2 of 2"]
    assert sorted(line for line in lines if "because" in line) == [
        "    left  because slow@2, not right", "    right  because slow@2, not left"]
    assert contexts("--at", "1") == 0
    assert "a negation cannot be decided" in capsys.readouterr().out


@pytest.mark.parametrize(("options", "code", "message"), [
    (["--without", "fast"], 1, "no window shows fast at 2"),
    (["--without", "p(X)"], 1, "'p(X)' is no fact"),
    (["--at", "-1"], 2, "--at"),
    (["--limit", "0"], 2, "--limit"),
])
def test_what_is_refused(options: list[str], code: int, message: str, folder: Path,
                         capsys: pytest.CaptureFixture[str]) -> None:
    assert contexts(*options) == code
    assert message in capsys.readouterr().err


def test_wrong_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "road.lars").write_text("free(X) :- not closed(X).")
    assert contexts() == 1
    assert "road.lars:1:" in capsys.readouterr().err
    (folder / "rules.ec").write_text("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
    assert main(["contexts", "rules.ec", "--events", "road.jsonl"]) == 2
    assert "only LARS programs (.lars) have contexts" in capsys.readouterr().err
