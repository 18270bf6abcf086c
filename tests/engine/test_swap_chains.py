"""Rules that are changed again and again, and back: at any query times, in sessions that are saved and restored on the
way, with rules between that are refused."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.effort import examples
from tests.engine.session_cases import SESSION_FAMILIES, SessionCase, give, session_cases
from tests.engine.test_swap import (
    Slow,
    crosses,
    fewer_rules,
    meaning_something_else,
    other_rules,
    over,
    parts_of,
    rows_in,
    two_programs,
)
from tests.oracle.sessions import Row, SlowSession

import eventide as ev
from eventide.engine.session import Session
from eventide.errors import EventideError, InputError

WRONG = "initiatedAt(f(X)=true, T) :- happensAt(e1(X).", "0.5::initiatedAt(f(X)=true, T) :- happensAt(e1(X), T)."


class Chain:
    """A session through a case, the slow session that it is to be like, and what was told."""

    def __init__(self, case: SessionCase, text: str) -> None:
        program = ev.parse(text)
        self.case = case
        self.session: Session = program.session(**case.options)
        self.slow = SlowSession(program, **case.options)
        self.held: set[Row] = set()
        self.fixed: set[Row] = set()
        """The rows that were over before what was rebuilt begins; they stay."""

    def advance(self, number: int) -> None:
        step = self.case.steps[number]
        for each in (self.session, self.slow):
            give(each, self.case, step.operations)
        changes = self.session.advance(to=step.query)
        self.slow.advance(to=step.query)
        added, removed = rows_in(changes.added), rows_in(changes.removed)
        assert removed <= self.held and not added & self.held, f"at {step.query}"
        self.held = self.held - removed | added
        assert self.held == self.fixed | rows_in(self.slow.answer()), f"at {step.query}"

    def change(self, text: str, *, restored: bool) -> None:
        """Go on with other rules; with the old ones, as if nothing had been, if those are refused."""
        new, before = ev.parse(text), self.session.save()
        for wrong in WRONG:
            with pytest.raises(EventideError):
                self.session.swap(ev.parse(wrong))
        try:
            if restored:
                self.session = new.restore(before, swap=True)
                found = self.session.swapped
            else:
                found = self.session.swap(new)
        except InputError as refusal:
            assert "forget" in str(refusal)
            assert self.session.save() == before
            return
        if found is not None:  # restored with the rules that it was saved with, nothing has become of them
            floor = found.since if found.rebuilt else None
            assume(not crosses(self.slow, floor))
            self.fixed = over(self.fixed | rows_in(self.slow.answer()), floor)
            self.slow = Slow.at(floor, new, self.slow)


def taken_through(case: SessionCase, texts: Sequence[str], data: st.DataObject) -> None:
    """Change the rules at any moments, also twice at one; the texts come in any order, and again."""
    moments = data.draw(st.lists(st.tuples(st.integers(0, len(case.steps) - 1), st.sampled_from(texts), st.booleans()),
                                 min_size=2, max_size=4), "changes")
    chain = Chain(case, texts[0])
    for number in range(len(case.steps)):
        chain.advance(number)
        for moment, text, restored in moments:
            if moment == number:
                chain.change(text, restored=restored)


@examples(1 / 12)
@given(family=st.sampled_from(sorted(SESSION_FAMILIES)), kept=st.booleans(), data=st.data())
def test_rules_that_are_changed_again_and_back(family: str, kept: bool, data: st.DataObject) -> None:
    """Over all facts, what is kept and what is rebuilt are the new rules'; with a window, all that is rebuilt."""
    if kept:
        case = data.draw(session_cases(family))
        case = replace(case, options=case.options | {"window": None})
        texts = [case.text]
        for _ in range(2):
            texts.append(data.draw(st.sampled_from((fewer_rules, other_rules)))(data.draw, texts[-1]))
        assume(not any(problem.severity == "error" for text in texts for problem in ev.parse(text).check()))
    else:
        case = data.draw(session_cases(two_programs(family)))
        texts = list(parts_of(case))
    with nullcontext() if kept else patch.object(Session, "meanings", meaning_something_else):
        taken_through(case, texts, data)
