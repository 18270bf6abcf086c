"""The oracle against RTEC's answers on the micro programs, and against the design where RTEC's are not ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .interpreter import Answer
from .known_differences import DIFFERENCES, MARKED, WITHOUT_MARK, Fluents
from .rows import facts_of_rows, rules_of, shared_folder
from .windows import WindowAnswer, clip, evaluate_windows

FILE = shared_folder() / "golden" / "rtec" / "micro.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else []
pytestmark = pytest.mark.skipif(not CASES, reason="RTEC's recorded micro cases (golden/rtec/micro.json) are absent")


def answers_of(case: dict[str, Any]) -> dict[int, WindowAnswer]:
    rules = rules_of(case["rules"], case["background"])
    facts = facts_of_rows(case["data"], rules)
    return evaluate_windows(rules, facts, case["window"], case["step"], case["start"], case["end"], tick=case["tick"])


def recorded(fluents: dict[str, list[list[Any]]]) -> Fluents:
    """RTEC's record in the oracle's terms: `f()=v` is `f=v`, `inf` is None."""
    return {pair.replace("()=", "="): [(s, None if e == "inf" else e) for s, e in sorted(periods)]
            for pair, periods in fluents.items()}


def event_texts(answer: Answer) -> set[str]:
    return {f"{name}({','.join(map(str, args))})@{time}" for name, args, time in answer.events}


def inside(events: list[str], query: int, window: int) -> set[str]:
    return {event for event in events if query - window < int(event.rpartition("@")[2]) <= query}


@pytest.mark.parametrize("case", [c for c in CASES if c["id"] not in DIFFERENCES], ids=lambda c: c["id"])
def test_rtecs_answer(case: dict[str, Any]) -> None:
    answers = answers_of(case)
    for query, answer in answers.items():
        assert answer.clipped.fluents == recorded(case["rtec_printed"].get(str(query), {}))
        events = case["rtec_events"].get(str(query), [])
        assert event_texts(answer.clipped) == inside(events, query, case["window"])
    if len(answers) == 1:
        (query,) = answers
        assert answers[query].whole.fluents == recorded(case["rtec_holdsFor"].get(str(query), {}))


@pytest.mark.parametrize("case", [c for c in CASES if c["id"] in DIFFERENCES], ids=lambda c: c["id"])
def test_the_designs_answer(case: dict[str, Any]) -> None:
    demanded = DIFFERENCES[case["id"]]
    answers = answers_of(case)
    assert {query: answer.whole.fluents for query, answer in answers.items()} == demanded.fluents
    for query, answer in answers.items():
        assert event_texts(answer.whole) == set(demanded.events.get(query, []))
        assert answer.clipped.fluents == clip(Answer(demanded.fluents[query], []), query, case["window"]).fluents


def test_every_defect_of_rtec_has_an_answer() -> None:
    assert {case["id"] for case in CASES if case["rtec_defect"]} == set(MARKED)
    assert set(WITHOUT_MARK) <= {case["id"] for case in CASES if not case["rtec_defect"]}
