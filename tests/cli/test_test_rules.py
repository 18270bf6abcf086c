"""`eventide test-rules`: exit codes, the words of the report, JSON, choosing tests, coverage and levels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eventide.cli.main import main

FILE = """\
program rules.ec
test "winners are rich"
  given
    3 win(ann)
  then
    rich(ann)=true [4, inf)
test "losers are not"
  given
    3 win(ann)
    5 lose(ann)
  then
    rich(ann)=true [4, 5)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of two tests, of which the second fails."""
    (tmp_path / "rules.ec").write_text("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).\n"
                                       "terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).\n")
    made = tmp_path / "rules.ectest"
    made.write_text(FILE)
    return made


def test_a_failure_is_shown_and_gives_1(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test-rules", str(file)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        str(file), "  ok     winners are rich", "  FAILED losers are not",
        f"      rich(ann)=true: the intervals differ ({file}:12)", "          expected  [4, 5)",
        "          found     [4, 6)", "        + too much  [5, 6)", "2 tests, 1 failed"]


def test_some_tests_can_be_chosen(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test-rules", str(file.parent), "--only", "WINNERS"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 test passed"
    assert main(["test-rules", str(file), "-k", "nobody"]) == 2


def test_as_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test-rules", str(file), "--json", "--coverage", "--step-levels"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(test["name"], test["passed"]) for test in found["tests"]] == [
        ("winners are rich", True), ("losers are not", False)]
    assert found["tests"][1]["differences"][0]["extra"] == "[5, 6)"
    assert found["tests"][1]["steps"][0]["levels"][0]["definitions"][0]["intervals"] == {"rich(ann)=true": "[4, 6)"}
    assert found["coverage"][0]["clauses_fired"] == 2


def test_coverage(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = file.with_name("coverage.html")
    assert main(["test-rules", str(file), "-k", "winners", "--coverage", "--coverage-html", str(page)]) == 0
    out = capsys.readouterr().out
    assert "1 of 2 clauses fired; conditions had 1 of their 2 outcomes" in out
    assert "rules.ec:2:1: terminated rich(_) never fired" in out
    assert page.read_text().startswith("<!doctype html>")
    assert main(["test-rules", str(file), "-k", "winners", "--least-coverage", "60"]) == 1
    assert "50.0 % of the outcomes" in capsys.readouterr().err
    assert main(["test-rules", str(file), "-k", "winners", "--least-coverage", "50"]) == 0


def test_files_with_other_background_cover_the_same_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever the files lie; with more background a rule may have more alternatives."""
    (tmp_path / "rules.ec").write_text("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T), known(X).\n"
                                       "terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).\n")
    (tmp_path / "more").mkdir()
    tests = {"a": ("rules.ec", "known(X) :- X = ann.", "3 win(ann)"),
             "b": ("rules.ec", "known(X) :- X = ann.\nknown(X) :- X = bob.", "3 win(bob)"),
             "more/c": ("../rules.ec", "known(X) :- X = ann.", "3 lose(ann)")}
    for name, (program, background, fact) in tests.items():
        (tmp_path / f"{name}.ectest").write_text(
            f'program {program}\nbackground\n{background}\ntest "{name}"\ngiven\n{fact}\nthen not\nrich(eve)=true\n')
    assert main(["--json", "test-rules", str(tmp_path), "--coverage"]) == 0
    coverage, = json.loads(capsys.readouterr().out)["coverage"]
    assert [(rule["line"], rule["fired"], rule["clauses"]) for rule in coverage["rules"]] == [(1, 2, 2), (2, 1, 1)]
    assert main(["test-rules", str(tmp_path / "a.ectest"), "--least-coverage", "99"]) == 1
    assert "rules.ec: " in capsys.readouterr().err


def test_levels(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test-rules", str(file), "-k", "losers", "--step-levels"]) == 1
    assert "rules.ec:2:1 terminates at 5 (ann)" in capsys.readouterr().out


def test_wrong_files(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(FILE.replace("then\n    rich(ann)=true [4, inf)", "then\n    reich(ann)=true [4, inf)"))
    assert main(["test-rules", str(file)]) == 1
    error = capsys.readouterr().err
    assert f"{file}:6:5: error: the program does not derive reich(_) [not-derived]" in error
    assert "did you mean rich?" in error
    assert main(["test-rules", str(tmp_path / "none.ectest")]) == 1
    (tmp_path / "empty").mkdir()
    assert main(["test-rules", str(tmp_path / "empty")]) == 1


def test_what_other_languages_do_not_have(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rules.mtl").write_text("Near(X) :- <>-[0,1] Seen(X).\n")
    other = tmp_path / "signal.ectest"
    other.write_text('program rules.mtl\ntest "near"\ngiven\n 2 Seen(a)\nthen\n Near(a) [2, 3]\n')
    assert main(["test-rules", str(other), "--step-levels", "--coverage"]) == 0
    told = capsys.readouterr().err
    assert "levels are shown of Event Calculus programs" in told and "coverage is of Event Calculus programs" in told
    assert main(["test-rules", str(other), "--least-coverage", "50"]) == 2
    assert "none of the programs has coverage" in capsys.readouterr().err
    assert main(["test-rules", str(other), str(file), "-k", "e", "--step-levels", "--json"]) == 1
    assert ["steps" in test for test in json.loads(capsys.readouterr().out)["tests"]] == [False, True, True]


def test_files_are_run_once_and_pages_are_pages(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test-rules", str(file), str(file.parent), "-k", "winners"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 test passed"
    assert main(["test-rules", str(file), "--coverage-html", str(file.with_suffix(".txt"))]) == 2
    assert not file.with_suffix(".txt").exists()
