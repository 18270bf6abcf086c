"""How far `before` looks back with a horizon: against all pairs of intervals, at every query time, in small windows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.running import facts_of
from tests.engine.session_cases import Operation, SessionCase, Step, arrivals_of, give, query_times
from tests.engine.test_sessions import distinct
from tests.oracle.programs import Case
from tests.oracle.sessions import Row, SlowSession, rows_of
from tests.oracle.store import Fact

import eventide as ev
from eventide.engine.incremental import EVALUATIONS

MODES = ("source", "target", "union", "intersection", "relative_complement", "relative_complement_inverse")
BASE = """
collectIntervals(i(_)=true).
initiatedAt(s(X)=true, T) :- happensAt(up(X), T).
terminatedAt(s(X)=true, T) :- happensAt(down(X), T).
holdsFor(t(X)=true, I) :- holdsFor(i(X)=true, I).
"""


def pair_rule(mode: str, source: str = "s", target: str = "t") -> str:
    return (f"holdsFor({source}_{mode}_{target}(X)=true, I) :- holdsFor({source}(X)=true, I1), "
            f"holdsFor({target}(X)=true, I2), allen(before, I1, I2, {mode}, I).\n")


RULES = BASE + "".join(pair_rule(mode, *names) for mode in MODES for names in (("s", "t"), ("t", "s")))
ONE = BASE + pair_rule("source")


def spans_of(rows: set[Row], name: str, entity: str) -> list[tuple[int, int | None]]:
    return [(start, end) for fluent, args, _, start, end in rows if (fluent, args) == (name, entity)]


def before(sources: list[Any], targets: list[Any]) -> list[tuple[Any, Any]]:
    """All pairs of a source that ends and a target that begins then or later."""
    return [(s, t) for s in sources for t in targets if s[1] is not None and s[1] <= t[0]]


def points_of(spans: set[tuple[int, int | None]], last: int) -> set[int]:
    return {time for start, end in spans for time in range(start, last if end is None else end)}


def related(rows: set[Row], horizon: int, last: int) -> set[Row]:
    """The fluents of RULES by brute force; `last` is after all bounds, and stands for an end that is not there."""
    result: set[Row] = set()
    for source, target in (("s", "t"), ("t", "s")):
        for entity in {row[1] for row in rows}:
            pairs = [(s, t) for s, t in before(spans_of(rows, source, entity), spans_of(rows, target, entity))
                     if t[0] - s[1] <= horizon]
            sources, targets = {s for s, _ in pairs}, {t for _, t in pairs}
            for mode in MODES:
                own, other = points_of(sources, last), points_of(targets, last)
                points = {"source": own, "target": other, "union": own | other, "intersection": own & other,
                          "relative_complement": own - other, "relative_complement_inverse": other - own}[mode]
                spans: Any = {"source": sources, "target": targets}.get(mode) or zip(
                    sorted(p for p in points if p - 1 not in points),
                    sorted(p + 1 for p in points if p + 1 not in points), strict=True)
                result |= {(f"{source}_{mode}_{target}", entity, "true", start, None if end == last else end)
                           for start, end in spans}
    return result


class SlowHorizon(SlowSession):
    """A session of the base rules, with the pairs by brute force."""

    def __init__(self, horizon: int, **options: Any) -> None:
        super().__init__(ev.parse(BASE), **options)
        self.horizon = horizon

    def _evaluated(self) -> set[Row]:
        rows = super()._evaluated()
        return rows | related(rows, self.horizon, last=1000)


def alone(rows: set[Row], horizon: int) -> int:
    """How many intervals of s and t have a partner for `before`, but none within the horizon."""
    number = 0
    for entity in {row[1] for row in rows}:
        pairs = before(spans_of(rows, "s", entity), spans_of(rows, "t", entity))
        near = [(s, t) for s, t in pairs if t[0] - s[1] <= horizon]
        for side in (0, 1):
            number += len({pair[side] for pair in pairs} - {pair[side] for pair in near})
    return number


@st.composite
def cases(draw: st.DrawFn, window: st.SearchStrategy[int | None]) -> SessionCase:
    """Facts of the base rules that come on time, late or too late, some of them retracted."""
    entity, time = st.sampled_from([("a",), ("b",)]), st.integers(1, 50)
    event = st.tuples(st.just("event"), st.sampled_from(["up", "down"]), entity, time)
    interval = st.builds(lambda who, start, length: ("interval", "i", who, "true", start, start + length), entity, time,
                         st.integers(1, 6))
    facts: list[Fact] = draw(st.lists(st.one_of(event, interval), min_size=2, max_size=20))
    length = draw(window)
    queries = draw(query_times(Case(BASE, "", facts, 1, 0), length))
    given_: list[list[Operation]] = [[] for _ in queries]
    for fact in facts:
        for sign in draw(st.sampled_from([(1,), (1,), (1, -1), (1, -1, 1)])):
            arrival = draw(st.sampled_from(arrivals_of(fact, length, queries)))
            step = next((i for i, query in enumerate(queries) if query >= arrival), len(queries) - 1)
            given_[step].append(Operation(fact, arrival, sign))
    steps = tuple(Step(tuple(ops), query) for ops, query in zip(given_, queries, strict=True))
    return SessionCase(RULES, {"window": length, "start": 0}, steps)


@pytest.mark.parametrize("evaluation", EVALUATIONS)
@given(cases(st.integers(1, 25)), st.integers(1, 20))
def test_a_session_sees_the_pairs_within_its_horizon(evaluation: Any, case: SessionCase, horizon: int) -> None:
    slow = SlowHorizon(horizon, **case.options)
    session = ev.parse(RULES).session(horizon=horizon, evaluation=evaluation, **case.options)
    held: set[Row] = set()
    for step in case.steps:
        for receiver in (slow, session):
            give(receiver, case, step.operations)
        slow.advance(to=step.query)
        changes = session.advance(to=step.query)
        held = held - distinct(changes.removed) | distinct(changes.added)
        assert held == distinct(slow.answer()), f"at {step.query}"
        assert distinct(session.window_answer()) == distinct(slow.window_answer()), f"in the window of {step.query}"


@given(cases(st.none()), st.integers(1, 20))
def test_intervals_with_a_partner_beyond_the_horizon_only_are_counted(case: SessionCase, horizon: int) -> None:
    session = ev.parse(ONE).session(horizon=horizon, **case.options)
    most = 0
    for step in case.steps:
        give(session, case, step.operations)
        session.advance(to=step.query)
        most = max(most, alone(distinct(session.answer()), horizon))
        assert session.counts.beyond_horizon == most


@given(cases(st.integers(1, 25)), st.integers(1, 20))
def test_what_is_forgotten_leaves_nobody_alone(case: SessionCase, horizon: int) -> None:
    """In a window no interval is counted that has a partner within the horizon, though it may be forgotten."""
    session, slow = ev.parse(ONE).session(horizon=horizon, **case.options), SlowHorizon(horizon, **case.options)
    most = 0
    for step in case.steps:
        for receiver in (slow, session):
            give(receiver, case, step.operations)
            receiver.advance(to=step.query)
        most = max(most, alone(distinct(slow.answer()), horizon))
        assert session.counts.beyond_horizon <= most


@pytest.mark.parametrize("mode", MODES)
@given(facts=st.lists(st.tuples(st.sampled_from("ij"), st.sampled_from([("a",), ("b",)]), st.integers(0, 40),
                                st.integers(1, 6)), max_size=12), horizon=st.integers(1, 20))
def test_a_run_in_one_window(mode: str, facts: list[tuple[str, tuple[str], int, int]], horizon: int) -> None:
    rules = BASE.replace("initiatedAt", "% ").replace("terminatedAt", "% ")
    rules += "collectIntervals(j(_)=true).\nholdsFor(s(X)=true, I) :- holdsFor(j(X)=true, I).\n" + pair_rule(mode)
    rows: list[Fact] = [("interval", name, who, "true", time, time + length) for name, who, time, length in facts]
    result = ev.parse(rules).run(facts_of((row, None) for row in rows), horizon=horizon, start=-1, end=60)
    found = set(rows_of(result.to_arrow()))
    wanted = related(found, horizon, last=1000)
    assert {row for row in found if "_" in row[0]} == {row for row in wanted if row[0] == f"s_{mode}_t"}
    assert (result.counts.beyond_horizon > 0) == (alone(found, horizon) > 0)


# One by one

FAR = [("event", "up", ("a",), 2), ("event", "down", ("a",), 5), ("interval", "i", ("a",), "true", 26, 30)]


@pytest.mark.parametrize(("horizon", "near"), [(19, False), (20, True), (21, True), (None, True)])
@pytest.mark.parametrize("options", [{}, {"window": 10}, {"window": 4, "step": 3}, {"window": 100, "step": 10}])
@pytest.mark.parametrize("mode", MODES)
def test_the_last_pair_that_counts(mode: str, horizon: int | None, near: bool, options: dict[str, int]) -> None:
    """The source ends at 6, the target begins at 26."""
    program = ev.parse(BASE + pair_rule(mode))
    result = program.run(facts_of((fact, None) for fact in FAR), start=0, end=40, horizon=horizon, **options)  # type: ignore[arg-type]
    spans = {"source": [(3, 6)], "target": [(26, 30)], "union": [(3, 6), (26, 30)], "intersection": [],
             "relative_complement": [(3, 6)], "relative_complement_inverse": [(26, 30)]}[mode]
    found = result.timeline().get(f"s_{mode}_t(a)=true", [])
    assert found == (spans if near else [])


def test_what_is_near_another_one_is_not_alone() -> None:
    """Sources end at 6 and 26, targets begin at 8 and 28: the pair of 6 and 28 is beyond 10, but all have others."""
    facts: list[Fact] = [("event", name, ("a",), time) for name, first in (("up", 2), ("down", 5))
                         for time in (first, first + 20)]
    facts += [("interval", "i", ("a",), "true", time, time + 1) for time in (8, 28)]
    result = ev.parse(ONE).run(facts_of((fact, None) for fact in facts), start=0, horizon=10)
    assert result.counts.beyond_horizon == 0
    result = ev.parse(ONE).run(facts_of((fact, None) for fact in facts), start=0, horizon=1)
    assert result.counts.beyond_horizon == 4


def test_the_count_does_not_depend_on_the_mode() -> None:
    counts = {mode: ev.parse(BASE + pair_rule(mode)).run(
        facts_of((fact, None) for fact in FAR), start=0, horizon=5).counts.beyond_horizon for mode in MODES}
    assert counts == dict.fromkeys(MODES, 2)


def test_an_open_source_is_before_nothing() -> None:
    facts = [fact for fact in FAR if fact[1] != "down"]
    result = ev.parse(ONE).run(facts_of((fact, None) for fact in facts), start=0, horizon=5)
    assert (result.timeline().get("s_source_t(a)=true"), result.counts.beyond_horizon) == (None, 0)
