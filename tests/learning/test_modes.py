"""Mode files: what is read, and what is said about mistakes, with places and suggestions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.learning.clauses import clause_of
from eventide.learning.modes import Modes, read_modes
from eventide.syntax.terms import Atom, Number, Term

MOVING = """% What a rule about moving may look like
modeh(initiatedAt(move(+person,+person),+time))
modeh(terminatedAt(move(+person,+person),+time)).     % a full stop may end a line
modeb(happensAt(walking(+person),+time))

modeb(close(+person,+person,#dist,+time))
modeb(not close(+person,+person,#dist,+time))   % 100 % sure? yes: #1
modeb(orientation(+person,+person,45,+time))
modeb(inArea(+person,-area,+time)) /* a comment
over two lines */
modeb(kind(+area,'of % #1 sort'))
examplePattern(holdsAt(move(+person,+person),+time))
inputPredicate(happensAt(walking(+person),+time))
comparisonPredicate(close(+person,+person,#dist,+time),
    lessThan,  % on another line
    comparison_term_position(3))
irreflexive(close)
"""


def read(text: str) -> Modes:
    modes, problems = read_modes(text)
    assert not problems, "\n".join(problem.render(text) for problem in problems)
    return modes


def test_all_declarations() -> None:
    modes = read(MOVING)
    assert [str(mode) for mode in modes.heads] == [
        "initiatedAt(move(+person, +person), +time)", "terminatedAt(move(+person, +person), +time)"]
    assert [str(mode) for mode in modes.bodies] == [
        "happensAt(walking(+person), +time)", "close(+person, +person, #dist, +time)",
        "not close(+person, +person, #dist, +time)", "orientation(+person, +person, 45, +time)",
        "inArea(+person, -area, +time)", "kind(+area, 'of % #1 sort')"]
    assert [str(mode) for mode in modes.examples] == ["holdsAt(move(+person, +person), +time)"]
    assert [str(mode) for mode in modes.inputs] == ["happensAt(walking(+person), +time)"]
    [comparison] = modes.comparisons
    assert (comparison.mode, comparison.direction, comparison.place) == (modes.bodies[1], "lessThan", 2)
    assert modes.irreflexive == {"close"} and not modes.bottoms


def test_places_know_their_way() -> None:
    [mode] = read("modeh(initiatedAt(f(g(+a,x),[-b,#c])=true,+time))\nmodeb(p(+a))").heads
    assert [(str(place), place.path) for place in mode.places] == [
        ("+a", (1, 1, 1, 1)), ("-b", (1, 1, 2, 1)), ("#c", (1, 1, 2, 2)), ("+time", (2,))]


def test_a_threshold_deep_inside() -> None:
    modes = read("modeh(p(+a))\nmodeb(q(+a,at(x(#n))))\n"
                 "comparisonPredicate(q(+a,at(x(#n))), greaterThan, comparison_term_position(2,1,1))")
    assert [(each.direction, each.place) for each in modes.comparisons] == [("greaterThan", 1)]


def test_bottom_rules_of_the_user() -> None:
    modes = read("<bottom>initiatedAt(f(X),T) :- happensAt(a(X),T), not b(X,'<bottom>')<bottom>\n"
                 "<bottom>\nterminatedAt(f(X),T) :-\n    happensAt(c(X),T),\n    d(X).\n<bottom>\n"
                 "<bottom>terminatedAt(f(X),T)<bottom>\nmodeh(initiatedAt(f(+x),+time))")
    assert modes.bottoms == tuple(map(clause_of, (
        "initiatedAt(f(X),T) :- happensAt(a(X),T), not b(X,'<bottom>').",
        "terminatedAt(f(X),T) :- happensAt(c(X),T), d(X).", "terminatedAt(f(X),T).")))
    assert len(modes.heads) == 1


values = st.lists(st.one_of(st.builds(Atom, st.sampled_from(["a", "b c"])), st.builds(Number, st.integers(0, 3))),
                  min_size=4, max_size=4)


@given(values)
def test_what_fills_a_mode_is_found_in_it(constants: list[Term]) -> None:
    [mode] = read("modeh(f(g(+a,x),[-b,7,#c],+d))\nmodeb(p(+a))").heads
    atom = mode.filled(constants)
    assert mode.constants(atom) == tuple(constants)


@pytest.mark.parametrize("atom", ["f(g(a,y),[b,7,c],d)", "f(g(a,x),[b,8,c],d)", "f(g(a,x),[b,7],d)", "f(g(a),d)",
                                  "h(g(a,x),[b,7,c],d)", "f", "f(g(a,x),[b,7.0,c],d)"])
def test_other_shapes_do_not_fit(atom: str) -> None:
    [mode] = read("modeh(f(g(+a,x),[-b,7,#c],+d))\nmodeb(p(+a))").heads
    assert mode.constants(clause_of("f(g(a,x),[b,7,c],d).").head) is not None
    assert mode.constants(clause_of(f"{atom}.").head) is None


@pytest.mark.parametrize(("line", "code", "column", "message", "hint"), [
    ("modehead(p(+a))", "unknown-declaration", 1, "'modehead'", "did you mean 'modeh'?"),
    ("frequency(p(+a))", "unknown-declaration", 1, "'frequency'", "known are modeh"),
    ("modeb(1, p(+a))", "wrong-arity", 1, "takes 1 argument, not 2", "write modeb("),
    ("modeb", "wrong-arity", 1, "takes 1 argument, not 0", "write modeb("),
    ("comparisonPredicate(p(+a,#d), lessThan)", "wrong-arity", 1, "takes 3 arguments, not 2", "position(3)"),
    ("modeb(p(X))", "variable-in-mode", 9, "the variable X", "write +x for something known"),
    ("modeb(p(+Person))", "bad-type", 9, "type Person", "small letter: +person"),
    ("modeb(p(#Dist))", "bad-type", 9, "type Dist", "small letter: #dist"),
    ("modeb(p(+f(x)))", "bad-type", 9, "f(x) is not a type", "+person"),
    ("modeb(p(+,#))", "missing-type", 9, "after '+'", "write +person"),
    ("modeb(p(#,#a))", "missing-type", 9, "after '#'", "write #person"),
    ("modeb(p(\\a))", "unknown-placeholder", 9, "'\\'", "write +type, -type or #type"),
    ("modeb(p(+a -b))", "operator-in-mode", 9, "'-' between", "write ',' before '-'"),
    ("modeb(X)", "bad-literal", 7, "X is not a literal", "such as happensAt"),
    ("modeb((p(+a), q(+a)))", "bad-literal", 8, "','", "for each"),
    ("modeb(not not p(+a))", "double-negation", 11, "twice", "without negation"),
    ("modeb(not p(+a,-b))", "negated-output", 16, "-b in a negated condition", "write +b or #b"),
    ("modeh(not p(+a))", "negated-mode", 7, "'modeh' cannot", "write modeh("),
    ("inputPredicate(not p(+a))", "negated-mode", 16, "'inputPredicate' cannot", "write inputPredicate("),
    ("comparisonPredicate(c(+a,#d), lesThan, comparison_term_position(2))", "unknown-direction", 31, "lesThan",
     "did you mean 'lessThan'?"),
    ("comparisonPredicate(c(+a,#d), lessThan, 2)", "bad-position", 41, "2 is not the position",
     "comparison_term_position(2)"),
    ("comparisonPredicate(c(+a,#d), lessThan, comparison_term_position(1))", "bad-position", 41,
     "+a is not a threshold", "comparison_term_position(2)"),
    ("comparisonPredicate(c(+a,f(#d)), lessThan, comparison_term_position(2))", "bad-position", 44,
     "no place at", "comparison_term_position(2,1)"),
    ("comparisonPredicate(c(+a,d), lessThan, comparison_term_position(2))", "bad-position", 40,
     "no place at", "as #type"),
    ("irreflexive(close/4)", "bad-name", 13, "close / 4 is not a name", "irreflexive(close)"),
    ("p(X) :- q(X)", "rule-in-modes", 1, "a rule among", "between <bottom>"),
    (":- modeb(p(+a)).", "rule-in-modes", 1, "a rule among", "leave out ':-'"),
    ("# what is won", "unknown-comment", 1, "'#' does not begin", "begins with '%'"),
    ("# modes", "unknown-comment", 1, "'#' does not begin", "begins with '%'"),
    ("modeh(initiatedAt(rich(person),time))", "missing-type", 32, "time is no place for the time",
     "write modeh(initiatedAt(rich(+person), +time))"),
    ("modeb(happensAt(win(+person,#sum),now))", "missing-type", 35, "now is no place for the time",
     "write modeb(happensAt(win(+person, #sum), +now))"),
    ("modeh(initiatedAt(rich(+person)))", "wrong-arity", 7, "not 1: the time is missing",
     "write initiatedAt(rich(+person), +time)"),
    ("modeb(holdsAt(rich(+person),true,+time))", "wrong-arity", 7, "takes 2 arguments, not 3", "write holdsAt(rich("),
    ("<bottom>p(X) :- q(X)", "open-bottom", 1, "second <bottom>", "at the end"),
    ("<bottom>p(X) :- q(X) ; r<bottom>", "bad-literal", 17, "';'", "one rule for each alternative"),
    ("modeb(p(+a)", "missing-bracket", 12, "missing ')'", "is not closed"),
    ("modeb(p(#))", "missing-type", 9, "after '#'", "write #person"),
    ("modeb(p(+a #b))", "missing-comma", 12, "before '#'", "write ',' between 'a' and '#'"),
])
def test_mistakes(line: str, code: str, column: int, message: str, hint: str) -> None:
    text = f"modeh(h(+a))\n{line}\nmodeb(last(+a))"
    modes, problems = read_modes(text, "a.modes")
    assert modes.bodies[-1:] == read_modes("modeb(last(+a))")[0].bodies, "what follows is read"
    problem = problems[0]
    assert problem.severity == "error" and problem.span is not None and problem.hint is not None
    assert (problem.code, problem.span.line, problem.span.column) == (code, 2, column)
    assert message in problem.message and hint in problem.hint


@pytest.mark.parametrize(("text", "severity", "code", "place", "hint"), [
    ("", "error", "missing-head", (1, 1), "write modeh("),
    ("modeb(p(+a))", "error", "missing-head", (1, 1), "write modeh("),
    ("modeh(p(+a))", "warning", "missing-body", (1, 7), "write modeb("),
    ("modeh(initatedAt(f(+a),+t))\nmodeb(p(+a))", "warning", "misspelt-head", (1, 7), "did you mean 'initiatedAt'?"),
    ("modeh(h(+area))\nmodeb(p(+aera))", "warning", "unreachable-type", (2, 9), "did you mean 'area'?"),
    ("modeh(h(+a))\nmodeb(p(+a))\nmodeb(q(+zone))", "warning", "unreachable-type", (3, 9), "write -zone"),
    ("modeh(h(+a))\nmodeb(p(+a))\nmodeb(p(+a))", "warning", "repeated-mode", (3, 1), "remove one"),
    ("modeh(h(+a))\nmodeb(p(+a,#d))\ncomparisonPredicate(p(+a,#e), lessThan, comparison_term_position(2))",
     "warning", "unused-comparison", (3, 21), "write modeb(p(+a, #e))"),
    ("modeh(h(+a))\nmodeb(close(+a))\nirreflexive(closer)", "warning", "unused-irreflexive", (3, 13), "'close'?"),
    ("modeh(initiatedAt(move(+a)=true,+t))\nmodeb(p(+a))\nexamplePattern(holdsAt(moves(+a)=true,+t))", "warning",
     "unlearnt-example", (3, 16), "did you mean 'move'?"),
])
def test_declarations_that_do_not_go_together(
        text: str, severity: str, code: str, place: tuple[int, int], hint: str) -> None:
    [problem] = read_modes(text)[1]
    assert problem.span is not None and problem.hint is not None
    assert (problem.severity, problem.code, (problem.span.line, problem.span.column)) == (severity, code, place)
    assert hint in problem.hint


def test_an_open_bracket_spoils_one_declaration() -> None:
    modes, problems = read_modes("modeh(h(+a))\nmodeb(p(+a)\nmodeb(q(+a))\n  modeb(r(+a))\n")
    assert [str(mode) for mode in modes.bodies] == ["q(+a)", "r(+a)"]
    assert [problem.code for problem in problems] == ["missing-bracket"]


def test_types_may_come_from_conditions() -> None:
    assert len(read("modeh(h(+a))\nmodeb(in(+a,-zone))\nmodeb(q(+zone))").bodies) == 2


@given(st.text("modehb(+-#aX,. \n<>:'%\\[]|1/*_") | st.lists(st.sampled_from(
    ["modeh(", "modeb(", "not ", "+a", "#b", "-c", ",", ")", "<bottom>", "\n", "\r\n", "p(", ":-", "X", "'", "/*", "*/",
     "%", "comparisonPredicate(", "lessThan", "comparison_term_position(", "2", "irreflexive(", ".", "\x0b", "\\"]),
    max_size=30).map("".join))
def test_no_text_breaks_the_reader(text: str) -> None:
    modes, problems = read_modes(text)
    assert modes.heads or modes.bottoms or any(problem.severity == "error" for problem in problems)
    for problem in problems:
        assert problem.span is not None and problem.render(text)
