"""LARS on a truth maintenance network: what the definition says at every time, whatever came before and has expired."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lars.sessions import answers, atoms, session_at
from tests.oracle import lars, lars_clingo
from tests.oracle.lars_text import Shape, programs, streams

import eventide as ev
from eventide.errors import InputError
from eventide.lars.maintained import MaintainedSession
from eventide.lars.values import ground_text
from eventide.maintenance import LabelError

ANY = st.one_of(programs(Shape(contradictions=True)), programs(Shape(stratified=False, contradictions=True)))
Stream = list[tuple[int, list[str]]]


def held(session: MaintainedSession) -> tuple[dict[str, int], int]:
    """How much a session holds; which bits are in use depends on what came before."""
    size = session.network.size()
    assert size.pop("bits") >= size["assumptions"]
    return size, len(session.grounder)


@given(ANY, streams(6, 3), st.integers(0, 3))
def test_answers_are_those_of_clingo(text: str, stream: Stream, more: int) -> None:
    """One session through all times, against the whole program solved at each time from scratch."""
    tree = lars.program(text)
    session, facts = MaintainedSession(tree), dict(stream)
    for t in range(max(facts, default=0) + more + 1):
        session.advance(t, atoms(facts.get(t, [])))
        found = answers(session, stream)
        assert set(found) == lars_clingo.answer_streams(tree, stream, t), f"at {t}"
        assert len(found) == len(set(found))


@given(ANY, streams(8, 2), st.data())
def test_expiry_is_a_restart(text: str, stream: Stream, data: st.DataObject) -> None:
    """A session that looked at every time, and one that looked at no more than facts and the last time: the same
    answers, and the same size. Where answers may change without facts, `next_time` tells."""
    tree, facts = lars.program(text), dict(stream)
    last = max(facts, default=0) + data.draw(st.integers(1, 6))
    patient, hasty = MaintainedSession(tree), session_at(tree, stream, sorted({*facts, last}))
    before: set[Any] = set()
    promised: int | None = 0
    for t in range(last + 1):
        patient.advance(t, atoms(facts.get(t, [])))
        undated = {frozenset((atom, "now" if time == t else time) for atom, time in answer)
                   for answer in answers(patient, stream)}
        if t not in facts and (promised is None or t < promised):
            assert undated == before, f"at {t}, though nothing was to change before {promised}"
        else:
            promised = patient.next_time()
        before = undated
    assert set(answers(patient, stream)) == set(answers(hasty, stream))
    assert held(patient) == held(hasty)


@given(st.one_of(programs(Shape(contradictions=True)), programs(Shape(stratified=False, contradictions=True))),
       streams(7, 3), st.sampled_from(["cautious", "brave"]), st.booleans(), st.sampled_from(["discard", "flag"]))
def test_a_run_is_the_run_of_the_others(
        text: str, stream: Stream, models: Any, earlier: bool, contradictions: Any) -> None:
    """The same rows as columns and answer sets give, and no answer at the same times."""
    program = ev.parse(text, language="lars")
    runs = [program.run(stream, end=9, models=models, earlier=earlier, contradictions=contradictions, maintain=maintain)
            for maintain in (False, True)]
    assert runs[0].to_arrow().to_pylist() == runs[1].to_arrow().to_pylist()
    points = [{t for gap in run.no_answer for t in range(gap.start, gap.end)} for run in runs]
    assert points[0] == points[1]


def test_golden_programs(shared_data: Callable[[str], Path]) -> None:
    for case in json.loads(shared_data("golden/lars/programs.json").read_text()):
        session, stream = MaintainedSession(lars.program(case["program"])), dict(case["stream"])
        for t in range(case["horizon"] + 1):
            session.advance(t, atoms(stream.get(t, [])))
            if str(t) not in case["queries"]:
                continue
            found = list(session.answers())
            shown = [{ground_text(name, row) for name, row, time in answer if time == t} for answer in found]
            expected = case["queries"][str(t)]
            assert len(found) == case["n_models"].get(str(t), 0 if expected is None else 1), case["id"]
            if expected is not None:
                assert set.intersection(*shown) == set(expected), f"{case['id']} at {t}"
            if len(found) == 1:
                at = {f"{ground_text(name, row)}@{time}" for name, row, time in found[0] if time < t}
                given_at = {f"{text}@{time}" for time, facts in case["stream"] for text in facts if time < t}
                assert at | given_at >= set(case["at_atoms"].get(str(t), ())) >= at - given_at, f"{case['id']} at {t}"


def test_golden_scenarios(shared_data: Callable[[str], Path]) -> None:
    """Caching and content retrieval; of the dense one the beginning, for its labels are hundreds long later."""
    for case in json.loads(shared_data("golden/lars/scenarios.json").read_text()):
        session, stream = MaintainedSession(lars.program(case["program"])), dict(case["stream"])
        for t in sorted(map(int, case["queries"]))[:6 if case["id"].startswith("content2") else None]:
            session.advance(t, atoms(stream.get(t, [])))
            shown = [sorted(ground_text(name, row) for name, row, time in answer
                            if time == t and name in case["observed_predicates"]) for answer in session.answers()]
            query = case["queries"][str(t)]
            assert len(shown) == query["n_models"], f"{case['id']} at {t}"
            assert set.intersection(*map(set, shown)) == set(query.get("model", query.get("cautious")))
            assert set.union(*map(set, shown)) == set(query.get("model", query.get("brave")))


@pytest.mark.parametrize("text", [
    "y(X) :- a(X) [3], not b(X) [2]. :- y(X), c(X).",
    "y at T :- a(X) at T [4]. z :- y always [2]. w :- y [1], not z.",
    "y(X) :- a(X) [3 #], a(X) at T [5 #], T > 0. n(X) :- a(X) always [2 # by X].",
])
def test_nothing_grows_on_a_sliding_window(text: str) -> None:
    """The stream repeats itself, so after any number of rounds everything is as large as after two."""
    session = MaintainedSession(lars.program(text))
    sizes, bits, grounded = [], [], [0]
    for t in range(120):
        session.advance(t, atoms([f"a({t % 3})"] + ["b(1)"] * (t % 4 == 0) + ["c(2)"] * (t % 6 == 1)))
        if t % 12 == 11:
            sizes.append(held(session))
            bits.append(session.network.size()["bits"])
            grounded.append(session.grounder.grounded - sum(grounded))
    assert sizes[2:] == sizes[1:-1] and grounded[4:] == grounded[3:-1]
    assert max(bits) < 30


def test_conclusions_for_times_that_never_come_are_forgotten() -> None:
    session = MaintainedSession(lars.program("z at T+1000000 :- a at T [2]. y at T+2 :- a at T [2]."))
    for t in range(50):
        session.advance(t, atoms(["a"]))
    before = held(session)
    for t in range(50, 90):
        session.advance(t, atoms(["a"]))
    assert held(session) == before and session.next_time() == 90
    for t in range(90, 93):
        session.advance(t)
    assert session.next_time() is None and held(session)[0]["nodes"] == 1  # now


def test_labels_that_grow_too_long_are_told_by_name() -> None:
    session = MaintainedSession(lars.program("pair :- a(X) [9], b(Y) [9]."), limit=20)
    with pytest.raises(LabelError, match=r"^pair: more than 20 smallest sets of assumptions; use shorter windows"):
        for t in range(9):
            session.advance(t, atoms([f"a({t})", f"b({t})"]))
    assert session.time == 4


def test_time_goes_on() -> None:
    session = session_at(lars.program("y :- a [1]."), [(3, ["a"])], [3])
    with pytest.raises(InputError, match="time goes on: 3 does not come after 3"):
        session.advance(3)


def test_distant_times_cost_what_they_hold() -> None:
    """Times are seconds since 1970; between facts nothing is done."""
    session = MaintainedSession(lars.program("y :- a [3600]. z :- y, not b [60]."))
    start = 1_700_000_000
    session.advance(start, atoms(["a", "b"]))
    assert [len(answer) for answer in session.answers()] == [1]
    assert session.next_time() == start + 61
    session.advance(start + 61)
    assert [len(answer) for answer in session.answers()] == [2]
    assert session.next_time() == start + 3601
