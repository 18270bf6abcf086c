"""DatalogMTL text to trees: every construct, printing and reading again, and what is said of text that is wrong."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.mtl_programs import Case, cases

from eventide.syntax.mtl import MAX_DEPTH, parse
from eventide.syntax.mtl_trees import Compare, Holds, Metric, Not, Range, Since, ranges_in
from eventide.syntax.terms import Atom, Number, Variable


def rule(text: str) -> str:
    """A rule, read and printed."""
    parsed = parse(text)
    assert parsed.diagnostics == (), parsed.diagnostics
    assert len(parsed.rules) == 1
    assert parse(str(parsed.rules[0])).rules == parsed.rules
    return str(parsed.rules[0])


@pytest.mark.parametrize(("text", "printed"), [
    ("P.", "P."), ("P(a, X) :- Q(X).", "P(a,X) :- Q(X)."), ("alarm(X):-sig(X),ok.", "alarm(X) :- sig(X), ok."),
    ("P :- <>-[1,2]Q.", "P :- <>-[1,2] Q."), ("P :- []-(0,4] <>- [0, 2) Q.", "P :- []-(0,4] <>-[0,2) Q."),
    ("P :- <>-[0.5,3/2) Q.", "P :- <>-[1/2,3/2) Q."), ("P :- <>-(2,inf) Q.", "P :- <>-(2,inf) Q."),
    ("P :- <>-[3] Q.", "P :- <>-[3,3] Q."), ("P :- <>-[1e2,1000] Q.", "P :- <>-[100,1000] Q."),
    ("[]+[0,3] []+(1,2) H(X) :- B(X).", "[]+[0,3] []+(1,2) H(X) :- B(X)."),
    ("P :- A since[0,5] B.", "P :- A since[0,5] B."),
    ("P :- A since(0,inf) <>-[0,1] B.", "P :- A since(0,inf) <>-[0,1] B."),
    ("P :- <>-[0,1] (A since[0,5] B).", "P :- <>-[0,1] (A since[0,5] B)."),
    ("P :- (A since[0,1] B) since[0,2] C.", "P :- (A since[0,1] B) since[0,2] C."),
    ("P(X) :- Q(X), not R(X).", "P(X) :- Q(X), not R(X)."), ("P(X):-Q(X),\\+R(X).", "P(X) :- Q(X), not R(X)."),
    ("P(X) :- Q(X), not <>-[0,1] R(X).", "P(X) :- Q(X), not <>-[0,1] R(X)."),
    ("P(X) :- Q(X), not A since[0,1] B.", "P(X) :- Q(X), not (A since[0,1] B)."),
    ("P(X) :- Q(X), []-[0,1] not R(X).", "P(X) :- Q(X), not <>-[0,1] R(X)."),
    ("P(X) :- Q(X), <>-[0,1] (not []-(0,2] R(X)).", "P(X) :- Q(X), not []-[0,1] []-(0,2] R(X)."),
    ("P(X) :- Q(X), not <>-[0,1] not R(X).", "P(X) :- Q(X), []-[0,1] R(X)."),
    ("P(X) :- not not Q(X).", "P(X) :- Q(X)."),
    ("P(Z) :- Q(X,Y), Z = X + 2 * Y.", "P(Z) :- Q(X,Y), Z = (X + (2 * Y))."),
    ("P(X) :- Q(X,Y), X =< 5, Y != a, abs(X - 1) >= 0.5.", "P(X) :- Q(X,Y), X <= 5, Y != a, abs((X - 1)) >= 0.5."),
    ("P(X) :- Q(X), -X < max(X mod 2, 3).", "P(X) :- Q(X), -X < max((X mod 2), 3)."),
    ("P(X) :- Q(X,_), R(_, -3).", "P(X) :- Q(X,_), R(_,-3)."), ("P :- Q('Big dog').", "P :- Q(Big dog)."),
    ("P :- % why\n  Q,\n  R.", "P :- Q, R."),
])
def test_rules_are_printed_as_they_are_meant(text: str, printed: str) -> None:
    parsed = parse(text)
    assert parsed.diagnostics == ()
    assert [str(r) for r in parsed.rules] == [printed]


def test_trees_have_parts_and_places() -> None:
    found = parse("P(X) :- not <>-[1,3/2) Q(X),\n  X < 2.", "a.mtl").rules[0]
    condition, comparison = found.body
    expected = Metric("<>-", Range(Fraction(1), True, Fraction(3, 2), False), Holds("Q", (Variable("X"),)))
    assert condition == Not(expected)
    assert isinstance(condition, Not) and isinstance(condition.formula, Metric)
    assert (str(condition.span), str(condition.formula.range.span)) == ("a.mtl:1:9", "a.mtl:1:16")
    assert comparison == Compare("<", Variable("X"), Number(2)) and str(comparison.span) == "a.mtl:2:3"


def test_words_and_numbers_as_arguments() -> None:
    head = parse("p(a, 'B c', X, _, 3, 2.5, -1).").rules[0].head
    assert head.arguments == (Atom("a"), Atom("B c"), Variable("X"), Variable("_1", True), Number(3), Number(2.5),
                              Number(-1))


@pytest.mark.parametrize(("own", "meteor"), [
    ("P(X) :- <>-[1,2] Q(X).", "P(X):-Diamondminus[1,2]Q(X)"), ("P(X) :- <>-[1,2] Q(X).", "P(X):-SOMETIME[-2,-1]Q(X)"),
    ("P :- []-(0,4] Q.", "P:-Boxminus(0,4]Q"), ("P :- []-(0,4] Q.", "P:-ALWAYS[-4,0)Q"),
    ("[]+[0,3] P(X) :- Q(X), R.", "Boxplus[0,3]P(X):-Q(X),R"), ("P :- <>-[2,inf) Q.", "P:-Diamondminus[2,inf]Q"),
    ("P :- A since[1,2] B.", "P:-A Since[1,2]B"), ("P :- <>-[1,2] []-[0,1] Q.", "P:-<->[1,2][-][0,1]Q"),
    ("P :- <>+[1,2] Q, A until[1,2] []+[0,1] B.", "P:-Diamondplus[1,2]Q,A Until[1,2]Boxplus[0,1]B"),
    ("P :- <>+[1,2] Q.", "P:-SOMETIME[1,2]Q"),
])
def test_meteor(own: str, meteor: str) -> None:
    for text in (meteor, f"{meteor}.", f"{meteor}\n{meteor}\n"):
        parsed = parse(text)
        assert parsed.diagnostics == ()
        assert set(parsed.rules) == set(parse(own).rules)


def test_words_of_meteor_can_name_predicates() -> None:
    assert rule("Since(X) :- ALWAYS(X), Boxplus.") == "Since(X) :- ALWAYS(X), Boxplus."


@given(cases())
def test_random_programs_are_read_and_printed(case: Case) -> None:
    parsed = parse(case.text)
    assert parsed.diagnostics == ()
    assert len(parsed.rules) == len(case.rules)
    assert parse("\n".join(map(str, parsed.rules))).rules == parsed.rules


WRONG = {
    "P :- <>- Q.": "1:10 missing-range", "P :- A since B.": "1:14 missing-range", "P :- <>-[1 Q.": "1:12 bad-range",
    "P :- <>-[a,1] Q.": "1:10 bad-range", "P :- <>-(1) Q.": "1:11 bad-range", "P :- <>-[-inf,1] Q.": "1:9 bad-range",
    "P :- <>-[1/0,2] Q.": "1:12 bad-number", "P :- Q\nR :- S.": "1:7 missing-end", "P(X :- Q.": "1:5 missing-bracket",
    "P :- (Q since[0,1] R.": "1:21 missing-bracket", "P :- .": "1:3 empty-body",
    "P :- Q,.": "1:7 dangling-comma", ":- Q.": "1:1 expected-predicate", "P@3.": "1:2 fact-in-rules",
    "P(X) :- Q(X) || R(X).": "1:14 unexpected", "P :- Q; R.": "1:7 unexpected", "P(f(x)) :- Q.": "1:3 bad-argument",
    "P(X) :- Q(X), X + 1.": "1:17 unexpected", "P(X) :- X < .": "1:13 bad-argument",
    "P :- (not A) since[0,1] Q.": "1:6 nested-negation", "not P :- Q.": "1:1 nested-negation",
    "P :- A since[0,1] B since[0,1] C.": "1:21 ambiguous", "P :- Q('\\qx').": "1:8 bad-quote",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_text_has_one_problem_at_its_place(text: str) -> None:
    problems = parse(text).diagnostics
    assert [f"{p.span.line}:{p.span.column} {p.code}" for p in problems if p.span] == [WRONG[text]]
    assert problems[0].hint


def test_reading_goes_on_after_an_error() -> None:
    parsed = parse("P :- <>- Q.\nR :- S.\nT(X) :- U(X\nV :- W.\n")
    assert [str(r) for r in parsed.rules] == ["R :- S.", "V :- W."]
    assert [p.code for p in parsed.diagnostics] == ["missing-range", "missing-bracket"]


def test_nesting_is_bounded() -> None:
    deep = "P :- " + "<>-[0,1] " * (MAX_DEPTH - 1) + "Q."
    assert len(list(ranges_in(parse(deep).rules[0]))) == MAX_DEPTH - 1
    for text in ("P :- " + "<>-[0,1] " * 5000 + "Q.", "P :- " + "(" * 5000 + "Q" + ")" * 5000 + ".",
                 "P(X) :- Q(X), X < " + "(" * 5000 + "1" + ")" * 5000 + "."):
        assert [p.code for p in parse(text).diagnostics] == ["too-deep"]


@given(st.text(alphabet="PQX(),.:-<>[]+=0123/ \n%'@aifnstoce", max_size=60))
def test_any_text_is_read_without_failing(text: str) -> None:
    for problem in parse(text).diagnostics:
        assert problem.span is not None and problem.hint


def test_since_is_a_node() -> None:
    formula = parse("P :- A until[0,1] B.").rules[0].body[0]
    assert isinstance(formula, Since) and formula.operator == "until"
