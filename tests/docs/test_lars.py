"""The reference of LARS names what is refused or noted by its code: each code is what a small program gets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.generated import ROOT

import eventide as ev

REFUSED = {
    "unsafe-variable": "h(X) :- not a(X).",
    "empty-body": "a :- .",
    "missing-end": "a :- b",
    "missing-bracket": "a :- p(X.",
    "no-arguments": "a() :- b.",
    "space-before-bracket": "a :- p (X).",
    "nested-term": "a :- p(f(X)).",
    "variable-as-predicate": "P :- b.",
    "variable-in-fact": "car(X).",
    "reserved-word": "at :- b.",
    "negated-head": "not a :- b.",
    "window-in-head": "a [3] :- b.",
    "unknown-arrow": "a <- b.",
    "negation-brackets": "a :- not(b).",
    "double-not": "a :- not not b.",
    "not-in-window": "a :- b not in [5].",
    "negated-comparison": "a :- p(X), not X < 3.",
    "comparison-chain": "a :- p(X), 1 < X < 3.",
    "not-an-element": "a :- p(X), X.",
    "word-compared": "a :- p(X), X < big.",
    "word-in-expression": "a :- p(X), X = b + 1.",
    "window-first": "a :- b [5] always.",
    "missing-window": "a :- b in 5.",
    "tuple-window": "a :- b [#3].",
    "window-size": "a :- b [-3].",
    "unknown-unit": "a :- b [3 seconds].",
    "unit-and-clock": "a :- b [100 msec].",
    "partition-by": "a :- p(X) [3 # by Y].",
    "bad-time": "a :- b at noon [3].",
    "bad-range": "p(a..b).",
    "range-in-rule": "a :- p(1..3).",
    "large-range": "p(1..999999).",
    "bad-number": "a :- p(1e999).",
    "bad-escape": "a :- p(\"\\q\").",
    "bad-character": "a :- b; c.",
    "unexpected": "a :- b c.",
    "unknown-language": "% language: prolog",
    "bad-clock": "% clock: 3 years",
    "relation-with-window": "% language: ticker\na :- p(X), not leq(X,3).",
    "laser-and": "a :- b and c.",
    "laser-or": "% language: laser\na :- b or c",
    "nested-window": "% language: laser\na :- time_win(3,0,1,tuple_win(2,diamond(b)))",
    "future-window": "% language: laser\na :- time_win(3,2,1,diamond(b))",
    "predicate-window": "% language: laser\na :- predicate_win(b)",
    "not-in-box": "% language: laser\na :- time_win(3,0,1,box(not(b)))",
    "now-in-tuples": "% language: laser\na :- tuple_win(3,b)",
    "unknown-operator": "% language: laser\na :- b(X) and COMP(like,X,3)",
    "two-heads": "a, b :- c.",
    "answer-sets": "a :- b. #show a/1.",
}
NOTED = {
    "other-arity": "p(X) :- a(X). b :- p(X,Y).",
    "similar-name": "congested(L) :- slow(L). b :- congestd(L).",
    "duplicate-rule": "a :- b. a :- b.",
    "tuples-of-conclusions": "a :- b. c :- a [3 #].",
    "not-in-diamond": "% language: laser\na :- time_win(3,0,1,diamond(not(b)))",
    "negative-loop": "a :- s, not b. b :- s, not a.",
    "read-as-ticker": "a :- p(X), leq(X,3).",
    "ticker-differs": "% language: ticker\na :- p(T), b at T [3].",
    "laser-differs": "% language: laser\na(X) :- b(X) and not(c(X))",
}
CODE = re.compile(
    r'(?:problem|SyntaxProblem|report|Diagnostic)\(\s*(?:"(?:error|warning|info)",\s*)?'
    r'"([a-z]+(?:-[a-z]+)+|unexpected)"')


@pytest.mark.parametrize("code", REFUSED)
def test_refused(code: str) -> None:
    problems = ev.parse(REFUSED[code], language="lars").check()
    assert {problem.code for problem in problems if problem.severity == "error"} == {code}


@pytest.mark.parametrize("code", NOTED)
def test_noted(code: str) -> None:
    problems = ev.parse(NOTED[code], language="lars").check()
    assert code in {problem.code for problem in problems if problem.severity != "error"}


def test_the_page_lists_them_all() -> None:
    page = (ROOT / "docs/reference/lars.md").read_text(encoding="utf-8")
    part = page.partition("## What is refused")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.*) \| `([\w-]+)` \| .*\|$", part, re.MULTILINE)
    assert [code for _, code in rows] == [*REFUSED, *NOTED]
    for text, code in rows:
        assert "\n".join(re.findall(r"`([^`]+)`", text)) == (REFUSED | NOTED)[code]


def test_the_source_has_no_other_codes() -> None:
    source = ROOT / "src/eventide"
    files = [*source.glob("syntax/lars*.py"), source / "syntax/ticker.py", source / "syntax/laser.py",
             *source.glob("analysis/lars/*.py")]
    known = {*REFUSED, *NOTED}
    found = {code for file in files for code in CODE.findall(Path(file).read_text(encoding="utf-8"))}
    assert len(found) > 40 and found <= known, sorted(found - known)
