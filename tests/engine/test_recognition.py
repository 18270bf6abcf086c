"""Runs over windows: query times, facts outside the run or too late, bounds of time, domains that grow."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engine.running import answer, facts_of, shown

import eventide as ev
from eventide.engine.domains import GrowthError
from eventide.engine.executor import Executor
from eventide.engine.recognition import Extent, Recognition, Settings
from eventide.errors import EventideError, InputError, RangeError, RuleError

RULES = "initiatedAt(on(X)=true, T) :- happensAt(go(X), T).\nterminatedAt(on(X)=true, T) :- happensAt(stop(X), T)."


def go(*times: int, arrivals: dict[int, int] | None = None) -> object:
    return facts_of((("event", "go", ("a",), t), (arrivals or {}).get(t)) for t in times)


def recognition(facts: object, **settings: int) -> Recognition:
    return ev.parse(RULES).recognition(facts, Settings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("settings, expected", [
    ({"start": 0, "end": 30, "window": 10}, [10, 20, 30]),
    ({"start": 0, "end": 30, "window": 10, "step": 4}, [4, 8, 12, 16, 20, 24, 28, 32]),
    ({"start": 0, "end": 25}, [25]),
    ({}, [12]),
])
def test_query_times(settings: dict[str, int], expected: list[int]) -> None:
    extent = Extent.of(Settings(**settings), (3, 12), 12)  # type: ignore[arg-type]
    assert list(extent.query_times()) == expected
    told: list[tuple[int, int]] = []
    result = ev.parse(RULES).run(go(3, 12), **settings, progress=lambda done, total: told.append((done, total)))  # type: ignore[arg-type]
    assert told == [(number, len(expected)) for number in range(1, len(expected) + 1)]
    assert result.counts.queries == len(expected)


def test_facts_outside_the_run_are_counted() -> None:
    result = ev.parse(RULES).run(go(2, 5, 7, 40), start=2, end=30)
    assert (result.counts.facts, result.counts.before_start, result.counts.after_end) == (4, 1, 1)


def test_facts_that_arrive_too_late_are_counted_by_name() -> None:
    late = go(5, 12, 14, arrivals={5: 27, 12: 19})
    result = ev.parse(RULES).run(late, start=0, end=30, window=10, emit="windows")
    assert (result.counts.too_late, result.counts.late_by_name) == (1, {"go(_)": 1})
    rows = result.to_arrow().to_pylist()
    assert shown([row for row in rows if row["query_time"] == 20])[0] == {"on(a)=true": [(13, 21)]}


def test_a_late_interval_counts_with_its_part_inside_the_window() -> None:
    rules = "collectIntervals(in(_)=true).\nholdsFor(seen(X)=true, I) :- holdsFor(in(X)=true, I)."
    facts = facts_of([(("interval", "in", ("a",), "true", 3, 18), 18)])
    rows = ev.parse(rules).run(facts, start=0, end=20, window=10, emit="windows").to_arrow().to_pylist()
    assert shown([row for row in rows if row["query_time"] == 20])[0] == {"seen(a)=true": [(11, 18)]}


@pytest.mark.parametrize("settings, problem", [
    ({"tick": 0}, "the tick is 0; it must be at least 1"),
    ({"window": 0}, "the window is 0; it must be at least 1"),
    ({"window": 5, "step": -1}, r"window \(5\) and step \(-1\) must be at least 1"),
    ({"start": 10, "end": 5}, "the run ends at 5, but it starts at 10"),
    ({"start": 10}, "the run starts at 10, but the last event is at 3"),
])
def test_settings_that_make_no_sense(settings: dict[str, int], problem: str) -> None:
    with pytest.raises(EventideError, match=problem):
        ev.parse(RULES).run(go(3), **settings)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="emit is 'all'"):
        ev.parse(RULES).run(go(3), emit="all")  # type: ignore[arg-type]


@pytest.mark.parametrize("times", [(0, 2**62), (-(2**62), 2**61), (2**63 - 1, 2**63 - 5)])
def test_times_that_do_not_fit(times: tuple[int, ...]) -> None:
    with pytest.raises(RangeError, match="declare a coarser unit of time"):
        recognition(go(*times)).run()


def test_times_far_from_zero() -> None:
    base = 2**60
    assert answer(RULES, ("go", "a", base + 5), ("stop", "a", base + 9), initially_at=base) == {
        "on(a)=true": [(base + 6, base + 10)]}


# ------------------------------------------------------------------------------------------------ values computed


def test_a_domain_grows_by_computed_values() -> None:
    """Each sum is a new value; the layout is widened until all of them fit."""
    rules = "initiatedAt(total(X)=S, T) :- happensAt(pay(X, A, B), T), S is A + B."
    pays = [("pay", "a", 100 * i, i, i) for i in range(1, 60)]
    found = answer(rules, *pays)
    assert found["total(a)=5959"] == [(60, None)]
    assert len(found) == 59


def test_a_counter_makes_its_own_values() -> None:
    rules = """
initiatedAt(n(X)=1, T) :- happensAt(go(X), T).
initiatedAt(n(X)=M, T) :- happensAt(tick(X), T), holdsAt(n(X)=N, T), M is N + 1.
"""
    ticks = [("tick", "a", 2 * i) for i in range(1, 6)]
    assert answer(rules, ("go", "a", 0), *ticks)["n(a)=6"] == [(11, None)]


def test_values_that_grow_without_bound_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def grow(*_: object, **__: object) -> None:
        raise GrowthError("sum")

    monkeypatch.setattr(Executor, "run", grow)
    with pytest.raises(RuleError, match="the values of sum grow without bound"):
        recognition(go(3)).run()


def test_only_what_is_asked_for_is_reported() -> None:
    program = ev.parse(RULES + "\ninitiatedAt(was(X)=true, T) :- happensAt(end(on(X)=true), T).")
    facts = facts_of([(("event", "go", ("a",), 1), None), (("event", "stop", ("a",), 5), None)])
    table = program.run(facts, fluents=["was"]).to_arrow()
    assert set(table["fluent"].to_pylist()) == {"was"}
    with pytest.raises(InputError, match="the program derives no wass; it derives on, was"):
        program.run(facts, fluents=["wass"])


def test_counts_start_from_the_facts_loaded() -> None:
    run = recognition(go(1, 2, 3))
    assert run.counts.facts == 3
    assert np.array_equal(run.accepted()["go(_)"].time, [1, 2, 3])
