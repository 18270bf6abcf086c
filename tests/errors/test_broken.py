"""Rule files as beginners and language models write them: what `eventide check` prints about each, word for word.

`broken/NN-name.ec` is a file with one mistake, `broken/NN-name.ec.txt` what is said about it, `broken/fixed/NN-name.ec`
the file put right. A case is added without writing Python: `python -m tests.errors.test_broken` prints what is said.
"""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

import pytest

from eventide.cli.main import main
from eventide.program import load

FOLDER = Path(__file__).parent / "broken"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".ec", ".mtl", ".lars"))
IDS = [path.name for path in FILES]


def said_of(path: Path) -> str:
    """What people see of a file's problems, its folder left out."""
    program = load(path)
    text = path.read_text(encoding="utf-8")
    return "".join(f"{problem.render(text)}\n" for problem in program.check()).replace(str(path), path.name)


def lines_put_right(path: Path) -> set[int]:
    """The lines of a broken file that its repaired twin has not; none where lines were only added."""
    wrong, right = (each.read_text(encoding="utf-8").splitlines() for each in (path, path.parent / "fixed" / path.name))
    found = difflib.SequenceMatcher(None, wrong, right, autojunk=False).get_opcodes()
    return {line for kind, begin, end, _, _ in found if kind != "equal" for line in range(begin + 1, end + 1)}


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_it_is_said_word_for_word(path: Path) -> None:
    assert said_of(path) == (path.parent / f"{path.name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_the_place_is_where_the_mistake_is_put_right_and_there_is_a_suggestion(path: Path) -> None:
    problems, right = load(path).check(), lines_put_right(path)
    assert problems
    for problem in problems:
        assert problem.hint and problem.span is not None
        touched = range(problem.span.line, problem.span.end_line + 1)
        assert not right or right & set(touched), f"{problem.span} is not among lines {sorted(right)}"


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_put_right_it_has_no_problem(path: Path) -> None:
    assert said_of(path.parent / "fixed" / path.name) == ""


def test_the_command_line_says_it_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    path = FILES[0]
    assert main(["-q", "check", path.name]) == 1
    assert capsys.readouterr().out == (FOLDER / f"{path.name}.txt").read_text(encoding="utf-8")


def test_there_are_a_hundred_files_in_all_three_languages() -> None:
    assert len(FILES) >= 100
    assert {path.suffix for path in FILES} == {".ec", ".mtl", ".lars"}


if __name__ == "__main__":
    for each in FILES:
        sys.stdout.write(f"== {each.name}\n{said_of(each)}")
