"""The reference of DatalogMTL names what is refused by its code: each code is what a small program gets."""

from __future__ import annotations

import re

import pytest
from tests.docs.generated import ROOT

import eventide as ev

REFUSED = {
    "looks-ahead": "P(X) :- <>+[0,1] Q(X).",
    "derives-past": "[]-[0,1] P(X) :- Q(X).",
    "uncertain-head": "<>-[0,1] P(X) :- Q(X).",
    "negative-range": "P(X) :- <>-[-2,-1] Q(X).",
    "empty-range": "P(X) :- <>-(1,1] Q(X).",
    "reversed-range": "P(X) :- <>-[2,1] Q(X).",
    "missing-range": "P(X) :- <>- Q(X).",
    "unsafe-variable": "P(X,Y) :- Q(X).",
    "negation-cycle": "P(X) :- Q(X), not <>-[1,1] P(X).",
    "nested-negation": "P(X) :- B(X), (not A(X)) since[0,1] B(X).",
    "not-a-number": "P(X) :- Q(X), X < abc.",
    "ambiguous": "P(X) :- A(X) since[0,1] B(X) since[0,2] C(X).",
    "fact-in-rules": "P(a)@3.",
}


@pytest.mark.parametrize("code", REFUSED)
def test_refused(code: str) -> None:
    problems = ev.parse(REFUSED[code], language="mtl").check()
    assert [problem.code for problem in problems if problem.severity == "error"] == [code]


def test_the_page_lists_them_all() -> None:
    page = (ROOT / "docs/reference/mtl.md").read_text(encoding="utf-8")
    part = page.partition("## What is refused")[2].partition("\n## ")[0]
    assert re.findall(r"^\| .* \| `([\w-]+)` \| .*\|$", part, re.MULTILINE) == list(REFUSED)
