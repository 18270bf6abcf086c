"""`eventide check` of files that hold no rules: tests of rules, and what is to be learnt. Nothing is run or written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eventide.cli.main import main

RULES = "initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).\n"
TEST = 'program rules.ec\ntest "a"\n  given\n    3 win(ann)\n  then\n    rich(ann)=true [4, inf)\n'
MODES = "modeh(initiatedAt(hot(+machine),+time))\nmodeb(happensAt(fan(+machine),+time))\n"


def said(folder: Path, name: str, text: str, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    """The exit code of the check of a file, and what it prints, without the folder."""
    (folder / "rules.ec").write_text(RULES, encoding="utf-8")
    (folder / name).write_text(text, encoding="utf-8")
    code = main(["check", str(folder / name), *options])
    out, err = capsys.readouterr()
    return code, (out + err).replace(f"{folder}/", "")


@pytest.mark.parametrize(("name", "text"), [("a.ectest", TEST), ("a.modes", MODES)])
def test_files_without_mistakes(name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(tmp_path, name, text, capsys) == (0, "0 errors, 0 warnings\n")


def test_a_test_with_a_misspelt_event(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = said(tmp_path, "a.ectest", TEST.replace("win", "wni"), capsys)
    assert code == 1 and shown.startswith("a.ectest:4:7: error: the program does not read wni(_) [unknown-fact]\n")
    assert "hint: did you mean win?" in shown and shown.endswith("1 error, 0 warnings\n")


def test_a_test_of_broken_rules_shows_their_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.ec").write_text(RULES.replace(".", ""), encoding="utf-8")
    code, shown = said(tmp_path, "a.ectest", TEST.replace("rules", "broken"), capsys)
    assert code == 1 and shown.startswith("broken.ec:1:53: error: the clause does not end with '.' [missing-end]\n"
                                          "    initiatedAt(rich(X)=true, T) :- happensAt(win(X), T)\n")


def test_modes_with_a_misspelt_type_are_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = said(tmp_path, "a.modes", MODES.replace("fan(+machine", "fan(+mashine"), capsys, "--json")
    found, = json.loads(shown)["diagnostics"]
    assert (code, found["code"], found["severity"], found["line"], found["column"]) == (
        0, "unreachable-type", "warning", 2, 21)
    assert found["hint"] == "did you mean 'machine'?"


def test_options_about_rules_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = said(tmp_path, "a.modes", MODES, capsys, "--plan")
    assert code == 2 and "a .modes file has none" in shown
