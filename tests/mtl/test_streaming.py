"""Streams of DatalogMTL: Algorithm 1 and the variant with #-facts give what the least model has, whatever the step."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.mtl.running import by_atom, compiled, streaming
from tests.oracle.mtl import Atom
from tests.oracle.mtl_algorithm import Algorithm1
from tests.oracle.mtl_programs import Case, Kind, cases
from tests.oracle.mtl_text import fact_of

from eventide.errors import EventideError
from eventide.mtl.facts import facts_in
from eventide.mtl.materialisation import Materialisation
from eventide.mtl.program import result_of
from eventide.mtl.reasoning import Choice
from eventide.mtl.streaming import Moments

STEPS = ("1/2", "1", "7/3", "5", "100")
VARIANTS: tuple[Choice, ...] = ("auto", "algorithm-1", "hash")


def answer(case: Case, **options: object) -> dict[str, list[str]]:
    return by_atom(streaming(case.text, case.fact_text, end=case.horizon, **options).table())


# -- laws -------------------------------------------------------------------------------------------------------------


@given(cases(), st.sampled_from(STEPS), st.sampled_from(VARIANTS), st.booleans())
def test_a_stream_gives_the_least_model(case: Case, step: str, variant: Choice, points: bool) -> None:
    assert answer(case, step=step, variant=variant, points=points) == case.answer()


@examples(1 / 2)
@given(cases(Kind(punctual=False, numbers=False)), st.sampled_from(STEPS), st.sampled_from(STEPS))
def test_without_punctual_ranges_both_variants_agree_and_no_step_matters(case: Case, one: str, other: str) -> None:
    first = streaming(case.text, case.fact_text, step=one, end=case.horizon)
    assert first.reasoner.variant == "hash"
    assert by_atom(first.table()) == answer(case, step=other, variant="algorithm-1", points=True)


@examples(1 / 2)
@given(cases(), st.sampled_from(STEPS))
def test_a_stream_gives_what_a_run_over_all_facts_gives(case: Case, step: str) -> None:
    stream = streaming(case.text, case.fact_text, step=step)
    run = Materialisation(compiled(case.text), facts_in(case.fact_text), stream.until).run()
    assert by_atom(stream.table()) == by_atom(result_of(run, list(run.relations)).to_arrow())


@examples(1 / 2)
@given(cases(Kind(endless=False)), st.sampled_from(["points", "every:1/2", "0,1/3,2,9"]), st.sampled_from(STEPS))
def test_answers_at_moments_are_those_of_the_model(case: Case, at: str, step: str) -> None:
    ends = {bound for fact in case.facts for bound in (fact.span.low, fact.span.high) if bound is not None}
    halves = {Fraction(number, 2) for number in range(19)}
    moments = {"points": ends, "every:1/2": {half for half in halves if half >= min(ends)},
               "0,1/3,2,9": {Fraction(0), Fraction(1, 3), Fraction(2), Fraction(9)}}[at]
    table = streaming(case.text, case.fact_text, step=step, at=Moments.of(at), end=case.horizon).table()
    found = {(row["fluent"], row["args"], Fraction(row["start"])) for row in table.to_pylist()}
    assert all(row["start"] == row["end"] and row["left"] == row["right"] == "closed" for row in table.to_pylist())
    model = case.model()
    assert found == {(name, "|".join(map(str, args)), time) for (name, args) in model.truth
                     for time in moments if time <= case.horizon and model.holds(name, args, time)}


@examples(1 / 2)
@given(cases(Kind(punctual=False, since=False, negation=False, numbers=False, endless=False)),
       st.sampled_from(["1/2", "1", "3"]), st.booleans())
def test_a_stream_holds_no_more_than_the_algorithm_of_the_paper(case: Case, step: str, hashed: bool) -> None:
    printed = Algorithm1(list(case.rules), Fraction(step), hashed)
    printed.run(list(case.facts), case.horizon)
    stream = streaming(case.text, case.fact_text, step=step, points=True, end=case.horizon,
                       variant="hash" if hashed else "algorithm-1")
    stream.table()
    assert stream.report.peak <= printed.peak


# -- cases ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["1/2", "3"])
def test_golden_cases(step: str, shared_data: Callable[[str], Path]) -> None:
    for case in json.loads(shared_data("golden/mtl/cases.json").read_text()):
        for variant in VARIANTS:
            stream = streaming("\n".join(case["program"]), "\n".join(case["facts"]), step=step, variant=variant,
                               end=case["horizon"], points=step == "3")
            assert by_atom(stream.table()) == case["expected_all"], (case["name"], variant)


@pytest.mark.parametrize("name", ["clockwork", "monitor", "shortstop", "weather_fp"])
def test_workloads(name: str, shared_data: Callable[[str], Path]) -> None:
    rules = shared_data(f"data/mtl/{name}.mtl").read_text()
    facts, expected = (gzip.decompress(shared_data(f"data/mtl/{name}.{ending}.gz").read_bytes()).decode()
                       for ending in ("facts", "expected.txt"))
    stream = streaming(rules, facts, step="60" if name == "monitor" else None)
    names = {template.partition("(")[0] for template in stream.reasoner.wanted}
    known: dict[str, set[str]] = {}
    for line in expected.split():
        fact = fact_of(line)
        if fact.atom[0] in names:
            known.setdefault(str(Atom(*fact.atom)), set()).add(str(fact.span))
    assert {atom: set(spans) for atom, spans in by_atom(stream.table()).items()} == known


def test_the_nested_example_of_the_paper() -> None:
    rules = """Flag(X,Z) :- Node(X), Mon(X,Z), []-[0,4] <>-[0,2] Sig(Z).
