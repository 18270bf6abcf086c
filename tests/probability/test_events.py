"""Point probabilities against the enumeration of all worlds; with certain facts they are crisp recognition."""

from __future__ import annotations

from hypothesis import given
from tests.probability.worlds import END, Case, assert_same, by_rows, by_worlds, cases, facts_of, uncertain_text

import eventide as ev


@given(cases())
def test_exact_histories_are_the_sum_over_all_worlds(case: Case) -> None:
    program = ev.parse(uncertain_text(case))
    result = program.run(facts_of(case), start=0, end=END, probabilistic=True, history="exact")
    assert_same(by_rows(result), by_worlds(case))


@given(cases())
def test_marginal_histories_are_exact_where_nothing_warns(case: Case) -> None:
    program = ev.parse(uncertain_text(case))
    facts = facts_of(case)
    marginal, exact = (by_rows(program.run(facts, start=0, end=END, probabilistic=True, history=history))
                       for history in ("marginal", "exact"))
    warned = {name.partition("(")[0] for name in program.history_matters(program.read(facts))}
    assert_same(marginal, exact, {"d", "f", "s", "k"} - warned)


@given(cases(certain=True))
def test_certain_facts_give_crisp_intervals(case: Case) -> None:
    program = ev.parse(uncertain_text(case))
    there = Case(case.rules, tuple(fact for fact in case.facts if fact[4] == 1), None)
    crisp = program.run(facts_of(there), start=0, end=END, ties="initiation")
    for history in ("marginal", "exact"):
        found = program.run(facts_of(case), start=0, end=END, probabilistic=True, history=history).to_arrow()
        assert found.drop(["probability"]).to_pylist() == crisp.to_arrow().to_pylist()
        assert set(found["probability"].to_pylist()) <= {1.0}
