"""The golden cases: what is read, and what is said about what cannot be read, with the exact place and hint."""

from __future__ import annotations

import pytest
from tests.syntax.golden import Case, cases, clause_lines, program_lines


def _named(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", cases("terms"), ids=_named)
def test_clauses(case: Case) -> None:
    assert clause_lines(case.text) == case.expected


@pytest.mark.parametrize("case", cases("syntax_errors", "rules", "mistakes"), ids=_named)
def test_programs(case: Case) -> None:
    assert program_lines(case.text) == case.expected


def test_at_least_forty_distinct_mistakes_have_a_case() -> None:
    codes = {line.split()[1] for case in cases("syntax_errors", "mistakes")
             for line in case.expected.splitlines() if line.startswith("error")}
    assert len(codes) >= 40, sorted(codes)
