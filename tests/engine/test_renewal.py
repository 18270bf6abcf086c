"""Sessions forget the values that nothing refers to any more, and say the same as sessions that remember them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.engine.session_cases import SESSION_FAMILIES, SessionCase, give, session_cases

import eventide as ev
from eventide.engine import session as sessions

RULES = """
initiatedAt(on(Id) = true, T) :- happensAt(begin(Id), T).
terminatedAt(on(Id) = true, T) :- happensAt(finish(Id), T).
initiatedAt(met(A, B) = true, T) :- happensAt(meet(A, B), T), holdsAt(on(A) = true, T).
terminatedAt(met(A, B) = true, T) :- happensAt(part(A, B), T).
"""


def followed(case: SessionCase) -> tuple[list[Any], Any]:
    """What a session says at its query times, and itself."""
    session = ev.parse(case.text).session(**case.options)
    said = []
    for step in case.steps:
        give(session, case, step.operations)
        changes = session.advance(to=step.query)
        said.append([sorted(map(repr, table.to_pylist())) for table in (changes.added, changes.removed, changes.late)])
    return said, session


@pytest.mark.parametrize("family", SESSION_FAMILIES)
@examples(1 / 6)
@given(data=st.data())
def test_renewed_at_every_step_a_session_says_the_same(family: str, data: st.DataObject) -> None:
    case = data.draw(session_cases(family).filter(lambda case: case.options["window"] is not None))
    wanted, session = followed(case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "_MANY_VALUES", 0)
        patch.setattr(sessions.Session, "_values", lambda self: 1 << 40)
        found, renewed = followed(case)
    assert found == wanted
    assert sorted(map(repr, renewed.answer().to_pylist())) == sorted(map(repr, session.answer().to_pylist()))
    assert renewed.counts == session.counts


@pytest.mark.parametrize("family", SESSION_FAMILIES)
@examples(1 / 6)
@given(data=st.data())
def test_laid_out_anew_at_every_step_a_session_says_the_same(family: str, data: st.DataObject) -> None:
    case = data.draw(session_cases(family))
    wanted, _ = followed(case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions.Session, "_still_fits", lambda self, line, widths, high: False)
        found, _ = followed(case)
    assert found == wanted


def test_nanoseconds_for_a_year() -> None:
    session, day = ev.parse(RULES).session(window=86_400_000_000_000), 86_400_000_000_000
    wide = []
    for number in range(365):
        time = 1_700_000_000_000_000_000 + number * day
        names = [f"v{i}" for i in range(1000)]
        session.insert({"meet": pa.table({"time": [time + i for i in range(1000)], "a": names, "b": names[::-1]}),
                        "begin": pa.table({"time": [time - 5] * 1000, "id": names}),
                        "finish": pa.table({"time": [time + day // 2] * 1000, "id": names}),
                        "part": pa.table({"time": [time + day // 2] * 1000, "a": names, "b": names[::-1]})})
        assert session.advance(to=time + day - 10).added.num_rows == 2000
        assert session._space is not None
        wide.append(session._space.timeline.shift)
    assert wide[-1] == max(wide[:10]) < 50


def test_values_of_forgotten_facts_are_forgotten() -> None:
    session = ev.parse(RULES).session(window=50, start=0)
    sizes = []
    for step in range(1, 120):
        time = [10 * step - 9 + i // 300 for i in range(1500)]
        names = [f"{step}_{i}" for i in range(1500)]
        session.insert({"begin": pa.table({"time": time, "id": names}),
                        "meet": pa.table({"time": [t + 1 for t in time], "a": names, "b": names[::-1]}),
                        "part": pa.table({"time": [t + 2 for t in time], "a": names, "b": names[::-1]}),
                        "finish": pa.table({"time": [t + 2 for t in time], "id": names})})
        session.advance(to=10 * step)
        sizes.append(session._values())
    assert max(sizes) < 100_000 < 1500 * 120
    assert max(sizes[90:]) <= max(sizes[:90])
