"""Random programs on every executor give what the slow interpreter gives: in one window, and in windows that are
transparent. The same programs every time, many of them in one run of the executor."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import profile
from tests.engine.running import shown
from tests.engine.test_against_oracle import expected
from tests.executors import Executor, Run
from tests.oracle.interpreter import Answer, evaluate
from tests.oracle.programs import FAMILIES, LAST, Case, arrivals
from tests.oracle.store import Fact
from tests.oracle.windows import evaluate_windows

import eventide as ev
from eventide.syntax.event_calculus import parse
from eventide.testing import CASES, check_engine

EACH = 5 if profile() != "quick" else 2


class Sample(NamedTuple):
    """A random program with its facts, a window and a step, facts that come late, but not too late; and the answers
    of the interpreter in one window, and at each query time."""

    case: Case
    window: int
    step: int
    timed: list[tuple[Fact, int]]
    whole: Answer
    clipped: dict[int, Answer]

    @property
    def program(self) -> ev.Program:
        return ev.parse(self.case.text + "\n" + self.case.background)


def sample_of(case: Case, window: int, step: int, timed: list[tuple[Fact, int]]) -> Sample:
    rules = parse(case.text + "\n" + case.background).rules
    whole = evaluate(rules, case.facts, start=case.start, until=LAST, tick=case.tick)
    windows = evaluate_windows(rules, timed, window, step, case.start, LAST, tick=case.tick)
    return Sample(case, window, step, timed, whole, {query: answer.clipped for query, answer in windows.items()})


def sampled(family: str) -> list[Sample]:
    """Random programs of a family, the same every time."""
    found: list[tuple[Case, int, int, list[tuple[Fact, int]]]] = []

    @settings(max_examples=2 * EACH, derandomize=True, database=None)
    @given(st.data())
    def draw(data: st.DataObject) -> None:
        case = data.draw(FAMILIES[family])
        window = data.draw(st.integers(1, 6)) * 5 * case.tick
        step = min(window, data.draw(st.integers(1, 4)) * 4 * case.tick)
        found.append((case, window, step, data.draw(arrivals(case.facts, window, step, case.start))))

    draw()
    return [sample_of(*drawn) for drawn in found[-EACH:]]


@pytest.fixture(scope="module")
def samples() -> dict[str, Sample]:
    """Programs of all families."""
    return {f"{family} {place}": sample for family in FAMILIES for place, sample in enumerate(sampled(family))}


def written(facts: list[tuple[Fact, int]], path: Path) -> Path:
    """Facts with their arrivals as a file."""
    lines = []
    for fact, arrival in facts:
        kind, name, args = fact[0], fact[1], fact[2]
        inner = [fact[3]] if kind == "event" else [fact[4], fact[3]] if kind == "point" else [fact[4], fact[5], fact[3]]
        lines.append("|".join(map(str, (name, arrival, *inner, *args))))
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def time_of(fact: Fact) -> int:
    return fact[3] if fact[0] == "event" else fact[4]


def test_one_window(executor: Executor, samples: dict[str, Sample], tmp_path: Path) -> None:
    runs = {}
    for name, sample in samples.items():
        case = sample.case
        file = written([(fact, time_of(fact)) for fact in case.facts], tmp_path / f"{name}.csv")
        runs[name] = Run(sample.program, [file], {"start": case.start, "end": LAST, "tick": case.tick})
    answers = executor.answers(runs)
    for name, sample in samples.items():
        fluents, events = shown(answers[name])
        assert (fluents, sorted(set(events))) == expected(sample.whole), f"{name}: {sample.case.text}"
    assert len(samples) >= 10 * EACH and sum(bool(answers[name]) for name in samples) > 6 * EACH


def test_windows_are_transparent(executor: Executor, samples: dict[str, Sample], tmp_path: Path) -> None:
    """At every query time the rows are those of one window over what has arrived, clipped."""
    runs = {}
    for name, sample in samples.items():
        options = {"start": sample.case.start, "end": LAST, "tick": sample.case.tick, "window": sample.window,
                   "step": sample.step, "emit": "windows"}
        runs[name] = Run(sample.program, [written(sample.timed, tmp_path / f"{name}.csv")], options)
    answers = executor.answers(runs)
    for name, sample in samples.items():
        for query, wanted in sample.clipped.items():
            fluents, events = shown([row for row in answers[name] if row["query_time"] == query])
            assert (fluents, sorted(set(events))) == expected(wanted), f"{name} at {query}: {sample.case.text}"


def test_the_checks_that_are_offered_to_others(executor: Executor, tmp_path: Path) -> None:
    runs = {}
    for place, case in enumerate(CASES):
        file = tmp_path / f"{place}.csv"
        file.write_text("".join(f"{row}\n" for row in case.facts))
        times = [int(row.split("|")[2]) for row in case.facts]
        runs[case.rules, case.facts] = Run(ev.parse(case.rules), [file], {"start": min(times) - 1, "end": max(times)})
    answers = executor.answers(runs)
    check_engine(lambda rules, facts: shown(answers[rules, tuple(facts)])[0])
