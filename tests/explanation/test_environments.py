"""Why an atom of a LARS program holds: sets of facts from which it follows, none of them larger than needed."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

import eventide as ev
from eventide.errors import InputError
from eventide.explanation.environments import explain_environments

RULES = """
y(X) :- a(X) [4].
y(X) :- b(X) [4], c(X) [2].
z(X) :- y(X), d(X) [3].
"""
NOW = 6
facts = st.lists(st.tuples(st.integers(1, NOW), st.sampled_from(("a(p)", "b(p)", "c(p)", "d(p)"))), max_size=5,
                 unique=True)


def holds(rows: Any, atom: str) -> bool:
    """Whether a run over these facts has the atom now."""
    program = ev.parse(RULES, language="lars")
    result = program.run([(time, [fact]) for time, fact in sorted(rows)], start=0, end=NOW) if rows else None
    name = atom.partition("(")[0]
    return result is not None and any(r["fluent"] == name and r["start"] <= NOW and (r["end"] is None or r["end"] > NOW)
                                      for r in result.to_arrow().to_pylist())


@examples(1 / 5)
@given(facts, st.sampled_from(("y(p)", "z(p)")))
def test_environments_are_the_smallest_sets_that_are_enough(rows: list[tuple[int, str]], atom: str) -> None:
    stream = [(time, [fact]) for time, fact in sorted(rows)]
    if not rows:
        return
    proof = explain_environments(ev.parse(RULES, language="lars"), stream, atom, NOW)
    told = {frozenset((f.time, str(f)) for f in (r.fact for r in choice.reasons) if f is not None)
            for choice in proof.reason.reasons if choice.kind == "choice"}
    enough = [frozenset(few) for size in range(len(rows) + 1) for few in combinations(rows, size) if holds(few, atom)]
    smallest = {few for few in enough if not any(other < few for other in enough)}
    assert told == smallest
    assert proof.holds == bool(smallest)


def test_contradictions_and_contexts_are_told() -> None:
    program = ev.parse("free :- closed [9]. jam :- slow [9]. calm :- not jam. :- free, jam.", language="lars")
    events = [(1, ["closed"]), (2, ["slow"])]
    proof = explain_environments(program, events, "jam", 2)
    assert proof.holds and "holds at 2 in 1 of 2 contexts" in str(proof) and "contradict each other" in str(proof)
    assert "jam does not hold" in str(explain_environments(program, events[:1], "calm", 2))
    assert not explain_environments(program, events[:1], "jam", 2).holds
    assert "jam :- slow" in str(explain_environments(program, events[:1], "jam", 2))
    assert explain_environments(program, events, "slow", 2).holds


@pytest.mark.parametrize(("atom", "message"), [("x :- y", "is no atom"), ("nothing", "knows no nothing")])
def test_wrong_questions(atom: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        explain_environments(ev.parse(RULES, language="lars"), [(1, ["a(p)"])], atom, 2)


def test_what_is_written_alike_but_is_text_is_told() -> None:
    program = ev.parse("y(X) :- a(X) [4].", language="lars")
    stream = [(1, ['a("3")'])]
    assert 'y("3") holds: what is in quotes is text, not a number' in ev.explain(program, stream, "y(3)", at=2).text()
    assert ev.explain(program, stream, 'y("3")', at=2).holds
