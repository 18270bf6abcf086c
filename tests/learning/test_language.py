"""Languages: what is true at a row is the bottom rule of that row; clauses, constants, bottom rules of users."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import EventideError
from eventide.learning.bottom import Facts, bottom_rule, domains_of
from eventide.learning.clauses import clause_of
from eventide.learning.examples import Examples, examples_of, table
from eventide.learning.inference import firing
from eventide.learning.language import columns_of, language_of
from eventide.learning.modes import Modes, read_modes
from eventide.learning.subsumption import are_equivalent
from eventide.syntax.terms import Atom, Compound, Number, Term

MODES, _ = read_modes("""
modeh(initiatedAt(meet(+person,+person),+time))
modeh(terminatedAt(meet(+person,+person),+time))
modeb(happensAt(walk(+person),+time))
modeb(not happensAt(walk(+person),+time))
modeb(near(+person,+person,#dist,+time))
modeb(not near(+person,+person,#dist,+time))
modeb(role(+person,#role))
irreflexive(near)
irreflexive(meet)
examplePattern(holdsAt(meet(+person,+person),+time))
""")
PEOPLE, TIMES = ["ann", "bob", "cy"], [1, 2, 5]
PERSON, TIME = st.sampled_from(PEOPLE), st.sampled_from(TIMES)
FACTS = st.fixed_dictionaries({
    "happensAt(walk(+person),+time)": st.lists(st.tuples(PERSON, TIME), min_size=1, max_size=7, unique=True),
    "near(+person,+person,#dist,+time)": st.lists(st.tuples(PERSON, PERSON, st.sampled_from([1, 2]), TIME), min_size=1,
                                                  max_size=9, unique=True),
    "role(+person,#role)": st.lists(st.tuples(PERSON, st.sampled_from(["host", "guest"])), min_size=1, max_size=4,
                                    unique=True)})


def examples_with(facts: dict[str, list[tuple[Any, ...]]], modes: Modes = MODES, **others: list[Any]) -> Examples:
    tables = [table(shape, *zip(*rows, strict=True)) for shape, rows in facts.items()]
    tables += [table(f"{name}(#{name})", values) for name, values in others.items()]
    labels = table("holdsAt(meet(+person,+person),+time)", ["ann"], ["bob"], [2])
    return examples_of(modes, [*tables, table("time(+time)", TIMES)], labels)


def as_term(value: Any) -> Term:
    return Atom(value) if isinstance(value, str) else Number(value)


@given(FACTS)
def test_what_is_true_at_a_row_is_its_bottom_rule(facts: dict[str, list[tuple[Any, ...]]]) -> None:
    examples = examples_with(facts)
    atoms: list[Term] = []
    for rows in examples.facts:
        values = zip(*facts[str(rows.mode).replace(" ", "")], strict=True) if rows.mode.subject != "time" else [TIMES]
        atoms += [rows.mode.filled([as_term(value) for value in row]) for row in zip(*values, strict=True)]
    known = Facts(atoms)
    domains = {**domains_of(MODES, known), "dist": [Number(int(d)) for d in examples.domains["dist"]]}
    language = language_of(MODES, examples)
    (batch,) = examples.batches(10)
    truths = firing(columns_of(language, examples).columns(batch), [[column] for column in language.columns])
    for row in range(0, truths.shape[1], 3):
        args = examples.domains["person"][batch.arguments[row // len(TIMES)]].tolist()
        head = Compound("initiatedAt", (Compound("meet", tuple(map(Atom, args))), Number(TIMES[row % len(TIMES)])))
        expected = bottom_rule(head, MODES, known, domains=domains)
        found = language.clause(True, np.flatnonzero(truths[:, row]).tolist())
        assert are_equivalent(found, expected), (found, expected)


JOINED, _ = read_modes("""
modeh(initiatedAt(meet(+person,+person),+time))
modeb(happensAt(greet(+person,-person),+time))
modeb(role(+person,#role))
examplePattern(holdsAt(meet(+person,+person),+time))
""")


def test_literals_that_share_a_new_variable_are_one_condition() -> None:
    facts = {"happensAt(greet(+person,-person),+time)": [("ann", "bob", 1)], "role(+person,#role)": [("cy", "host")]}
    examples = examples_with(facts, JOINED)
    language = language_of(JOINED, examples)
    texts = [", ".join(map(str, condition)) for condition in language.conditions]
    assert "happensAt(greet(X, N1), T), role(N1, host)" in texts
    assert "happensAt(greet(X, Y), T)" in texts
    assert language.sizes.tolist() == [len(condition) for condition in language.conditions]
    at = texts.index("happensAt(greet(X, N1), T), role(N1, host)")
    other = texts.index("happensAt(greet(Y, N1), T)")
    assert str(language.clause(True, [at, other])) == (
        "initiatedAt(meet(X, Y), T) :- happensAt(greet(X, A), T), role(A, host), happensAt(greet(Y, B), T).")
    assert max(language_of(JOINED, examples, joined=1).sizes) == 1
    assert language.heads[0] is None


def test_thresholds_are_those_of_a_table_or_quantiles() -> None:
    modes, _ = read_modes("""
        modeh(initiatedAt(meet(+person,+person),+time))
        modeb(near(+person,+person,#dist,+time))
        comparisonPredicate(near(+person,+person,#dist,+time), lessThan, comparison_term_position(3))
        irreflexive(near)
        examplePattern(holdsAt(meet(+person,+person),+time))""")
    facts = {"near(+person,+person,#dist,+time)": [("ann", "bob", value, 1) for value in range(0, 100)]}
    listed = language_of(modes, examples_with(facts, modes, dist=[7, 25]))
    assert [str(each[0]) for each in listed.conditions] == [
        f"near({a}, {b}, {d}, T)" for a, b in (("X", "Y"), ("Y", "X")) for d in (7, 25)]
    found = language_of(modes, examples_with(facts, modes), thresholds=3)
    assert [str(each[0]) for each in found.conditions[:3]] == [f"near(X, Y, {d}, T)" for d in (25, 50, 74)]
    nothing_listed = language_of(modes, examples_with(facts, modes, dist=[]), thresholds=3)
    assert nothing_listed.conditions == found.conditions


def test_bottom_rules_of_the_user_are_the_language() -> None:
    modes, _ = read_modes("""
        modeh(initiatedAt(meet(+person,+person),+time))
        modeb(happensAt(walk(+person),+time))
        examplePattern(holdsAt(meet(+person,+person),+time))
        <bottom>initiatedAt(meet(A,B),S) :- happensAt(walk(B),S), role(A,host)<bottom>""")
    facts = {"happensAt(walk(+person),+time)": [("ann", 1)], "role(+person,#role)": [("cy", "host")]}
    language = language_of(modes, examples_with(facts, modes))
    assert str(language.clause(True, [0, 1])) == "initiatedAt(meet(X, Y), T) :- happensAt(walk(Y), T), role(X, host)."


@pytest.mark.parametrize(("text", "problem"), [
    ("modeh(initiatedAt(gather(+person,+person),+time))\nexamplePattern(holdsAt(meet(+person,+person),+time))",
     "no modeh is a change of meet"),
    ("modeh(initiatedAt(meet(+person,+person),+time))\nmodeb(role(+person,#job))", "add a table job.#job."),
    ("modeh(initiatedAt(meet(+person,+person),+time))\n<bottom>terminatedAt(meet(A,B),S) :- role(A,host)<bottom>",
     "not the head of a change that a modeh allows"),
    ("modeh(initiatedAt(meet(+person,+person),+time))\n<bottom>initiatedAt(meet(A,B),S) :- role(C,host)<bottom>",
     "has a variable that its head lacks"),
])
def test_what_is_missing_is_said(text: str, problem: str) -> None:
    modes, _ = read_modes(text)
    facts = {"role(+person,#role)": [("cy", "host")]}
    with pytest.raises(EventideError, match=problem):
        language_of(modes, examples_with(facts, modes))


def test_a_learnt_clause_reads_like_one_that_is_written() -> None:
    facts = {"happensAt(walk(+person),+time)": [("ann", 1)],
             "near(+person,+person,#dist,+time)": [("ann", "bob", 1, 1)],
             "role(+person,#role)": [("cy", "host")]}
    language = language_of(MODES, examples_with(facts))
    clause = language.clause(False, range(3))
    assert clause == clause_of(str(clause))
