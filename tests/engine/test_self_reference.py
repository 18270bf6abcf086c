"""Conditions that bind the variables of a rule and are about the fluent that the rule changes."""

from __future__ import annotations

import pytest
from tests.engine.agreeing import agreed

import eventide as ev

EVENTS = (("go", "p", 1), ("go", "q", 2), ("flip", "z", 5), ("go", "p", 7), ("flip", "z", 9), ("off", "p", 12),
          ("flip", "z", 15), ("off", "z", 20))
GO = "initiatedAt(m(X)=a, T) :- happensAt(go(X), T). "
FLIP = "initiatedAt(m(X)=b, T) :- happensAt(flip(_), T), "

CASES = {
    "the same value": GO + FLIP + "holdsAt(m(X)=a, T).",
    "the other way round": GO + FLIP + "holdsAt(m(Y)=a, T), Y = X.",
    "and so": GO + FLIP + "holdsAt(m(Y)=a, T), X = Y.",
    "then a test": GO + FLIP + "\\+ holdsAt(m(X)=b, T), holdsAt(m(X)=a, T).",
    "two entities": GO + FLIP + "holdsAt(m(Y)=a, T), holdsAt(m(X)=a, T), X \\= Y.",
    "in a table": "nx(p, q). nx(q, p). " + GO + FLIP + "holdsAt(m(Y)=a, T), nx(Y, X). "
    "initiatedAt(m(X)=a, T) :- happensAt(off(_), T), holdsAt(m(X)=b, T).",
    "within a domain": "d(p). grounding(m(X)=a) :- d(X). grounding(m(X)=b) :- d(X). " + GO + FLIP +
    "holdsAt(m(X)=a, T).",
    "initial values": "initially(m(p)=a). " + FLIP + "holdsAt(m(X)=a, T). "
    "initiatedAt(m(X)=a, T) :- happensAt(off(_), T), holdsAt(m(X)=b, T).",
    "behind a deadline": GO + "fi(m(X)=a, m(X)=b, 3). "
    "initiatedAt(m(X)=c, T) :- happensAt(flip(_), T), holdsAt(m(X)=b, T).",
    "a termination": GO + "terminatedAt(m(X)=V, T) :- happensAt(flip(_), T), holdsAt(m(X)=V, T).",
    "through another": GO + "initiatedAt(k(X)=true, T) :- happensAt(flip(_), T), holdsAt(m(X)=a, T). "
    "terminatedAt(k(X)=true, T) :- happensAt(off(X), T). "
    "terminatedAt(m(X)=a, T) :- happensAt(off(_), T), holdsAt(k(X)=true, T).",
}


@pytest.mark.parametrize("rules", CASES.values(), ids=CASES)
def test_what_holds_binds(rules: str) -> None:
    agreed(rules, EVENTS, 25)


def test_a_problem_names_the_variable_that_the_head_has() -> None:
    text = "initiatedAt(m(X)=b, T) :- happensAt(flip(_), T), X = Y."
    problem, = [each for each in ev.parse(text).check() if each.severity == "error"]
    assert problem.message == "X of the head is bound by no condition"
    assert problem.span is not None and problem.span.column == 15


@pytest.mark.parametrize(("text", "hint"), [
    ("initially(per_haps(big_one(X), Y)=true).", "add grounding(per_haps(big_one(X), Y)=true) :- …"),
    ("initially('Per haps'(X_)='On').", "add grounding('Per haps'(X_)='On') :- …"),
    ("initiatedAt(q(X)=true, T) :- happensAt(go(X), T). holdsFor(per(present_quote(X, _Y))=true, I) :- "
     "holdsFor(q(X)=true, J), complement_all([J], I).",
     "add a declaration such as grounding(per(present_quote(X,_Y))=true) :- …"),
])
def test_hints_write_names_as_they_are(text: str, hint: str) -> None:
    assert hint in [problem.hint for problem in ev.parse(text).check()]
