"""Clauses: what is read, what is written, and what is refused with which words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import ProgramError
from eventide.learning.clauses import Clause, Literal, clause_of, read_clauses
from eventide.syntax.event_calculus import parse
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable

names = st.sampled_from(["p", "walking", "not_far", "Truck 3,5 t", "it's", "mod", "-", "not", "is", "[]"])
leaves: st.SearchStrategy[Term] = st.one_of(
    st.builds(Variable, st.sampled_from(["X", "Y", "T", "_Z"])), st.builds(Atom, names),
    st.builds(Number, st.integers(-99, 99)), st.builds(Number, st.sampled_from([0.5, -1.5, 1e30])))
terms: st.SearchStrategy[Term] = st.recursive(leaves, lambda inner: st.one_of(
    st.builds(Compound, st.sampled_from(["f", "walking", "=", "+", "<", "a b"]),
              st.lists(inner, min_size=2, max_size=3).map(tuple)),
    st.builds(ListTerm, st.lists(inner, max_size=2).map(tuple))), max_leaves=6)
atoms = st.one_of(st.builds(Atom, st.sampled_from(["p", "q", "a b"])),
                  st.builds(Compound, st.sampled_from(["p", "happensAt", "=<", "a b"]),
                            st.lists(terms, min_size=2, max_size=3).map(tuple)))
clauses = st.builds(Clause, atoms, st.lists(st.builds(Literal, atoms, st.booleans()), max_size=4).map(tuple))


@given(clauses)
def test_what_is_written_is_read_again(clause: Clause) -> None:
    assert clause_of(str(clause)) == clause
    assert clause_of(clause.text()) == clause


def test_both_ways_to_deny_are_the_same() -> None:
    assert clause_of("p :- not q(X).") == clause_of("p :- \\+ q(X).") == clause_of("p :- not(q(X)).")
    assert clause_of("p :- not q.").body == (Literal(Atom("q"), positive=False),)


def test_signs_and_order_are_part_of_a_clause() -> None:
    assert clause_of("p :- q.") != clause_of("p :- \\+ q.")
    assert clause_of("p :- q, r.") != clause_of("p :- r, q.")


def test_the_text_is_a_rule_of_the_event_calculus() -> None:
    clause = clause_of("terminatedAt(move(X,Y)=true, T) :- happensAt(inactive(X), T), not close(X, Y, 25, T).")
    program = parse(clause.text() + "\nclose(a, b, 25, 3).")
    assert not program.errors and len(program.rules) == 2


@pytest.mark.parametrize(("text", "code", "column", "hint"), [
    ("p :- q ; r.", "bad-literal", 6, "one rule for each alternative"),
    ("p :- (q -> r).", "bad-literal", 7, "one rule for each case"),
    ("p :- \\+ (q, r).", "bad-literal", 10, "one negated literal for each"),
    ("p :- q, \\+ \\+ r.", "double-negation", 12, "without negation"),
    ("p :- q, X.", "bad-literal", 9, "such as happensAt"),
    ("p :- q, 25.", "bad-literal", 9, "such as happensAt"),
    ("p :- q, [a].", "bad-literal", 9, "such as happensAt"),
    ("p :- q, !.", "bad-literal", 9, "such as happensAt"),
    ("0.3::p :- q.", "bad-literal", 1, "not part of a clause"),
    ("\\+ p :- q.", "negated-head", 1, "terminatedAt"),
    (":- q.", "missing-head", 1, "before ':-'"),
    ("p :- q", "missing-end", 7, "'.'"),
])
def test_mistakes(text: str, code: str, column: int, hint: str) -> None:
    found, problems = read_clauses(f"a :- b.\n{text}\nc :- d.", "rules")
    assert [str(clause) for clause in found] == ["a :- b.", "c :- d."], "the others are read"
    [problem] = problems
    assert problem.span is not None and problem.hint is not None
    assert (problem.code, problem.span.line, problem.span.column) == (code, 2, column)
    assert hint in problem.hint


def test_one_clause_is_one() -> None:
    with pytest.raises(ProgramError, match="not 2"):
        clause_of("p. q.")
    with pytest.raises(ProgramError, match="not 0"):
        clause_of("% nothing")
