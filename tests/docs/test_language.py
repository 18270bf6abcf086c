"""The reference of the language names what is refused by its code: each code is what a small program gets."""

from __future__ import annotations

import re

import pytest
from tests.docs.generated import ROOT

import eventide as ev
from eventide.algebra.expressions import ARITHMETIC, CONSTANTS, FUNCTIONS
from eventide.analysis.model import BUILT_IN_TESTS
from eventide.syntax.conditions import COMPARISONS
from eventide.syntax.vocabulary import ALLEN_MODES, ALLEN_RELATIONS, CONDITIONS, DECLARATIONS, HEADS

RISE = "initiatedAt(f(X)=true, T) :- happensAt(e(X), T)."
REFUSED = {
    "holdsAt-head": "holdsAt(f(X)=true, T) :- happensAt(e(X), T).",
    "unbound-time": f"{RISE} initiatedAt(g(X)=true, T) :- holdsAt(f(X)=true, T).",
    "other-time": "initiatedAt(f(X)=true, T) :- happensAt(e(X), S), T is S + 5.",
    "unsafe-variable": "initiatedAt(f(X, Y)=true, T) :- happensAt(e(X), T).",
    "time-point-condition": f"{RISE} holdsFor(g(X)=true, I) :- holdsFor(f(X)=true, I), happensAt(e(X), T).",
    "interval-operation-outside": "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), union_all([I], J).",
    "holdsfor-in-rule": f"{RISE} initiatedAt(g(X)=true, T) :- happensAt(e(X), T), holdsFor(f(X)=true, I).",
    "cycle-through-static": "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), holdsAt(g(X)=true, T).\n"
                            "holdsFor(g(X)=true, I) :- holdsFor(f(X)=true, I).",
    "duplicate-definition": f"{RISE} collectIntervals(h(_)=true). holdsFor(f(X)=true, I) :- holdsFor(h(X)=true, I).",
    "initially-without-domain": "initially(f(X)=true). terminatedAt(f(X)=true, T) :- happensAt(e(X), T).",
    "complement-without-domain": f"{RISE} holdsFor(g(X)=true, I) :- holdsFor(f(X)=true, J), complement_all([J], I).",
    "recursive-definition": "a(X) :- b(X, Y), \\+ a(Y). b(x, y).\n"
                            "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), a(X).",
    "too-many-conditions": f"initiatedAt(f(X)=true, T) :- happensAt(e(X, V), T){', V > 1' * 200}.",
    "bad-number": "limit(9223372036854775808).",
    "fluent-as-event": f"{RISE} initiatedAt(g(X)=true, T) :- happensAt(f(X), T).",
    "missing-background": "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), kind(X, big).",
    "list-argument": "initiatedAt(f([X])=true, T) :- happensAt(e(X), T).",
    "compound-value": "initiatedAt(f(X)=by(X), T) :- happensAt(e(X), T).",
    "bad-probability": f"1.5::{RISE}",
    "probability-here": f"{RISE} 0.5::holdsFor(g(X)=true, I) :- holdsFor(f(X)=true, I).",
    "bad-weight": f"weight(x)::{RISE}",
    "weight-here": f"{RISE} weight(2)::initially(f(a)=true).",
    "weight-without-value": f"{RISE} weight(2)::terminatedAt(f(X)=_, T) :- happensAt(g(X), T).",
    "pre-processing": "preProcessing(Q) :- x(Q).",
}


@pytest.mark.parametrize("code", REFUSED)
def test_refused(code: str) -> None:
    assert [problem.code for problem in ev.parse(REFUSED[code]).check() if problem.severity == "error"] == [code]


def test_the_page_lists_them_all() -> None:
    page = (ROOT / "docs/reference/language.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .*? \| (`[^|]*`) \| .*\|$", page.partition("## What is refused")[2], re.MULTILINE)
    assert [code for row in rows for code in re.findall(r"`([^`]+)`", row)] == list(REFUSED)


def test_the_page_names_every_construct() -> None:
    page = (ROOT / "docs/reference/language.md").read_text(encoding="utf-8")
    spoken = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    code = " ".join(re.findall(r"`([^`]+)`", spoken))
    known = {*DECLARATIONS, *HEADS, *CONDITIONS, *ALLEN_RELATIONS, *ALLEN_MODES, *COMPARISONS, *ARITHMETIC, *FUNCTIONS,
             *CONSTANTS, *(name for name, _ in BUILT_IN_TESTS), "member", "memberchk", "is", "not", "\\+", "->", ";",
             "!", "start", "startI", "end"}
    assert {name for name in known if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", code)} == set()
