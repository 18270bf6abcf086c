"""The engine gives what the slow interpreter gives, on random programs of every family of constructs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.running import Timelines, facts_of, shown, timelines
from tests.oracle.interpreter import Answer, evaluate
from tests.oracle.programs import FAMILIES, LAST, Case, arrivals
from tests.oracle.windows import evaluate_windows

import eventide as ev
from eventide.syntax.event_calculus import parse


def expected(answer: Answer) -> tuple[Timelines, list[tuple[str, str, int]]]:
    """The oracle's answer in the form of the engine's."""
    fluents = {(f"{name.partition('=')[0]}()={name.partition('=')[2]}" if "(" not in name.partition("=")[0] else name):
               [tuple(i) for i in intervals] for name, intervals in answer.fluents.items() if intervals}
    events = sorted({(name, ",".join(map(str, args)), time) for name, args, time in answer.events})
    return fluents, events  # type: ignore[return-value]


@pytest.mark.parametrize("family", sorted(FAMILIES))
@given(data=st.data())
def test_one_window(family: str, data: st.DataObject) -> None:
    case: Case = data.draw(FAMILIES[family])
    rules = parse(case.text + "\n" + case.background).rules
    wanted = expected(evaluate(rules, case.facts, start=case.start, until=LAST, tick=case.tick))
    program = ev.parse(case.text + "\n" + case.background)
    assert not [d.render(case.text) for d in program.check() if d.severity == "error"]
    fluents, events = timelines(program, facts_of((fact, None) for fact in case.facts), start=case.start, end=LAST,
                                tick=case.tick)
    assert (fluents, sorted(set(events))) == wanted


@pytest.mark.parametrize("family", sorted(FAMILIES))
@given(data=st.data())
def test_windows(family: str, data: st.DataObject) -> None:
    """Windows of any size and step, late arrivals: at every query time the clipped one-window answer."""
    case: Case = data.draw(FAMILIES[family])
    window = data.draw(st.integers(1, 6), "window") * 5 * case.tick
    step = min(window, data.draw(st.integers(1, 4), "step") * 4 * case.tick)
    timed = data.draw(arrivals(case.facts, window, step, case.start))
    rules = parse(case.text + "\n" + case.background).rules
    answers = evaluate_windows(rules, timed, window, step, case.start, LAST, tick=case.tick)
    program = ev.parse(case.text + "\n" + case.background)
    rows = program.run(facts_of(timed), window=window, step=step, start=case.start, end=LAST, tick=case.tick,
                       emit="windows").to_arrow().to_pylist()
    for query, answer in answers.items():
        fluents, events = shown([row for row in rows if row["query_time"] == query])
        assert (fluents, sorted(set(events))) == expected(answer.clipped), f"at {query}"
