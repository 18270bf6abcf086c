"""Explanations of DatalogMTL programs hold what they say: the facts of a proof, replayed alone, give the same interval
with the same ends, and fewer do not; what is said is so in all the data."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.explanation.golden import Case as GoldenCase
from tests.explanation.golden import cases as golden_cases
from tests.explanation.metric_checking import check_claims, check_proof, check_refusal
from tests.explanation.metric_programs import PROGRAMS
from tests.explanation.metric_programs import cases as cases_of
from tests.oracle.mtl import Atom, Ground
from tests.oracle.mtl_programs import Case
from tests.oracle.mtl_programs import cases as random_cases

import eventide as ev
from eventide.mtl.facts import facts_in


@pytest.mark.parametrize("case", golden_cases("mtl"), ids=lambda case: case.title)
def test_golden(case: GoldenCase) -> None:
    assert case.found() == case.expected


def check_some_proof(case: Case, data: st.DataObject) -> None:
    """The proof of some interval of what is derived."""
    program, facts = ev.parse(case.text, language="mtl"), facts_in(case.fact_text)
    timeline = program.run(facts, horizon=case.horizon).timeline()
    rows = [(atom, interval) for atom, intervals in timeline.items() for interval in intervals]
    if rows:
        atom, interval = data.draw(st.sampled_from(rows))
        check_claims(check_proof(program, facts, atom, interval, horizon=case.horizon), case.model())


@given(random_cases(), st.data())
def test_the_facts_of_a_proof_are_enough_and_none_is_idle(case: Case, data: st.DataObject) -> None:
    check_some_proof(case, data)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@given(data=st.data())
def test_so_it_is_with_many_facts(name: str, data: st.DataObject) -> None:
    check_some_proof(data.draw(cases_of(name)), data)


def check_some_refusal(case: Case, data: st.DataObject) -> None:
    """Any atom at any time: it says rightly whether it holds, and why not."""
    model = case.model()
    atoms: list[Ground] = sorted(model.truth, key=str)
    if not atoms:
        return
    name, args = data.draw(st.sampled_from(atoms))
    time = Fraction(data.draw(st.integers(-4, int(4 * case.horizon))), 4)
    program, facts = ev.parse(case.text, language="mtl"), facts_in(case.fact_text)
    proof = ev.explain(program, facts, str(Atom(name, args)), time, horizon=case.horizon)
    assert proof.holds == model.holds(name, args, time)
    if not proof.holds:
        check_refusal(proof)
    check_claims(proof, model)


@given(random_cases(), st.data())
def test_every_question_has_an_answer(case: Case, data: st.DataObject) -> None:
    check_some_refusal(case, data)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@given(data=st.data())
def test_every_question_about_many_facts_has_an_answer(name: str, data: st.DataObject) -> None:
    check_some_refusal(data.draw(cases_of(name)), data)
