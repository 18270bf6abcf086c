"""Random programs give one answer however they are run; and every case that once gave two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import effort

from .__main__ import FOUND, tried
from .cases import Case, read_case
from .checking import LANGUAGES, Findings, check
from .paths import PATHS, Said, one
from .shrinking import shrunk

CASES = {"tiny": 20, "quick": 100, "small": 1500, "large": 200_000}[effort.profile()]
ON_SPARK = {"tiny": 4, "quick": 12, "small": 60, "large": 2000}[effort.profile()]
AT_ONCE = 50
FAST = [name for name, path in PATHS.items() if not path.slow]
SLOW = [name for name, path in PATHS.items() if path.slow]
OPEN = {"forgotten-deadline", "forgotten-initiation", "forgotten-value"}
"""What is still wrong. As long as there is something, random programs may meet it too."""
still_open = pytest.mark.xfail(bool(OPEN), reason="wrong answers that are known", strict=False)
KNOWN = sorted(folder.parent for folder in FOUND.glob("*/*/case.json"))


def told(case: Case, message: str) -> str:
    """What helps to look at a difference."""
    return f"python -m tests.differential --language {case.language} --show {case.seed}\n{message}"


@still_open
@pytest.mark.parametrize("language", sorted(LANGUAGES))
@pytest.mark.parametrize("first", range(1, CASES + 1, AT_ONCE))
def test_random_programs(language: str, first: int) -> None:
    found = tried(language, FAST, range(first, min(first + AT_ONCE, CASES + 1)))
    assert not [told(case, f"{d.path}: {d.message}") for case, d in found.differences]
    assert sum(found.answers.values()) > 3 * len(FAST)


@still_open
@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("language", sorted(LANGUAGES))
@pytest.mark.parametrize("path", SLOW)
def test_random_programs_on_spark(language: str, path: str) -> None:
    for first in range(1, ON_SPARK + 1, 200):
        found = tried(language, [path], range(first, min(first + 200, ON_SPARK + 1)))
        assert not [told(case, f"{d.path}: {d.message}") for case, d in found.differences]
        assert found.answers[path] > 0


@pytest.mark.parametrize("folder", [
    pytest.param(folder, id=f"{folder.parent.name}-{folder.name}", marks=still_open if folder.name in OPEN else ())
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
    monkeypatch.setitem(PATHS, "wrong", type(PATHS["one"])("wrong", frozenset({"ec"}), without_starts))
    case = next(case for case in map(LANGUAGES["ec"][1], range(1, 100)) if check(case, ["wrong"], Findings()))
    small = shrunk(case, lambda smaller: bool(check(smaller, ["wrong"], Findings())))
    assert check(small, ["wrong"], Findings()) and not check(small, ["one"], Findings())
    assert len(small.operations) <= 1 and len(small.clauses) <= 3


def test_a_number_is_a_case() -> None:
    for language, (_, random_case) in LANGUAGES.items():
        assert random_case(7) == random_case(7) != random_case(8), language
