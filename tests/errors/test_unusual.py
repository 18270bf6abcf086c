"""Rule files that are right and look odd: nothing is said about them. A case is a file in `unusual/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventide.program import load

FILES = sorted((Path(__file__).parent / "unusual").iterdir())


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_nothing_is_said_about_it(path: Path) -> None:
    assert [problem.render() for problem in load(path).check()] == []


def test_there_are_files_in_all_three_languages() -> None:
    assert {path.suffix for path in FILES} == {".ec", ".mtl", ".lars"}
