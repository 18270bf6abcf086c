"""Whatever the buckets, the tasks together give what one machine gives: random programs of every family."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.engine.running import facts_of
from tests.oracle.programs import FAMILIES, LAST, Case, arrivals
from tests.spark.exchanges import exchanged, rows_of

import eventide as ev

FEWER = examples(1 / 3)


@pytest.mark.parametrize("family", sorted(FAMILIES))
@FEWER
@given(data=st.data())
def test_one_window(family: str, data: st.DataObject) -> None:
    case: Case = data.draw(FAMILIES[family])
    buckets = data.draw(st.integers(1, 4), "buckets")
    program = ev.parse(case.text + "\n" + case.background)
    half = len(case.facts) // 2
    parts = [facts_of((fact, None) for fact in part) for part in (case.facts[:half], case.facts[half:])]
    found = exchanged(program, parts, buckets=buckets, start=case.start, end=LAST, tick=case.tick)
    whole = facts_of((fact, None) for fact in case.facts)
    assert found == rows_of(program.run(whole, start=case.start, end=LAST, tick=case.tick).to_arrow())


@pytest.mark.parametrize("family", sorted(FAMILIES))
@FEWER
@given(data=st.data())
def test_windows(family: str, data: st.DataObject) -> None:
    """With windows too, and with facts that come late."""
    case: Case = data.draw(FAMILIES[family])
    window = data.draw(st.integers(1, 6), "window") * 5 * case.tick
    step = min(window, data.draw(st.integers(1, 4), "step") * 4 * case.tick)
    timed = data.draw(arrivals(case.facts, window, step, case.start))
    emit = data.draw(st.sampled_from(("timeline", "windows", "changes")), "emit")
    program = ev.parse(case.text + "\n" + case.background)
    found = exchanged(program, [facts_of(timed)], buckets=3, start=case.start, end=LAST, tick=case.tick, window=window,
                      step=step, emit=emit)
    result = program.run(facts_of(timed), start=case.start, end=LAST, tick=case.tick, window=window, step=step,
                         emit=emit)
    assert found == rows_of(result.to_arrow())
