"""Which tests a run takes: the quick ones, all, or the rest; those that are named in any case."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings
from tests import effort

NOTHING_NAMED = pytest.Config.ArgsSource.TESTPATHS


def run(*, source: Any = NOTHING_NAMED, **options: Any) -> Any:
    """A run with some options."""
    given = {"keyword": "", "markexpr": "", "lf": False, "all": False, "rest": False, **options}
    return SimpleNamespace(args_source=source, option=SimpleNamespace(**given))


def item(*marks: str, law: bool = False, path: str = "a") -> Any:
    """A test with marks; of a law, if Hypothesis finds its examples."""
    return SimpleNamespace(get_closest_marker=lambda name: name if name in marks else None, path=Path(path),
                           obj=SimpleNamespace(is_hypothesis_test=law))


TESTS = {"plain": item(), "law": item(law=True), "slow": item("slow"), "on spark": item("spark"),
         "slow there": item("spark", "slow_on_spark"), "quick here": item("slow_on_spark")}


@pytest.mark.parametrize("given, profile, left_out", [
    (run(), "quick", {"slow", "slow there"}),
    (run(all=True), "small", set()),
    (run(rest=True), "small", {"plain", "on spark", "quick here"}),
    (run(keyword="sea"), "small", set()),
    (run(markexpr="not spark"), "small", set()),
    (run(lf=True), "small", set()),
    (run(source=pytest.Config.ArgsSource.ARGS), "small", set()),
])
def test_what_is_asked_for(given: Any, profile: str, left_out: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(effort.PROFILE)
    try:
        effort.choose(given)
        assert effort.profile() == profile
        assert {name for name, test in TESTS.items() if effort.left_out(given, test)} == left_out
    finally:
        monkeypatch.undo()
        settings.load_profile(effort.profile())


def test_the_user_has_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(effort.PROFILE, effort.profile())
    before = effort.profile()
    effort.choose(run())
    effort.choose(run(all=True))
    assert effort.profile() == before


def test_a_share_of_the_examples() -> None:
    whole = settings().max_examples
    assert effort.examples(1 / 2).max_examples == whole // 2
    assert effort.examples(1 / 1000).max_examples == effort.FEWEST


def test_another_order_leaves_files_whole() -> None:
    items = [item(path=name) for name in "abcd" for _ in range(5)]
    one, other, again = ([*items], [*items], [*items])
    effort.shuffle(one, 1)
    effort.shuffle(other, 2)
    effort.shuffle(again, 1)
    assert one == again != other and {*map(id, one)} == {*map(id, items)}
    assert sum(a.path != b.path for a, b in pairwise(one)) == 3
