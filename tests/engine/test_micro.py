"""RTEC's micro programs on every executor: RTEC's answers, and the design's where RTEC's are not ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine.running import shown
from tests.executors import Executor, Rows, Run
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


def run_of(case: dict[str, Any], folder: Path) -> Run:
    file = folder / f"{case['id']}.csv"
    file.write_text("".join(f"{row}\n" for row in case["data"]))
    options = {name: case[name] for name in ("window", "step", "start", "end", "tick")}
    return Run(ev.parse(case["rules"] + "\n" + case["background"]), [file],
               options | {"emit": "windows", "bad_rows": "skip"})


@pytest.fixture(scope="module")
def rows(executor: Executor, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Rows]:
    """The rows of every case that has a meaning."""
    folder = tmp_path_factory.mktemp("micro")
    return executor.answers({case["id"]: run_of(case, folder) for case in CASES if case["id"] not in REFUSED})


def answers(case: dict[str, Any], rows: Rows) -> dict[int, Answer]:
    """Per query time what the executor prints: clipped intervals and events."""
    found = {}
    for query in range(case["start"] + case["step"], case["end"] + case["step"], case["step"]):
        fluents, events = shown([row for row in rows if row["query_time"] == query])
        plain = {pair.replace("()=", "="): periods for pair, periods in fluents.items()}
        found[query] = Answer(plain, [(name, tuple(args.split(",")), time) for name, args, time in events])
    return found


@pytest.mark.parametrize("case", [c for c in CASES if c["id"] not in DIFFERENCES], ids=lambda c: c["id"])
def test_rtecs_answer(case: dict[str, Any], rows: Mapping[str, Rows]) -> None:
    for query, answer in answers(case, rows[case["id"]]).items():
        assert answer.fluents == recorded(case["rtec_printed"].get(str(query), {}))
        assert event_texts(answer) == inside(case["rtec_events"].get(str(query), []), query, case["window"])


@pytest.mark.parametrize("case", [c for c in CASES if c["id"] in DIFFERENCES and c["id"] not in REFUSED],
                         ids=lambda c: c["id"])
def test_the_designs_answer(case: dict[str, Any], rows: Mapping[str, Rows]) -> None:
    demanded = DIFFERENCES[case["id"]]
    for query, answer in answers(case, rows[case["id"]]).items():
        whole = Answer(demanded.fluents[query], [])
        assert answer.fluents == clip(whole, query, case["window"]).fluents
        assert event_texts(answer) == inside(demanded.events.get(query, []), query, case["window"])


@pytest.mark.parametrize("case", [c for c in CASES if c["id"] in REFUSED], ids=lambda c: c["id"])
def test_what_is_refused(case: dict[str, Any]) -> None:
    found = errors(ev.parse(case["rules"] + "\n" + case["background"]))
    assert REFUSED[case["id"]] in [d.code for d in found]
    assert all(d.hint for d in found)
