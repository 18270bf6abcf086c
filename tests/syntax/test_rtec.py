"""Programs that RTEC runs are read without errors: the micro programs of the reference, and their round trip."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from tests.syntax.golden import SHARED, diagnostic_line

from eventide.syntax.event_calculus import parse
from eventide.syntax.printer import to_text

MICRO = SHARED / "golden" / "rtec" / "micro.json"
pytestmark = pytest.mark.skipif(not MICRO.exists(), reason="the shared reference data is not here")


def _programs() -> list[tuple[str, str]]:
    if not MICRO.exists():
        return []
    cases = json.loads(MICRO.read_text(encoding="utf-8"))
    return [(f"{case['id']}.{part}", case[part] or "") for case in cases for part in ("rules", "background")]


def test_all_cases_are_there() -> None:
    assert len(_programs()) == 2 * 165


def test_micro_programs_are_read_without_errors_or_warnings() -> None:
    problems = [f"{name}: {diagnostic_line(problem)}" for name, text in _programs()
                for problem in parse(text, name).diagnostics if problem.severity != "info"]
    assert problems == []


def test_micro_programs_survive_the_round_trip() -> None:
    for name, text in _programs():
        rules = parse(text, name).rules
        again = parse("\n".join(map(to_text, rules)))
        assert again.diagnostics == () and again.rules == rules, name


def test_no_clause_is_lost() -> None:
    kinds = Counter(type(rule).__name__ for _, text in _programs() for rule in parse(text).rules)
    heads = Counter(line.partition("(")[0].strip() for _, text in _programs() for line in text.splitlines())
    assert kinds["Grounding"] == sum(text.count("grounding(") - text.count("% grounding(") - text.count("%grounding(")
                                     for _, text in _programs())
    assert kinds["ChangeRule"] >= heads["initiatedAt"] + heads["terminatedAt"]
