"""LARS text: what it means as a tree, and what is said about text that is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.lars_text import Shape, programs

from eventide.syntax.lars import parse
from eventide.syntax.lars_trees import Comparison, Literal, Window
from eventide.syntax.terms import Atom, Compound, Number, Variable

MISTAKES = [  # text, code, line, column, part of the hint
    ("y :- a [#3].", "tuple-window", 1, 9, "[3 #]"),
    ("b(X) :- b(X) not in [5].", "not-in-window", 1, 14, "not a [5]"),
    ("h(X) :- p(X,Y.", "missing-bracket", 1, 14, "column 10"),
    ("a :- b", "missing-end", 1, 7, "after 'b'"),
    ("a :- b\nc :- d.", "missing-end", 1, 7, "after 'b'"),
    ("a :- b [5] always.", "window-first", 1, 12, "a always [5]"),
    ("q(X).", "variable-in-fact", 1, 1, "double quotes"),
    ("x :- Y.", "not-an-element", 1, 6, "small letter"),
    ("x :- a [5 seconds].", "unknown-unit", 1, 11, "'sec'"),
    ("not a :- b.", "negated-head", 1, 1, ":- body."),
    ("z at t+1 :- a.", "bad-time", 1, 6, "T+1"),
    ("z :- a at 2.5 [3].", "bad-time", 1, 11, "whole number"),
    ("x :- a(X) [3 # by Y].", "partition-by", 1, 19, "partition by X"),
    ("x :- a, , b.", "unexpected", 1, 9, "an atom"),
    ("x :- a; b.", "bad-character", 1, 7, "one rule for each"),
    ("car (1).", "space-before-bracket", 1, 5, "'car('"),
    ("a :- b(f(X)).", "nested-term", 1, 8, "arguments of the atom"),
    ("a :- b [1.5].", "window-size", 1, 9, "'[5]'"),
    ("a :- b [-1].", "window-size", 1, 9, "look back"),
    ("a :- b [0 #].", "window-size", 1, 9, "[1 #]"),
    ("h [3] :- a.", "window-in-head", 1, 3, "h at T"),
    ("a :- not not b.", "double-not", 1, 6, "the atom itself"),
    ("a :- p(X), not X < 3.", "negated-comparison", 1, 12, "turn it around"),
    ("a :- p(X), not 3 =< X + 1.", "negated-comparison", 1, 12, "turn it around"),
    ("a :- p(X), not b = X.", "negated-comparison", 1, 12, "turn it around"),
    ("a :- p(9223372036854775808).", "bad-number", 1, 8, "18 digits"),
    ("q(5/2).", "variable-in-fact", 1, 1, "write its value"),
    ("a :- p(X), not X.", "variable-as-predicate", 1, 16, "small letter"),
    ("a :- p(X), 1 < X < 3.", "comparison-chain", 1, 18, "X < Y, Y < Z"),
    ("a :- p(X), X + b = 2.", "word-in-expression", 1, 12, "no variable"),
    ("a(1..3) :- b.", "range-in-rule", 1, 3, "1 <= X"),
    ("v(1..x).", "bad-range", 1, 3, "value(0..30)"),
    ("a :- not(b).", "negation-brackets", 1, 6, "not a"),
    ("a :- at.", "reserved-word", 1, 6, "another name"),
    ("a() :- b.", "no-arguments", 1, 3, "'a' instead"),
    (":- .", "empty-body", 1, 4, "right after its atom"),
    ("a :- b and c.", "laser-and", 1, 8, "laser"),
    ("a <- b.", "unknown-arrow", 1, 3, "':-'"),
    ('a :- p("x).', "bad-character", 1, 8, "quote"),
    ("% language: prolog\na.", "unknown-language", 1, 1, "ticker"),
    ("% clock: 3 weeks\na.", "bad-clock", 1, 1, "msec"),
    ("a :- b [1 msec].", "unit-and-clock", 1, 9, "% clock"),
]


@pytest.mark.parametrize(("text", "code", "line", "column", "hint"), MISTAKES)
def test_mistakes(text: str, code: str, line: int, column: int, hint: str) -> None:
    problem = parse(text, "rules.lars").diagnostics[0]
    assert problem.span is not None
    assert (problem.severity, problem.code, problem.span.line, problem.span.column) == ("error", code, line, column)
    assert problem.hint is not None and hint in problem.hint


def test_a_wrong_rule_does_not_hide_the_others() -> None:
    parsed = parse("a :- b [x]. c :- d. e :- f(.\ng(1). h :- i")
    assert [str(rule) for rule in parsed.tree.rules] == ["c :- d."]
    assert [str(fact) for fact in parsed.tree.facts] == ["g(1)"]
    assert [problem.code for problem in parsed.diagnostics] == ["window-size", "unexpected", "missing-end"]


def test_modalities_and_windows() -> None:
    text = "h :- a, b [5], c always in [2], d at T in [3 #], not e(X,Y) [4 # by Y], f(X,Y), g at 3."
    (rule,) = parse(text).tree.rules
    assert [(one.modality, one.window, one.negated) for one in rule.literals] == [
        ("now", None, False), ("sometime", Window("time", 5), False), ("always", Window("time", 2), False),
        ("at", Window("tuple", 3), False), ("sometime", Window("partition", 4, (1,)), True), ("now", None, False),
        ("at", None, False)]
    assert rule.literals[3].time == Variable("T") and rule.literals[6].time == Number(3)


def test_values() -> None:
    tree = parse("p(a, \"StreetA\", 'x y', -3, 2.5). v(0..2, b).").tree
    assert tree.facts[0] == Compound("p", (Atom("a"), Atom("StreetA"), Atom("x y"), Number(-3), Number(2.5)))
    assert [str(fact) for fact in tree.facts[1:]] == ["v(0,b)", "v(1,b)", "v(2,b)"]


def test_expressions_stand_in_comparisons_only() -> None:
    (rule,) = parse("h(X*2) at T+1 :- p(X) at T [5], X % 2 != 1.").tree.rules
    assert rule.head is not None and rule.head.time == Variable("T+1")
    named = [element for element in rule.body if isinstance(element, Comparison)]
    assert [str(one) for one in named] == ["X % 2 != 1", "X*2 = X * 2", "T+1 = T + 1"]
    assert str(rule) == "h(X*2) at T+1 :- p(X) at T [5], X % 2 != 1."


@pytest.mark.parametrize("comment", ["% a", "// a", "/* a\nb */", "%* a :- b. *%", "% X of Y"])
def test_comments(comment: str) -> None:
    assert str(parse(f"a :- b(X) {comment}\n, c.").tree) == "a :- b(X), c."


def test_units_go_by_the_clock() -> None:
    assert str(parse("a :- b [2 min], c [5].").tree) == "a :- b [120], c [5]."
    assert str(parse("% clock: 100 msec\na :- b [2 sec], c [5].").tree) == "a :- b [20], c [5]."
    assert str(parse("% language: ticker, clock: 100 msec\na :- b [2], c [3 #].").tree) == "a :- b [20], c [3 #]."


def test_contradictions() -> None:
    for text in (":- a, b.", "⊥ :- a, b.", "false :- a, b."):
        (rule,) = parse(text).tree.rules
        assert rule.head is None and str(rule) == ":- a, b."


@pytest.mark.parametrize(("ticker", "ours"), [
    ("h at T :- v(V), a(V) at T [300 sec], leq(18,V), lt(V,20).", "h at T :- v(V), a(V) at T [300], 18 <= V, V < 20."),
    ("n(Z) :- v(X) in [5], plus(X,1,Z), neq(X,Z).", "n(Z) :- v(X) [5], X + 1 = Z, X != Z."),
    ("@T third :- car(C), @T rec(C) [3 #], not rec(C) [2 #], eq(C,C).",
     "third at T :- car(C), rec(C) at T [3 #], not rec(C) [2 #], C = C."),
    ("s(I) :- req(I) in [t 5], gt(I,0).", "s(I) :- req(I) [5], I > 0."),
])
def test_ticker_is_known_by_its_relations(ticker: str, ours: str) -> None:
    parsed = parse(ticker)
    assert (parsed.dialect, str(parsed.tree)) == ("ticker", ours)
    assert [problem.code for problem in parsed.diagnostics] == ["read-as-ticker"]


def test_a_relation_that_the_program_defines_is_a_predicate() -> None:
    text = "a :- lt(X,Y). lt(1,2)."
    assert parse(text).dialect == "lars"
    assert parse(f"% language: lars\n{text.partition('.')[0]}.").dialect == "lars"
    assert parse("% language: ticker\na :- not lt(X,Y), b(X,Y).").diagnostics[0].code == "relation-with-window"


@pytest.mark.parametrize(("laser", "ours"), [
    ("p(B,C) :- time_win(2,0,1,diamond(r(B,C))) and not(s(C))", "p(B,C) :- r(B,C) [2], not s(C)."),
    ("h(X) :- time_win(3,0,2,box(p(X))) and COMP(>=,X,2)", "h(X) :- p(X) always [6], X >= 2."),
    ("@(T,h(X)) :- tuple_win(3,@(T,p(X))) and MATH(+,Z,X,2)", "h(X) at T :- p(X) at T [3 #], Z = X + 2."),
    ('"h(X) :- box(p(X)) and not(diamond(q(X)))",', "h(X) :- p(X) always, not q(X) sometime."),
    ("h :- time_win(2,0,1,p)", "h :- p."),
    ("h(X) :- not(time_win(2,0,1,box(p(X)))) and @(T,q(X))", "h(X) :- not p(X) always [2], q(X) at T."),
])
def test_laser(laser: str, ours: str) -> None:
    parsed = parse(f"{laser}\n# a comment\n")
    assert (parsed.dialect, str(parsed.tree), parsed.diagnostics) == ("laser", ours, ())


@pytest.mark.parametrize(("text", "code"), [
    ("a :- time_win(2,1,1,box(p))", "future-window"), ("a :- tuple_win(2,p)", "now-in-tuples"),
    ("a :- time_win(2,0,1,time_win(3,0,1,box(p)))", "nested-window"), ("a :- box(not(p))", "not-in-box"),
    ("a :- box(p) or b", "laser-or"), ("a :- box(p) and predicate_win(2,b)", "predicate-window"),
    ("a :- box(p) and COMP(~,X,Y)", "unknown-operator"), ("a :- box(p), b", "unexpected"),
])
def test_laser_mistakes(text: str, code: str) -> None:
    assert [problem.code for problem in parse(text).diagnostics] == [code]


def test_laser_negation_inside_a_diamond_is_told() -> None:
    parsed = parse("p(C) :- time_win(1,0,1,diamond(not(s(C)))) and q(C)")
    assert str(parsed.tree) == "p(C) :- not s(C) [1], q(C)."
    assert [problem.code for problem in parsed.diagnostics] == ["not-in-diamond"]


@given(programs(Shape(stratified=False, contradictions=True)))
def test_what_is_printed_is_read_again(text: str) -> None:
    tree = parse(text).tree
    assert parse(str(tree)).tree == tree
    assert all(element.span is not None for rule in tree.rules for element in rule.body if isinstance(element, Literal))


_PIECES = st.sampled_from(["a", "b(X)", "T", "at", "always", "not", "in", "[", "]", "#", "by", "3", "2.5", ":-", ",",
                           ".", "(", ")", "<=", "=", "+", "%", "..", '"', "'", "@", "⊥", "/*", "\n", " ", "é", "box("])


@given(st.lists(_PIECES, max_size=25).map("".join))
def test_any_text_is_read_or_told_about(text: str) -> None:
    parsed = parse(text)
    for problem in parsed.diagnostics:
        assert problem.span is not None and problem.hint and problem.render(text)
