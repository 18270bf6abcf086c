"""Explanations of DatalogMTL programs hold what they say: the facts of a proof, replayed alone, give the same interval
with the same ends, and fewer do not; what is said is so in all the data."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.docs.generated import ROOT
from tests.docs.snippets import Block, blocks
from tests.explanation.golden import Case as GoldenCase
from tests.explanation.golden import cases as golden_cases
from tests.explanation.metric_checking import check_claims, check_proof, check_refusal, span_of
from tests.explanation.metric_programs import PROGRAMS
from tests.explanation.metric_programs import cases as cases_of
from tests.oracle.mtl import Atom, Ground
from tests.oracle.mtl_programs import Case
from tests.oracle.mtl_programs import cases as random_cases

import eventide as ev
from eventide.errors import InputError
from eventide.explanation import metric_worlds
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


PAGE = blocks((ROOT / "docs" / "reference" / "mtl.md").read_text(encoding="utf-8"))
LANGUAGE = [three for three in zip(PAGE, PAGE[1:], PAGE[2:], strict=False)
            if [block.language for block in three] == ["mtl", "facts", "text"]]


@pytest.mark.parametrize(("rules", "facts", "answer"), LANGUAGE,
                         ids=[f"line {answer.line}" for _, _, answer in LANGUAGE])
def test_every_example_of_the_language_is_explained(rules: Block, facts: Block, answer: Block) -> None:
    """Whatever a rule may say: each interval of the reference has a proof, and each gap a reason."""
    program, given_facts = ev.parse(rules.text, language="mtl"), facts_in(facts.text)
    options: dict[str, Any] = dict(option.split("=") for option in answer.title.split())
    for atom, intervals in program.run(given_facts, **options).timeline().items():
        for interval in intervals:
            check_proof(program, given_facts, atom, interval, **options)
            span = span_of(interval)
            for edge, is_closed in ((span.low, span.low_closed), (span.high, span.high_closed)):
                if edge is not None and not is_closed:
                    check_refusal(ev.explain(program, given_facts, atom, edge, **options))


def test_values_that_only_a_question_computes() -> None:
    """The run joins with the few first, the question computes of all: there is no room for one value more."""
    program = ev.parse("N(Y) :- N(X), Small(X), Y = X + 1.", language="mtl")
    asked: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metric_worlds, "more_room", lambda spare, growth: asked.append(growth) or spare + 4)
        facts = facts_in("N(0)@[0,5]\nSmall(0)@[0,5]")
        assert ev.explain(program, facts, "N(1)", 3).holds
        refused = ev.explain(program, facts, "N(2)", 3)
    assert asked and not refused.holds and "✗ Small(1) fails first, at 3" in str(refused)


def test_tables_dates_and_numbers() -> None:
    program = ev.parse("Near(X,V) :- <>-[0,60] At(X,V), V > 1.", language="mtl")
    table = pa.table({"time": ["1970-01-01T00:01:00", "1970-01-01T00:03:00"], "x": ["a", "a"], "v": [2.5, 3.0]})
    proof = ev.explain(program, {"At": table}, "Near(a,2.50)", "1970-01-01T00:01:30", time_unit="s")
    assert str(proof).splitlines()[0] == "Near(a,2.5) holds at 90, during [60,120]"
    assert [(fact.args, fact.time, fact.row) for fact in proof.facts] == [(("a", 2.5), 60, 1)]
    assert not ev.explain(program, {"At": table}, "Near(a,3)", 200, time_unit="s").holds  # the facts say 3.0
    assert ev.explain(program, {"At": table}, "Near(a,3.0)", Fraction(401, 2), time_unit="s").holds


def test_few_of_a_hundred_thousand_facts() -> None:
    """Neither the length of the input nor the number of constants matters much to a question."""
    count = 100_000
    table = pa.table({"time": [str(i) for i in range(count)], "x": [f"s{i % 20_000}" for i in range(count)]})
    program = ev.parse("Back(X) :- <>-(0,3] Seen(X), not <>-[0,1] Seen(X). Other :- Seen(X).", language="mtl")
    facts = program.read({"Seen": table})
    proof = ev.explain(program, facts, "Back(s7)", 40_009)
    assert proof.minimal and proof.reason.interval == (40_008, 40_010)
    assert [fact.time for fact in proof.facts] == [40_007]
    assert not ev.explain(program, facts, "Back(s7)", 40_011).holds


def test_large_sets_are_reduced_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eventide.explanation.fewer.MOST_REPLAYS", 15)
    program = ev.parse("Recent(X) :- <>-[0,1] Seen(X).", language="mtl")
    proof = ev.explain(program, facts_in("\n".join(f"Seen(a)@{i}" for i in range(100))), "Recent(a)", 50)
    assert proof.holds and not proof.minimal and len(proof.facts) == 100
    assert str(proof).endswith("100 facts of the input")


def test_wrong_questions() -> None:
    program, facts = ev.parse("P(X) :- <>-[0,1] Q(X).", language="mtl"), facts_in("Q(a)@1")
    wrong: dict[str, tuple[str, dict[str, Any]]] = {
        "at which time": ("P(a)", {}), "no option tick": ("P(a)", {"at": 1, "tick": 2}),
        "no option probabilistic": ("P(a)", {"at": 1, "probabilistic": True}),
        "between goes with": ("P(a)", {"between": (1, 2)}), "after the horizon": ("P(a)", {"at": 3, "horizon": "5/2"}),
        "expected a number": ("P(a)", {"at": "noon"}), "60 bits": ("P(a)", {"at": "1e99"}),
        "horizon is 'x'": ("P(a)", {"at": 1, "horizon": "x"}), "one window": ("P(a)", {"at": 1, "step": 2}),
        "did you mean": ("Pp(a)", {"at": 1}), "is no atom": ("not P(a)", {"at": 1})}
    for message, (question, options) in wrong.items():
        with pytest.raises(InputError, match=message):
            ev.explain(program, facts, question, **options)
    calculus = ev.parse("initiatedAt(f(X)=true, T) :- happensAt(e(X), T).")
    with pytest.raises(InputError, match="a horizon goes with programs of DatalogMTL"):
        ev.explain(calculus, {"e": pa.table({"time": [1], "x": ["a"]})}, "f(a)", 3, horizon=5)


def test_others_do_not_load_it() -> None:
    """Explanations of the Event Calculus load nothing of DatalogMTL."""
    program = ("import sys, pyarrow as pa, eventide as ev\n"
               "program = ev.parse('initiatedAt(f(X)=true, T) :- happensAt(e(X), T).')\n"
               "ev.explain(program, {'e': pa.table({'time': [1], 'x': ['a']})}, 'f(a)', 3)\n"
               "print([name for name in sys.modules if 'mtl' in name or 'metric_' in name])")
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
