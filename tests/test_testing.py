"""The conformance cases: the local engine passes them, and what differs is shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.engine.running import Timelines, shown

import eventide as ev
from eventide.testing import CASES, check_engine


def test_the_local_engine_passes(tmp_path: Path) -> None:
    def run(rules: str, facts: Sequence[str]) -> Timelines:
        file = tmp_path / "facts.csv"
        file.write_text("".join(f"{row}\n" for row in facts))
        return shown(ev.parse(rules).run(file).to_arrow().to_pylist())[0]

    check_engine(run)


def test_differences_are_shown_by_situation() -> None:
    expected = {case.rules + "".join(case.facts): case.expected for case in CASES}

    def run(rules: str, facts: Sequence[str]) -> Timelines:
        right = expected[rules + "".join(facts)]
        return {"on(a)=true": [(5, 10)]} if facts == CASES[0].facts and rules == CASES[0].rules else right

    with pytest.raises(AssertionError) as caught:
        check_engine(run)
    assert str(caught.value) == ("initiated at 5, terminated at 10\n- on(a)=true: [6, 11)\n+ on(a)=true: [5, 10)")


def test_what_is_missing_and_what_is_too_much() -> None:
    with pytest.raises(AssertionError) as caught:
        check_engine(lambda rules, facts: {"on(z)=true": [(1, None)]})
    assert "- on(a)=true: [6, 11)\n+ on(z)=true: [1, inf)" in str(caught.value)
