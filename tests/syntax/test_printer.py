"""The law of the printer: what is printed reads back as the same tree."""

from __future__ import annotations

from hypothesis import given, settings
from tests.syntax.golden import cases
from tests.syntax.strategies import RULES, TERMS

from eventide.syntax.event_calculus import parse
from eventide.syntax.printer import term_text, to_text
from eventide.syntax.reader import read_clauses
from eventide.syntax.terms import Compound, Term
from eventide.syntax.trees import Rule


@settings(max_examples=400, deadline=None)
@given(TERMS)
def test_terms_survive_the_round_trip(term: Term) -> None:
    clauses, problems = read_clauses(f"f({term_text(term)}).", "text")
    assert problems == []
    assert [clause.head for clause in clauses] == [Compound("f", (term,))]


@settings(max_examples=400, deadline=None)
@given(RULES)
def test_rules_survive_the_round_trip(rule: Rule) -> None:
    program = parse(to_text(rule))
    assert program.errors == ()
    assert program.rules == (rule,)


def test_every_golden_rule_survives_the_round_trip() -> None:
    for case in cases("rules", "mistakes", "syntax_errors"):
        rules = parse(case.text).rules
        assert parse("\n".join(map(to_text, rules))).rules == rules, case.name
