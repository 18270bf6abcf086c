"""The least model of random programs is the one by definition; grids, horizons and ranges of times."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.oracle.mtl_programs import Case, cases

import eventide as ev
from eventide.errors import EventideError
from eventide.mtl.facts import facts_in
from eventide.mtl.program import MtlProgram

MORE = examples(2)


def model_of(rules: str, facts: str, horizon: str | None = None) -> dict[str, list[str]]:
    """The intervals of the derived predicates."""
    program: MtlProgram = ev.parse(rules, language="mtl")
    return program.run(facts_in(facts), horizon=horizon).timeline()


@MORE
@given(cases())
def test_least_model_is_the_one_by_definition(case: Case) -> None:
    program: MtlProgram = ev.parse(case.text, language="mtl")
    known = sorted({name for name, _ in program.known})
    found = program.run(facts_in(case.fact_text), horizon=case.horizon, fluents=known).timeline()
    assert found == {atom: intervals for atom, intervals in case.answer().items() if atom.partition("(")[0] in known}


def cut(intervals: list[str], horizon: int) -> list[str]:
    """Intervals up to a time."""
    found = []
    for text in intervals:
        low, high = text[1:-1].split(",")
        if low != "-inf" and (Fraction(low) > horizon or (Fraction(low) == horizon and text[0] == "(")):
            continue
        found.append(text if high != "inf" and Fraction(high) <= horizon else f"{text[0]}{low},{horizon}]")
    return found


@given(cases(), st.integers(1, 9))
def test_a_shorter_horizon_cuts_and_changes_nothing_else(case: Case, horizon: int) -> None:
    program: MtlProgram = ev.parse(case.text, language="mtl")
    facts = facts_in(case.fact_text)
    long, short = (program.run(facts, horizon=h).timeline() for h in (9, horizon))
    assert {atom: cut(intervals, horizon) for atom, intervals in long.items() if cut(intervals, horizon)} == short


@given(cases())
def test_without_a_horizon_everything_up_to_where_it_was_cut_is_right(case: Case) -> None:
    program: MtlProgram = ev.parse(case.text, language="mtl")
    run = program.materialisation(facts_in(case.fact_text)).run()
    free = program.run(facts_in(case.fact_text)).timeline()
    until = 9 if run.until is None else min(9, int(run.until))
    asked = program.run(facts_in(case.fact_text), horizon=until).timeline()
    assert {atom: cut(intervals, until) for atom, intervals in free.items() if cut(intervals, until)} == asked


def test_since_is_asked_strictly_between() -> None:
    facts = "A@[1,10]\nB@0\nB@2\nB@(20,21)\nA@(20,30]"
    assert model_of("P :- A since[0,2] B.", facts) == {"P": ["[0,0]", "[2,4]", "(20,23)"]}
    assert model_of("P :- A since(0,2] B.", facts) == {"P": ["(2,4]", "(20,23)"]}
    assert model_of("P :- A since[1,inf) B.", facts) == {"P": ["[3,10]", "(21,30]"]}


def test_the_sides_of_since_may_have_different_variables() -> None:
    facts = "Up(n)@[0,9]\nUp(m)@[5,9]\nAsked(a,n)@1\nAsked(b,m)@6\nAsked(c,k)@1"
    assert model_of("Served(X) :- Up(Y) since[1,2] Asked(X,Y).", facts) == {
        "Served(a)": ["[2,3]"], "Served(b)": ["[7,8]"]}
    assert model_of("Both(X,Y) :- Up(X) since[2,2] Asked(Y,n).", facts) == {"Both(n,a)": ["[3,3]"]}


def test_negation_holds_wherever_the_formula_does_not() -> None:
    facts = "Up(a)@[0,10]\nUp(b)@(2,3)\nAck(a,x)@[1,2)\nAck(a,y)@4\nStop@[8,9]"
    assert model_of("Q(X) :- Up(X), not Ack(X,_).", facts) == {"Q(a)": ["[0,1)", "[2,4)", "(4,10]"], "Q(b)": ["(2,3)"]}
    assert model_of("Q(X) :- Up(X), not <>-[0,1] Ack(X,_), not Stop.", facts)["Q(a)"] == [
        "[0,1)", "[3,4)", "(5,8)", "(9,10]"]
    assert model_of("Quiet :- not Stop.", facts) == {"Quiet": ["(-inf,8)", "(9,inf)"]}


def test_negation_below_operators() -> None:
    facts = "Up(a)@[0,10]\nAck(a)@[1,2)\nAck(a)@4"
    assert model_of("Q(X) :- Up(X), []-[0,2] not Ack(X).", facts) == {"Q(a)": ["[0,1)", "(6,10]"]}
    assert model_of("Q(X) :- Up(X), <>-[0,1] not Ack(X).", facts) == {"Q(a)": ["[0,10]"]}
    assert model_of("Q(X) :- Up(X), <>-[0,1/2] not Ack(X).", facts) == {"Q(a)": ["[0,3/2)", "[2,10]"]}


def test_a_rule_without_conditions_holds_at_all_times() -> None:
    assert model_of("P(a). Q(X) :- []-[0,inf) P(X). R(X) :- P(X), A.", "A@[3,4)") == {
        "P(a)": ["(-inf,inf)"], "Q(a)": ["(-inf,inf)"], "R(a)": ["[3,4)"]}


def test_numbers_are_compared_and_computed() -> None:
    rules = """Hot(X) :- Temp(X,T), T >= 30.
               Next(X,N) :- Temp(X,T), N = T + 1, T != 20.
               Same(X,Y) :- Temp(X,T), Temp(Y,T), X != Y.
               Which(X) :- Temp(X,T), T = 20.
               Word(X) :- Temp(X,T), T = warm."""
    facts = "Temp(a,30)@1\nTemp(b,20)@1\nTemp(c,30)@[1,2]\nTemp(d,warm)@1\nTemp(e,30.5)@7/2"
    assert model_of(rules, facts) == {
        "Hot(a)": ["[1,1]"], "Hot(c)": ["[1,2]"], "Hot(e)": ["[7/2,7/2]"], "Next(a,31)": ["[1,1]"],
        "Next(c,31)": ["[1,2]"], "Next(e,31.5)": ["[7/2,7/2]"], "Same(a,c)": ["[1,1]"], "Same(c,a)": ["[1,1]"],
        "Which(b)": ["[1,1]"], "Word(d)": ["[1,1]"]}


def test_one_value_at_all_times_is_asked_for() -> None:
    facts = "At(a,x)@[0,2)\nAt(a,y)@[2,4]\nAt(b,x)@[0,4]"
    assert model_of("Stays(V) :- []-[0,3] At(V,_).", facts) == {"Stays(b)": ["[3,4]"]}
    assert model_of("There(V) :- At(V,_). Stays(V) :- []-[0,3] There(V).", facts)["Stays(a)"] == ["[3,4]"]


def test_facts_of_derived_predicates_count_too() -> None:
    assert model_of("P(X) :- <>-[1,1] Q(X).", "P(a)@0\nQ(a)@2") == {"P(a)": ["[0,0]", "[3,3]"]}


def test_numbers_far_apart_are_exact() -> None:
    assert model_of("P(X) :- <>-[1/3,1/3] A(X).", "A(a)@1700000000000000\nA(a)@1/7")["P(a)"] == [
        "[10/21,10/21]", "[5100000000000001/3,5100000000000001/3]"]


def test_times_beyond_62_bits_are_refused() -> None:
    with pytest.raises(EventideError, match="bits"):
        model_of("P(X) :- <>-[1/1000000007,1] A(X).", "A(a)@1000000000000\nA(a)@-1000000000000")
    with pytest.raises(EventideError, match="bits"):
        model_of("P(X) :- <>-[0,1] A(X).", "A(a)@1/1000000007\nA(a)@1/998244353\nA(a)@1/1000000009")


def test_unread_predicates_and_tables() -> None:
    program: MtlProgram = ev.parse("P(X) :- A(X).", language="mtl")
    table = pa.table({"start": ["0", "2"], "end": ["1", "3"], "left": ["open"] * 2, "right": ["closed"] * 2,
                      "x": ["a"] * 2})
    assert program.run({"A": table}).timeline() == {"P(a)": ["(0,1]", "(2,3]"]}
    assert program.run({"A": table}, fluents=["A"]).timeline() == {"A(a)": ["(0,1]", "(2,3]"]}
    with pytest.raises(EventideError, match="the program has no B"):
        program.run({"A": table}, fluents=["B"])
