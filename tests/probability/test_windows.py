"""Probabilities in windows: facts in order give what a run without windows gives; late ones count if they can."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.probability.series import probability_at
from tests.probability.worlds import END, Case, cases, facts_of, uncertain_text

import eventide as ev
from eventide.errors import InputError, ProgramError

RICH = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
"""


def rows_of(result: ev.Result) -> tuple[list[tuple[Any, ...]], list[float]]:
    """The rows without their probabilities, and these."""
    rows = sorted((tuple(row.values()) for row in result.to_arrow().to_pylist()), key=repr)
    return [row[:-1] for row in rows], [row[-1] for row in rows]


def assert_same(found: ev.Result, expected: ev.Result) -> None:
    """The same rows; probabilities up to rounding."""
    (ours, our), (theirs, their) = rows_of(found), rows_of(expected)
    assert ours == theirs
    assert our == pytest.approx(their, rel=0, abs=1e-12)


windows = st.tuples(st.integers(1, 6), st.integers(1, 6)).filter(lambda pair: pair[1] <= pair[0] and END % pair[1] == 0)


@settings(max_examples=40)
@given(cases(), windows, st.sampled_from([None, "0.3", "0.5", "0.8"]))
def test_windows_are_transparent(case: Case, window: tuple[int, int], threshold: str | None) -> None:
    program, facts = ev.parse(uncertain_text(case)), facts_of(case)
    options: dict[str, Any] = {"start": 0, "end": END, "probabilistic": True, "threshold": threshold}
    assert_same(program.run(facts, window=window[0], step=window[1], **options), program.run(facts, **options))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 29), st.booleans(), st.sampled_from([0.1, 0.5, 0.9, 1.0])), min_size=1,
                max_size=14), st.integers(1, 12), st.sampled_from([2, 5]), st.sampled_from([None, "0.3", "0.6"]),
       st.sampled_from([1, 3]))
def test_long_streams(rows: list[tuple[int, bool, float]], window: int, step: int, threshold: str | None,
                      tick: int) -> None:
    facts = pa.table({"time": [row[0] for row in rows], "event": ["win" if row[1] else "lose" for row in rows],
                      "x": ["ann"] * len(rows), "probability": [row[2] for row in rows]})
    program = ev.parse(RICH)
    options: dict[str, Any] = {"start": 0, "end": 30, "probabilistic": True, "threshold": threshold, "tick": tick}
    assert_same(program.run(facts, window=max(window, step), step=step, **options), program.run(facts, **options))


def test_late_facts_count_while_the_window_sees_them() -> None:
    facts = pa.table({"time": [1, 3, 2, 2], "arrival": [1, 3, 4, 9], "event": ["win", "lose", "win", "win"],
                      "x": ["ann"] * 4, "probability": [0.5, 0.5, 0.8, 0.5]})
    result = ev.parse(RICH).run(facts, start=0, end=10, window=5, step=2, probabilistic=True)
    assert result.counts.late_by_name == {"win(_)": 1}
    assert probability_at(result, "rich", "true", 2, "ann") == 0.5
    assert probability_at(result, "rich", "true", 3, "ann") == pytest.approx(0.9)
    assert probability_at(result, "rich", "true", 9, "ann") == pytest.approx(0.45)


@pytest.mark.parametrize("emit", ["windows", "changes"])
def test_answers_at_query_times(emit: Any) -> None:
    facts = pa.table({"time": [1, 7], "event": ["win", "lose"], "x": ["ann"] * 2, "probability": [0.5, 0.5]})
    rows = ev.parse(RICH).run(facts, start=0, end=10, window=5, step=5, probabilistic=True, emit=emit).to_arrow()
    key = ["query_time", "start", "end", "probability"]
    if emit == "windows":
        assert list(zip(*rows.select(key).to_pydict().values(), strict=True)) == [
            (5, 2, 6, 0.5), (10, 6, 8, 0.5), (10, 8, 11, 0.25)]
    else:
        assert list(zip(*rows.select([*key, "change"]).to_pydict().values(), strict=True)) == [
            (5, 2, None, 0.5, "+"), (10, 2, 8, 0.5, "+"), (10, 8, None, 0.25, "+"), (10, 2, None, 0.5, "-")]


def test_those_mentioned_before_the_window_stay_in_a_domain() -> None:
    program = ev.parse("""dynamicDomain(boat(_)).
        grounding(seen(X)) :- boat(X).
        grounding(storm(X)) :- boat(X).
        grounding(safe(X)=true) :- boat(X).
        holdsFor(safe(X)=true, I) :- holdsFor(rough(X)=true, I1), complement_all([I1], I).
        initiatedAt(rough(X)=true, T) :- happensAt(storm(X), T).""")
    facts = {"seen": pa.table({"time": [1], "x": ["a"]}),
             "storm": pa.table({"time": [2, 12], "x": ["b", "a"], "probability": [0.5, 0.25]})}
    options: dict[str, Any] = {"start": 0, "end": 15, "probabilistic": True}
    assert_same(program.run(facts, window=3, **options), program.run(facts, **options))


def test_what_windows_refuse() -> None:
    facts = pa.table({"time": [1], "event": ["win"], "x": ["ann"]})
    with pytest.raises(InputError, match="history exact keeps the whole past"):
        ev.parse(RICH).run(facts, window=5, probabilistic=True, history="exact")
    filled = ev.parse("""dynamicDomain(boat(_)).
        grounding(storm(X)) :- boat(X).
        grounding(calm(X)=true) :- boat(X).
        initially(calm(X)=true) :- boat(X).
        terminatedAt(calm(X)=true, T) :- happensAt(storm(X), T).""")
    with pytest.raises(ProgramError, match="initial values for everyone that the input mentions"):
        filled.run(pa.table({"time": [1], "event": ["storm"], "x": ["a"]}), window=5, probabilistic=True)
    program = ev.parse(RICH + "initiatedAt(f(X)=true, T) :- happensAt(startI(rich(X)=true), T).")
    with pytest.raises(ProgramError, match="startI, which has no probabilities in windows"):
        program.run(facts, window=5, probabilistic=True)
