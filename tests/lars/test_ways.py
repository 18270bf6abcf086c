"""Every way to evaluate a program says what the definition says: a run, truth maintenance, a session step by step."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.oracle import lars

import eventide as ev
from eventide.lars.program import LarsProgram

Stream = list[tuple[int, list[str]]]
CHOICE = "c :- p [2], not k. k :- p [2], not c. "

CASES: dict[str, tuple[str, Stream]] = {
    "a time that is computed": (
        "k(T) :- p at T+1 [3], q at T [3].", [(1, ["p", "q"]), (2, ["p", "q"]), (3, ["p"])]),
    "a time that is computed, absent": (
        "h :- not p at T+1 [3], q at T.", [(1, ["p", "q"]), (2, ["p", "q"])]),
    "a time that is an argument, absent": (
        "h :- v(X) [2], not p at X [3].", [(0, ["v(1)"]), (1, ["p"]), (2, ["v(2)", "v(a)"])]),
    "times of conclusions": (
        "b at T+1 :- p at T [3]. c(T) :- b at T+1 [4], p at T [4]. d :- p at T [2], not b at T+1 [3].",
        [(1, ["p"]), (2, ["p", "q"])]),
    "times above a choice": (
        CHOICE + "h(T) :- c, p at T [3], q at T+1 [3]. g :- c, p at T [3], not q at T+1 [3].",
        [(0, ["p"]), (1, ["q", "p"]), (2, ["s"])]),
    "tuples show conclusions": (
        "b at T :- a at T [5]. c :- b [2 #]. d :- b always [1 #].",
        [(0, ["a"]), (1, ["x"]), (2, ["a", "x"]), (4, ["x", "y"])]),
    "tuples show background facts": (
        "c :- g always [2 #]. d(T) :- g at T [1 #]. g.", [(1, ["a"]), (3, ["x"])]),
    "partitions": (
        "b(X) at T :- a(X) at T [5]. c(X) :- b(X) [1 # by X]. d(X) :- g(X) always [2 # by X]. g(z).",
        [(0, ["a(u)"]), (2, ["a(u)", "a(v)"]), (4, ["g(z)", "g(y)"])]),
    "contradictions": (
        "f(R) :- cl(R) [2]. j(R) :- sl(R) [2]. :- f(R), j(R).",
        [(1, ["cl(a)", "cl(b)"]), (2, ["sl(a)"]), (4, ["sl(b)"])]),
    "words of all kinds": (
        'h(X) :- p(X) [2], X != "a,b \\"q\\"". k :- p("a,b \\"q\\"") [1].',
        [(1, ['p("a,b \\"q\\"")', 'p("Ünï ✓")']), (3, ['p("")', "p(-3)", "p(2.5)"])]),
}
END = 6


def shown(text: str) -> tuple[str, str]:
    """An atom as the columns of a result have it."""
    (fact,) = lars.program(f"{text}.").facts
    return lars.functor_of(fact)[0], "|".join(
        str(arg.value) if isinstance(arg, lars.Number) else arg.name  # type: ignore[union-attr]
        for arg in lars.arguments_of(fact))


def now(rows: list[dict[str, Any]], t: int) -> set[tuple[str, str]]:
    """What some rows say of a time-point."""
    return {(row["fluent"], row["args"]) for row in rows
            if row["fluent"] != "⊥" and row["start"] <= t and (row["end"] is None or t < row["end"])}


def by_steps(program: LarsProgram, stream: Stream, step: int, **options: Any) -> list[dict[str, Any]]:
    """What the changes of a session add up to; it is saved and restored after every step."""
    session, rows, before = program.session(**options), Counter[tuple[tuple[str, Any], ...]](), -1
    for t in [*range(step - 1, END, step), END]:
        session.insert([(time, facts) for time, facts in stream if before < time <= t])
        changes = session.advance(to=t)
        rows.update(tuple(row.items()) for row in changes.added.to_pylist())
        rows.subtract(tuple(row.items()) for row in changes.removed.to_pylist())
        session, before = program.restore(session.save()), t
    return [dict(row) for row in rows.elements()]


@pytest.mark.parametrize("contradictions", ["discard", "flag"])
@pytest.mark.parametrize("name", CASES)
def test_every_way_follows_the_definition(name: str, contradictions: Any) -> None:
    text, stream = CASES[name]
    program: Any = ev.parse(text, language="lars")
    options: Any = {"models": "brave", "contradictions": contradictions}
    ran = program.run(stream, end=END, **options).to_arrow().to_pylist()
    maintained = program.run(stream, end=END, maintain=True, **options).to_arrow().to_pylist()
    stepped = [by_steps(program, stream, step, **options) for step in (1, 3)]
    flagged = [sorted(map(str, (row for row in rows if row["fluent"] == "⊥"))) for rows in (ran, *stepped)]
    assert flagged[0] == flagged[1] == flagged[2]
    for t in range(END + 1):
        found = lars.answer_streams(program.tree, stream, t, constraints=contradictions == "discard")
        wanted = {shown(atom) for answer in found for atom, time in answer if time == t}
        for rows in (ran, maintained, *stepped):
            assert now(rows, t) == wanted, t
