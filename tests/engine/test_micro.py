"""RTEC's micro programs through the engine: RTEC's answers, and the design's where RTEC's are not ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine.running import shown
from tests.oracle.interpreter import Answer
from tests.oracle.known_differences import DIFFERENCES
from tests.oracle.test_micro import CASES, event_texts, inside, recorded
from tests.oracle.windows import clip

import eventide as ev
from eventide.syntax.diagnostics import Diagnostic

pytestmark = pytest.mark.skipif(not CASES, reason="RTEC's recorded micro cases (golden/rtec/micro.json) are absent")

# Constructs that are refused with a hint rather than given a meaning.
REFUSED = {
    "S17_time_shift": "other-time",
    "V13_holdsFor_in_simple": "holdsfor-in-rule",
}


def errors(program: ev.Program) -> list[Diagnostic]:
    return [d for d in program.check() if d.severity == "error"]


def answers(case: dict[str, Any], folder: Path) -> dict[int, Answer]:
    """Per query time what the engine prints: clipped intervals and events."""
    file = folder / "events.csv"
    file.write_text("".join(f"{row}\n" for row in case["data"]))
    program = ev.parse(case["rules"] + "\n" + case["background"])
    facts = program.read(file, bad_rows="skip", bad_file=folder / "bad.csv")
    rows = program.run(facts, window=case["window"], step=case["step"], start=case["start"], end=case["end"],
                       tick=case["tick"], emit="windows").to_arrow().to_pylist()
    found = {}
    for query in range(case["start"] + case["step"], case["end"] + case["step"], case["step"]):
        fluents, events = shown([row for row in rows if row["query_time"] == query])
        plain = {pair.replace("()=", "="): periods for pair, periods in fluents.items()}
        found[query] = Answer(plain, [(name, tuple(args.split(",")), time) for name, args, time in events])
    return found


@pytest.mark.parametrize("case", [c for c in CASES if c["id"] not in DIFFERENCES], ids=lambda c: c["id"])
def test_rtecs_answer(case: dict[str, Any], tmp_path: Path) -> None:
    for query, answer in answers(case, tmp_path).items():
        assert answer.fluents == recorded(case["rtec_printed"].get(str(query), {}))
        assert event_texts(answer) == inside(case["rtec_events"].get(str(query), []), query, case["window"])


@pytest.mark.parametrize("case", [c for c in CASES if c["id"] in DIFFERENCES and c["id"] not in REFUSED],
                         ids=lambda c: c["id"])
def test_the_designs_answer(case: dict[str, Any], tmp_path: Path) -> None:
    demanded = DIFFERENCES[case["id"]]
    for query, answer in answers(case, tmp_path).items():
        whole = Answer(demanded.fluents[query], [])
        assert answer.fluents == clip(whole, query, case["window"]).fluents
        assert event_texts(answer) == inside(demanded.events.get(query, []), query, case["window"])


@pytest.mark.parametrize("case", [c for c in CASES if c["id"] in REFUSED], ids=lambda c: c["id"])
def test_what_is_refused(case: dict[str, Any]) -> None:
    found = errors(ev.parse(case["rules"] + "\n" + case["background"]))
    assert REFUSED[case["id"]] in [d.code for d in found]
    assert all(d.hint for d in found)
