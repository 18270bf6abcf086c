"""Random programs give one answer however they are run; and every case that once gave two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import effort

from .__main__ import FOUND, tried
from .cases import Case
from .checking import Findings, check
from .languages import LANGUAGES, read_case
from .paths import PATHS, Path_, Said, one
from .shrinking import shrunk

CASES = {"tiny": {"ec": 20, "mtl": 4, "lars": 4}, "quick": {"ec": 25, "mtl": 15, "lars": 12},
         "small": {"ec": 1500, "mtl": 200, "lars": 200},
         "large": {"ec": 200_000, "mtl": 40_000, "lars": 40_000}}[effort.profile()]
ON_SPARK = {"tiny": 4, "quick": 12, "small": 60, "large": 2000}[effort.profile()]
ONE_BY_ONE = 10
"""How many times fewer there are on Spark in a language whose cases are not run together there."""
AT_ONCE = 50
FAST = [name for name, path in PATHS.items() if not path.slow]
SLOW = [name for name, path in PATHS.items() if path.slow]
OPEN = {"ec": set[str](), "mtl": set[str](), "lars": set[str]()}
"""What is still wrong. As long as there is something, random programs of the language may meet it too."""
still_open = pytest.mark.xfail(reason="wrong answers that are known", strict=False)
MARKS = {language: (still_open,) if names else () for language, names in OPEN.items()}
KNOWN = sorted(folder.parent for folder in FOUND.glob("*/*/case.json"))


def told(case: Case, message: str) -> str:
    """What helps to look at a difference."""
    return f"python -m tests.differential --language {case.language} --show {case.seed}\n{message}"


@pytest.mark.parametrize(("language", "first"), [
    pytest.param(language, first, marks=MARKS[language])
    for language in LANGUAGES for first in range(1, CASES[language] + 1, AT_ONCE)])
def test_random_programs(language: str, first: int) -> None:
    found = tried(language, FAST, range(first, min(first + AT_ONCE, CASES[language] + 1)))
    assert not [told(case, f"{d.path}: {d.message}") for case, d in found.differences]
    assert all(found.answers[name] for name in FAST if language in PATHS[name].runs)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(("language", "path"), [
    pytest.param(language, path, marks=MARKS[language]) for path in SLOW for language in PATHS[path].together])
def test_random_programs_on_spark(language: str, path: str) -> None:
    cases = ON_SPARK if language == "ec" else max(ON_SPARK // ONE_BY_ONE, 2)
    for first in range(1, cases + 1, 200):
        found = tried(language, [path], range(first, min(first + 200, cases + 1)))
        assert not [told(case, f"{d.path}: {d.message}") for case, d in found.differences]
        assert found.answers[path] > 0


@pytest.mark.parametrize("folder", [
    pytest.param(folder, id=f"{folder.parent.name}-{folder.name}",
                 marks=still_open if folder.name in OPEN[folder.parent.name] else ())
    for folder in KNOWN])
def test_what_once_went_wrong(folder: Path) -> None:
    case = read_case(folder)
    assert not [f"{d.path}: {d.message}" for d in check(case, FAST, Findings())]


# -- the tester itself -------------------------------------------------------------------------------------------------


def without_starts(case: Case) -> Iterator[Said]:
    """A path that is wrong: it loses what begins at time 7 or later."""
    for said in one(case):
        yield said._replace(rows=tuple(row for row in said.rows if row[1] < 7))


def test_a_wrong_path_is_found_and_its_case_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PATHS, "wrong", Path_("wrong", {"ec": without_starts}))
    case = next(case for case in map(LANGUAGES["ec"].case, range(1, 100)) if check(case, ["wrong"], Findings()))
    small = shrunk(case, lambda smaller: bool(check(smaller, ["wrong"], Findings())))
    assert check(small, ["wrong"], Findings()) and not check(small, ["one"], Findings())
    assert len(small.operations) <= 1 and len(small.clauses) <= 3


def test_a_number_is_a_case() -> None:
    for name, language in LANGUAGES.items():
        assert language.case(7) == language.case(7) != language.case(8), name
