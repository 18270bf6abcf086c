"""The worked examples in `cases/`: rows and expected intervals that belong to the rules they name.

A case has the rows of the stream, background facts as text, start, window (one window over the whole run) and tick;
`expect` gives all intervals of some fluents (null: still open; intervals that begin after the last point are left
out), `expect_events` the times of output events.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.effort import profile
from tests.oracle.interpreter import evaluate
from tests.oracle.rows import facts_of_rows, rules_of

from eventide.applications import APPLICATIONS
from eventide.syntax.event_calculus import parse

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


@pytest.fixture(params=CASES, ids=lambda path: path.stem)
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Each case in turn."""
    found: dict[str, Any] = json.loads(request.param.read_text())
    return found


def test_every_application_has_a_case() -> None:
    assert {json.loads(path.read_text())["app"] for path in CASES} == set(APPLICATIONS)


def test_the_rows_are_sorted_and_inside_the_window(case: dict[str, Any]) -> None:
    arrival = [int(row.split("|")[1]) for row in case["events"]]
    assert arrival == sorted(arrival)
    assert case["start"] < arrival[0]
    assert arrival[-1] <= case["start"] + case["window"]


def test_the_case_uses_names_of_its_rules(case: dict[str, Any]) -> None:
    application = APPLICATIONS[case["app"]]
    text = application.rules.read_text()
    assert application.tick == case["tick"]
    for name in {row.split("|")[0] for row in case["events"]}:
        assert f"{name}(" in text
    for pair in [*case["expect"], *case.get("expect_events", {})]:
        assert f"{pair.split('(')[0]}(" in text


def test_the_background_parses(case: dict[str, Any]) -> None:
    assert not parse(case["background"]).diagnostics


def test_the_expected_intervals_are_maximal(case: dict[str, Any]) -> None:
    last = case["start"] + case["window"]
    for intervals in case["expect"].values():
        assert all(start <= last and (end is None or start < end) for start, end in intervals)
        assert all(end is not None and end < start for (_, end), (start, _) in pairwise(intervals))


# The oracle needs long for the maritime cases; maritime_allen's has the same rows and expects all of maritime's too.
LONG = {"maritime_worked_example"} | ({"maritime_allen_worked_example"} if profile() != "large" else set())
EVALUATED = [pytest.param(path, id=path.stem) for path in CASES if path.stem not in LONG]


@pytest.mark.parametrize("path", EVALUATED)
def test_the_rules_mean_the_expected_intervals(path: Path) -> None:
    """By the oracle, which reads the rules time-point by time-point."""
    case = json.loads(path.read_text())
    rules = rules_of(APPLICATIONS[case["app"]].rules.read_text(), case["background"])
    facts = [fact for fact, _ in facts_of_rows(case["events"], rules)]
    assert len(facts) == len(case["events"])
    last = case["start"] + case["window"]
    answer = evaluate(rules, facts, start=case["start"], until=last, tick=case["tick"])
    found = {
        pair: [[start, end] for start, end in answer.fluents.get(pair, []) if start <= last] for pair in case["expect"]
    }
    assert found == case["expect"]
    times: dict[str, list[int]] = {event: [] for event in case.get("expect_events", {})}
    for name, arguments, time in answer.events:
        times.get(f"{name}({','.join(map(str, arguments))})", []).append(time)
    assert times == case.get("expect_events", {})
