"""The catalogue of mistakes: each is said once, at its place, with a hint; nothing is written, nothing crashes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.errors.catalogue import Case, cases, diagnostics, line_of

from eventide.cli.main import main

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_case(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    case.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = {path.name for path in tmp_path.iterdir()}
    code = main(case.arguments)
    printed = capsysbinary.readouterr()
    out, err = printed.out.decode(), printed.err.decode()
    assert "Traceback" not in err
    found = diagnostics(out, err)
    shown = "\n".join(map(line_of, found))
    assert code == case.code, shown
    assert len(found) == len(case.expected), shown
    for expected in case.expected:
        assert sum(expected.matches(row) for row in found) == 1, f"{expected}\nis not in\n{shown}"
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("case", [case for case in CASES if case.code == 1], ids=lambda case: case.title)
def test_people_see_the_line_and_a_caret_below_the_place(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main([argument for argument in case.arguments if argument != "--json"]) == 1
    printed = capsys.readouterr()
    lines = (printed.out + printed.err).splitlines()
    for expected in case.expected:
        file, _, place = expected.place.partition(":")
        if expected.place == "-" or file not in case.files or file.endswith(".gz"):
            continue
        at = next(i for i, line in enumerate(lines) if line.startswith(f"{expected.place}: ")
                  and expected.message in line)
        line, column = map(int, place.split(":"))
        source = case.files[file].splitlines()
        if line <= len(source):
            assert lines[at + 1] == f"    {source[line - 1]}"
            assert lines[at + 2].index("^") == 4 + column - 1


def test_there_are_at_least_forty_distinct_mistakes() -> None:
    codes = {(expected.code, expected.message) for case in CASES for expected in case.expected
             if expected.severity != "info"}
    assert len({code for code, _ in codes}) >= 60
    assert len(codes) >= 100


def test_every_problem_in_rules_and_data_has_a_hint() -> None:
    without = [f"{case.title}: {expected.message}" for case in CASES for expected in case.expected
               if expected.code != "-" and expected.severity != "info" and not expected.hint]
    assert without == []
