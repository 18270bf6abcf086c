"""The engine gives what the slow interpreter gives, on random programs of every family of constructs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eventide as ev
from eventide.syntax.event_calculus import parse

from tests.oracle.interpreter import Answer, evaluate
from tests.oracle.programs import FAMILIES, LAST, Case
from tests.engine.running import Timelines, facts_of, timelines


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