[]+[0,3] Mon(X,Z) :- Conn(X,Y), Flag(Y,Z)."""
    facts = "Node(n1)@[0,40]\nNode(n2)@[0,40]\nMon(n1,s)@[0,7]\nConn(n2,n1)@[0,40]\nConn(n1,n2)@[10,40]\n" + "".join(
        f"Sig(s)@{time}\n" for time in (0, 2, 4, 6, 7, 9, 12))
    found = by_atom(streaming(rules, facts, ["Mon(_,_)"], step="1", end=20).table())
    assert found == {"Mon(n1,s)": ["[0,7]", "[10,14]"], "Mon(n2,s)": ["[4,14]"]}


def test_open_ranges_leave_no_hole_where_steps_meet() -> None:
    """With ⊕ as printed in the paper, `[]-(0,1)` would lose every boundary of a step."""
    for step in ("1/4", "1/2", "1"):
        assert by_atom(streaming("Q :- []-(0,1) A.", "A@[0,2]", ["Q"], step=step).table()) == {"Q": ["[1,2]"]}


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_always_was_may_end_long_before_the_first_step(variant: Choice) -> None:
    for step in (None, "1", "7", "20"):
        stream = streaming("Q :- <>-[0,1] A.", "A@(-inf,-3]", ["Q"], step=step, end=12, variant=variant)
        assert by_atom(stream.table()) == {"Q": ["(-inf,-2]"]}


def test_a_hole_as_long_as_the_shortest_range_is_not_bridged() -> None:
    stream = streaming("Q :- <>-(0,1) S.", "S@0\nS@1\nS@2", ["Q"], step="1", end=5)
    assert stream.reasoner.variant == "hash"
    assert by_atom(stream.table()) == {"Q": ["(0,1)", "(1,2)", "(2,3)"]}


def test_history_inside_a_conjunction_outlives_the_window() -> None:
    rules = "Q(X) :- <>-[0,inf) B(X), A(X)."
    found = by_atom(streaming(rules, "B(a)@0\nA(a)@[50,60]\nA(b)@[50,60]", ["Q(_)"], step="1").table())
    assert found == {"Q(a)": ["[50,60]"]}


def test_a_since_without_end_is_carried_on() -> None:
    facts = "A@(0,30)\nB@0\nB@29"
    for bounds, expected in (("[0,inf)", ["[0,30]"]), ("[5,inf)", ["[5,30]"]), ("(5,inf)", ["(5,30]"])):
        stream = streaming(f"Q :- A since{bounds} B.", facts, ["Q"], step="2", end=40)
        assert by_atom(stream.table()) == {"Q": expected}, bounds
        assert stream.report.held <= 8


def test_times_before_zero_and_for_ever() -> None:
    assert by_atom(streaming("Q :- []-[0,inf) A.", "A@(-inf,3]\nA@[4,9]", ["Q"], step="1").table()) == {
        "Q": ["(-inf,3]"]}
    assert by_atom(streaming("Q :- <>-[1,2] A.", "A@-7/2", ["Q"], step="1", end=5).table()) == {
        "Q": ["[-5/2,-3/2]"]}


def test_without_an_end_a_stream_goes_on_as_long_as_anything_changes() -> None:
    rules = "[]+[0,14] W(X) :- A(X).\nE(X) :- <>-[2,inf) A(X).\nN(X) :- E(X), not W(X)."
    stream = streaming(rules, "A(a)@[0,1]", ["W(_)", "E(_)", "N(_)"], step="1")
    assert by_atom(stream.table()) == {"E(a)": ["[2,inf)"], "N(a)": ["(15,inf)"], "W(a)": ["[0,15]"]}
    assert stream.until is None


def test_recursion_without_end_stops_after_a_while() -> None:
    stream = streaming("P :- <>-[2,2] P.", "P@0", ["P"], step="1")
    assert by_atom(stream.table()) == {"P": ["[0,0]", "[2,2]"]}
    assert stream.endless == ["P"] and stream.until == 2


def test_facts_that_end_long_after_they_begin() -> None:
    """They lie far outside of the steps, and still end."""
    facts = "L(a)@[0,100000]\n" + "".join(f"A(a)@{time}\n" for time in range(30))
    found = by_atom(streaming("Q(X) :- L(X), <>-[0,1/2] A(X).", facts, ["L(_)"], step="1", end=40).table())
    assert found == {"L(a)": ["[0,40]"]}
    found = by_atom(streaming("Q(X) :- []-[0,5] L(X).", "L(a)@[0,90]", ["L(_)", "Q(_)"], step="1/4").table())
    assert found == {"L(a)": ["[0,90]"], "Q(a)": ["[5,90]"]}


# -- memory -----------------------------------------------------------------------------------------------------------


def dense_stream(per_unit: int, units: int = 12) -> str:
    return "".join(f"S(a)@{Fraction(number, per_unit)}\n" for number in range(per_unit * units))


def test_memory_with_hashes_does_not_depend_on_the_density_of_the_data() -> None:
    """The example of the notes: the generic algorithm holds every point of the window, the variant a few elements."""
    rules = "R(X) :- <>-[0,1] S(X).\nB(X) :- []-[0,10] R(X).\nE(X) :- <>-[5,inf) S(X)."
    peaks = {}
    for per_unit in (2, 20):
        for variant in ("hash", "algorithm-1"):
            stream = streaming(rules, dense_stream(per_unit), step="1", points=True, variant=variant)
            table = by_atom(stream.table())
            assert table["B(a)"] == [f"[10,{Fraction(13 * per_unit - 1, per_unit)}]"]
            peaks[variant, per_unit] = stream.report.peak
    assert peaks["hash", 20] == peaks["hash", 2] <= 12
    assert peaks["algorithm-1", 20] > 15 and peaks["algorithm-1", 20] > 3 * peaks["algorithm-1", 2]


# -- choices and mistakes ---------------------------------------------------------------------------------------------


def test_the_variant_is_chosen_reported_and_can_be_forced() -> None:
    free, punctual = "Q :- <>-[1,2] A.", "Q :- <>-[1,1] A."
    assert "with #-facts (no operator looks at exactly one distance)" in str(streaming(free, "A@0").report)
    assert "by Algorithm 1 (<>-[1,1] looks at exactly one distance)" in str(streaming(punctual, "A@0").report)
    assert "by Algorithm 1 (as asked for)" in str(streaming(free, "A@0", variant="algorithm-1").report)
    with pytest.raises(EventideError, match="known are auto, hash, algorithm-1"):
        streaming(free, "A@0", variant="fast")


def test_answers_come_step_by_step() -> None:
    stream = streaming("Q(X) :- <>-[0,1] A(X).", "A(a)@0\nA(b)@3", ["Q(_)"], step="1", at=Moments.of("points"))
    found = [(str(time), by_atom(table)) for time, table in stream.answers()]
    assert found == [("1", {"Q(a)": ["[0,0]"]}), ("2", {}), ("3", {"Q(b)": ["[3,3]"]})]


@pytest.mark.parametrize("text", ["every:0", "every:x", "1,2,y", "often", ""])
def test_moments_that_say_nothing(text: str) -> None:
    with pytest.raises(EventideError):
        Moments.of(text)


def test_no_facts() -> None:
    stream = streaming("Q :- <>-[1,2] A.", "", step="1")
    assert by_atom(stream.table()) == {}
    assert stream.report.steps == 1
