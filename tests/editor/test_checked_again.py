"""A text that is checked again after an edit has the problems, and names, that checking it anew finds."""

from __future__ import annotations

import gc
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eventide
from eventide.editor.checking import Checked, Checker

APPLICATIONS = Path(eventide.__file__).parent / "applications"
RULES = r"""
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
initiatedAt(rich(X)=true, T) :- happensAt(win(X, A), T), big(A).
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T), 3 > 5.
initiatedAt(at(X)=Y, T) :- happensAt(go(X, Y), T), (limit(X, Y) ; Y = pub).
big(A) :- A > 10.
big(A) :- limit(A, B), B < A.
limit(5, 3).
limit(7, 3).
limit(_, B) :- huge(B), \+ limit(B, 5).
huge(9).
holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=true, J), union_all([J], I).
holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=true, I1), holdsFor(at(X)=pub, I2), union_all([I1, I2], I).
grounding(rich(X)=true) :- person(X).
initially(rich(X)=true) :- person(X).
fi(rich(X)=true, rich(X)=false, 5).
index(rich(X), X).
inputEntity(win(_)).
collectIntervals(near(_,_)=true).
""".lstrip().splitlines(keepends=True)
PIECES = (*RULES, "% note\n", "\n", "person(", "X)", ".", ", T)", "happenAt(win(X), T)", "0.5::")


def told(checked: Checked) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All that is found."""
    return [asdict(problem) for problem in checked.problems], [asdict(each) for each in checked.names.occurrences]


@given(st.lists(st.sampled_from(PIECES), max_size=10),
       st.lists(st.tuples(st.integers(0, 400), st.integers(0, 40), st.lists(st.sampled_from(PIECES), max_size=2)),
                min_size=1, max_size=6))
def test_random_edits(pieces: list[str], edits: list[tuple[int, int, list[str]]]) -> None:
    checker, text = Checker(), "".join(pieces)
    checker.check("rules", text, "ec")
    for begin, removed, added in edits:
        text = text[:begin] + "".join(added) + text[begin + removed :]
        assert told(checker.check("rules", text, "ec")) == told(Checker().check("rules", text, "ec"))


def test_a_check_leaves_nothing_to_collect() -> None:
    """What a check needs no more is freed as it ends; collecting it later would be felt while somebody types."""
    checker, text = Checker(), (APPLICATIONS / "maritime" / "rules.ec").read_text(encoding="utf-8")
    checker.check("rules", text, "ec")
    gc.collect()
    gc.disable()
    try:
        checker.check("rules", f"\n{text}", "ec")
        assert gc.collect() < 100  # and not thousands
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ["maritime", "activity", "netbill"])
def test_edits_of_real_rules(name: str) -> None:
    checker, text = Checker(), (APPLICATIONS / name / "rules.ec").read_text(encoding="utf-8")
    edits = ["", "mark(1).\n", "mark(1, 2).\n", "% one line more\n", "initiatedAt(rich(X)=true, T) :- happensAt(win(X"]
    for number, added in enumerate(edits):
        place = text.index("\n", number * len(text) // len(edits)) + 1
        changed = text[:place] + added + text[place:]
        assert told(checker.check("rules", changed, "ec")) == told(Checker().check("rules", changed, "ec"))
