"""The oracles of DatalogMTL against worked answers and each other: what everything else is compared with."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.oracle.mtl import Model, granularity, spans_of, window
from tests.oracle.mtl_algorithm import Algorithm1
from tests.oracle.mtl_programs import Case, Kind, cases
from tests.oracle.mtl_text import fact_of, rules_of


def model(rules: str, facts: str, horizon: int | str) -> dict[str, list[str]]:
    return Model(rules_of(rules), [fact_of(line) for line in facts.split()], Fraction(horizon)).intervals()


def test_golden_cases(shared_data: Callable[[str], Path]) -> None:
    cases = json.loads(shared_data("golden/mtl/cases.json").read_text())
    assert len(cases) == 35
    for case in cases:
        rules = rules_of("\n".join(case["program"]))
        answer = model("\n".join(case["program"]), "\n".join(case["facts"]), case["horizon"])
        assert answer == {atom: spans for atom, spans in case["expected_all"].items() if spans}, case["name"]
        assert str(window(rules)) == case["window_w"], case["name"]
        gran = granularity(rules)
        assert (None if gran is None else str(gran)) == case["gran"], case["name"]
        assert any(span.length == 0 for span in spans_of(rules)) == case["punctual_operators"], case["name"]


PLAIN = Kind(since=False, negation=False, numbers=False, endless=False)
STEPS = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(20)])


@examples(1 / 2)
@given(cases(PLAIN), STEPS)
def test_algorithm_1_gives_the_least_model(case: Case, step: Fraction) -> None:
    assert Algorithm1(list(case.rules), step).run(list(case.facts), case.horizon) == case.answer()


@examples(1 / 2)
@given(cases(replace(PLAIN, punctual=False)), STEPS)
def test_hashes_give_the_least_model_without_punctual_ranges(case: Case, step: Fraction) -> None:
    assert Algorithm1(list(case.rules), step, hashed=True).run(list(case.facts), case.horizon) == case.answer()


def test_memory_of_hashes_does_not_depend_on_the_density_of_the_data() -> None:
    rules = rules_of("R :- <>-[0,1] S.\nB :- []-[0,10] R.\nE :- <>-[5,inf) S.")
    peaks = {}
    for hashed, per_unit in ((False, 5), (True, 5), (True, 10)):
        run = Algorithm1(rules, Fraction(1), hashed)
        run.run([fact_of(f"S@{Fraction(n, per_unit)}") for n in range(12 * per_unit)], Fraction(12))
        peaks[hashed, per_unit] = run.peak
    assert peaks[False, 5] > 50
    assert peaks[True, 10] <= peaks[True, 5] <= 12


def test_text_and_back() -> None:
    text = """[]+[0,3] []+(1,2) H(X,a) :- <>-[1/2,inf) []-(0,4] P(X), not Q(X), X < 5, Z = X + 1.
Q :- P(X,3) since[0,5] (R since(1,2) S), not <>-[0,1] T."""
    assert "\n".join(map(str, rules_of(text))) == text


def test_since() -> None:
    """B at 0 and A on (0,4): A since B from 0 on, as long as A lasts, its right end included."""
    facts = "A@(0,4) B@0 B@(6,7)"
    assert model("S :- A since[0,2] B.", facts, 9)["S"] == ["[0,2]", "(6,7)"]
    assert model("S :- A since(0,inf) B.", facts, 9)["S"] == ["(0,4]"]
    assert model("S :- A since[1,inf) B.", facts, 9)["S"] == ["[1,4]"]
    assert model("S :- A since[0,inf) B.", "A@[1,4] B@0", 9)["S"] == ["[0,0]"], "A does not hold right after 0"


def test_since_includes_now_only_where_its_interval_does() -> None:
    facts = "A@[1,10] B@0 B@[3,4]"
    assert model("S :- A since[0,2] B.", facts, 12)["S"] == ["[0,0]", "[3,6]"]
    assert model("S :- A since(0,2] B.", facts, 12)["S"] == ["(3,6]"]


def test_negation_is_at_the_same_time() -> None:
    rules = "Q(X) :- <>-[0,2] A(X), not P(X).\nP(X) :- []-[0,1] B(X).\nZ :- <>-[0,1] not A(a)."
    answer = model(rules, "A(a)@1 B(a)@[0,2]", 5)
    assert answer["Q(a)"] == ["(2,3]"]
    assert answer["Z"] == ["(-inf,5]"], "before everything nothing holds"
    assert model("Z :- []-[0,1] not A.", "A@1 A@[3,4]", 9)["Z"] == ["(-inf,1)", "(2,3)", "(5,9]"]


def test_comparisons_and_arithmetic() -> None:
    rules = "N(Y) :- <>-[1,1] N(X), Y = X + 1, Y <= 3.\nBig(X) :- N(X), X > 1, X != 3."
    answer = model(rules, "N(1)@0", 9)
    assert answer == {"N(1)": ["[0,0]"], "N(2)": ["[1,1]"], "N(3)": ["[2,2]"], "Big(2)": ["[1,1]"]}
