"""`emit="changes"`: applying the changes of all query times in turn gives the answer at each."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.running import facts_of
from tests.oracle.programs import FAMILIES, LAST, Case, arrivals

import eventide as ev

Row = tuple[Any, ...]


def rows_of(result: ev.Result, *, signed: bool) -> list[tuple[int, str, Row]]:
    """Query time, sign and the rest of every row."""
    return [(r["query_time"], r["change"] if signed else "+",
             (r["fluent"], r["args"], r["value"], r["start"], r["end"])) for r in result.to_arrow().to_pylist()]


@pytest.mark.parametrize("family", ["hierarchies", "delays", "statics", "outputs", "mixed"])
@given(data=st.data())
def test_changes_add_up(family: str, data: st.DataObject) -> None:
    case: Case = data.draw(FAMILIES[family])
    window = data.draw(st.integers(2, 6), "window") * 5 * case.tick
    step = min(window, data.draw(st.integers(1, 3), "step") * 4 * case.tick)
    facts = facts_of(data.draw(arrivals(case.facts, window, step, case.start)))
    program = ev.parse(case.text + "\n" + case.background)
    options: dict[str, Any] = {"start": case.start, "tick": case.tick, "window": window}
    changes = rows_of(program.run(facts, step=step, end=LAST, emit="changes", **options), signed=True)
    held: set[Row] = set()
    for query in sorted({query for query, _, _ in changes}):
        removed = {row for q, sign, row in changes if q == query and sign == "-"}
        added = {row for q, sign, row in changes if q == query and sign == "+"}
        assert removed <= held and not added & held
        held = held - removed | added
    last = program.run(facts, step=step, end=LAST, **options).to_arrow().to_pylist()
    assert held == {(r["fluent"], r["args"], r["value"], r["start"], r["end"]) for r in last}
