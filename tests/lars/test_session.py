"""LARS sessions: whatever the steps, and however they are evaluated, what is told adds up to a run over everything."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lars.columns import answers_of, text, violations
from tests.oracle import lars, lars_clingo
from tests.oracle.lars_text import Shape, programs, streams

import eventide as ev
from eventide.errors import EventideError, InputError
from eventide.lars.session import LarsSession, Retained

Stream = list[tuple[int, list[str]]]
END = 9
WAYS = {"ticks": 1 << 30, "columns": -1, "both": 1}


def told(session: LarsSession, stream: Stream, steps: list[int]) -> set[tuple[str, str, int, int | None]]:
    """What is left when all changes are applied; facts are handed in shortly before they count."""
    rows: set[tuple[str, str, int, int | None]] = set()
    for step in steps:
        session.insert([item for item in stream if session.query_time < item[0] <= step])
        changes = session.advance(to=step)
        for table, apply in ((changes.removed, rows.remove), (changes.added, rows.add)):
            for row in table.to_pylist():
                apply((row["fluent"], row["args"], row["start"], row["end"]))
    return rows


def expected(tree: lars.LarsTree, stream: Stream) -> set[tuple[str, str, int, int | None]]:
    answers = answers_of(tree, stream, END)
    return {(predicate[0], "|".join(map(str, row)), start, end) for predicate in answers.compiled.derived
            for row, start, end in answers.rows(answers.now(predicate))}


@settings(max_examples=60)
@given(programs(Shape()), streams(8, 3), st.sets(st.integers(0, END - 1)), st.sampled_from(sorted(WAYS)))
def test_changes_add_up_to_a_run(source: str, stream: Stream, steps: set[int], way: str) -> None:
    tree = lars.program(source)
    session = LarsSession(tree, contradictions="flag", most_by_ticks=WAYS[way])
    assert told(session, stream, [*sorted(steps), END]) == expected(tree, stream)


@settings(max_examples=30)
@given(programs(Shape(contradictions=True)), streams(8, 3), st.sampled_from(sorted(WAYS)))
def test_contradictions_silence_their_time_points(source: str, stream: Stream, way: str) -> None:
    tree = lars.program(source)
    broken = {t for t, found in enumerate(violations(answers_of(tree, stream, END))) if found}
    session = LarsSession(tree, most_by_ticks=WAYS[way])
    seen: set[int] = set()
    for t in range(END + 1):
        session.insert([item for item in stream if item[0] == t])
        seen |= session.advance(to=t).contradictions.keys()
        held = {(name, "|".join(map(str, row))) for name, rows in session.holding().items() for row in rows}
        said = {row[:2] for row in expected(tree, stream) if row[2] <= t and (row[3] is None or t < row[3])}
        assert held == (set() if t in broken else said)
    assert seen == broken


def test_a_long_session_holds_what_its_windows_show() -> None:
    session = LarsSession(lars.program("d(X) :- p(X) [3], not q(X) [1]. k(X) :- p(X) [2 # by X]. l :- s [4 #]."))
    sizes = []
    for t in range(200):
        session.insert([(t, [f"p({t % 3})", "q(1)", "s"])])
        session.advance(to=t)
        sizes.append(len(session.retained.facts()))
    assert max(sizes[20:]) == min(sizes[20:]) <= 3 * 4 + 2 * 3


def test_late_facts_are_told_and_not_used() -> None:
    session = LarsSession(lars.program("d(X) :- p(X) [3]."))
    session.advance(to=5)
    session.insert([(4, ["p(a)"]), (6, ["p(b)"])])
    changes = session.advance(to=6)
    assert changes.late.to_pylist() == [{"fact": "p(a)", "time": 4}] and session.late_facts == 1
    assert session.holding() == {"d": [("b",)]}


@pytest.mark.parametrize("rules", ["d(X) :- p(X) [3].", "d(X) :- p(X) [3], not k(X). k(X) :- p(X) [3], not d(X)."])
def test_a_late_fact_that_comes_twice_is_told_once(rules: str) -> None:
    session = ev.parse(rules, language="lars").session()
    session.advance(to=5)
    session.insert([(4, ["p(a)", "p(a)"])])
    session.insert([(4, ["p(a)"])])
    assert session.advance(to=6).late.to_pylist() == [{"fact": "p(a)", "time": 4}]


def test_predicates_that_rules_conclude_may_come_as_facts_later() -> None:
    session = LarsSession(lars.program("b(X) :- a(X). c(X) :- b(X) [2]."))
    steps = [(0, ["a(x)"]), (1, []), (2, ["b(y)"]), (3, []), (4, []), (5, [])]
    found = []
    for t, facts in steps:
        session.insert([(t, facts)])
        session.advance(to=t)
        found.append(sorted(text("c", row) for row in session.holding().get("c", [])))
    assert found == [["c(x)"], [], ["c(y)"], ["c(y)"], ["c(y)"], []]


def test_mistakes_are_refused_and_leave_the_session_as_it_was() -> None:
    session = LarsSession(lars.program("d(X) :- p(X) [3]."))
    session.advance(to=5)
    with pytest.raises(EventideError, match="at 5 already"):
        session.advance(to=4)
    with pytest.raises(InputError, match="is no fact"):
        session.insert([(6, ["p(X)"])])
    assert session.advance(to=6).added.num_rows == 0


def test_what_counts_tuples_is_kept_for_each_group() -> None:
    session = LarsSession(lars.program("k(X) :- p(X,Y) [2 # by X]."))
    assert isinstance(session.retained, Retained)
    for t in range(10):
        session.insert([(t, [f"p({t % 2},{t})"])])
        session.advance(to=t)
    assert [fact[0] for fact in session.retained.facts()] == [6, 7, 8, 9]


def test_recursive_rules_go_on_from_what_they_have() -> None:
    tree = lars.program("reach(X,Y) :- e(X,Y) [2]. reach(X,Z) :- reach(X,Y), e(Y,Z) [2], not s. far :- reach(0,4).")
    stream = [(t, [f"e({(t + i) % 5},{(t + i + 1) % 5})" for i in range(3)] + ["s"] * (t % 4 == 3))
              for t in range(END + 1)]
    session = LarsSession(tree)
    for t in range(END + 1):
        session.insert([stream[t]])
        session.advance(to=t)
        (answer,) = lars_clingo.answer_streams(tree, stream, t)
        assert {text(name, row) for name, rows in session.holding().items() for row in rows} == {a for a, _ in answer}
