"""Explanations hold what they say: the facts of a proof, replayed alone, give the same interval, and fewer do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.docs.generated import ROOT
from tests.docs.snippets import Block, blocks
from tests.effort import examples
from tests.engine.running import facts_of
from tests.explanation.checking import Run, check_proof, check_refusal, edges
from tests.explanation.golden import Case as GoldenCase
from tests.explanation.golden import cases
from tests.explanation.programs import PROGRAMS
from tests.explanation.programs import cases as cases_of
from tests.oracle.interpreter import evaluate
from tests.oracle.programs import FAMILIES, LAST, Case
from tests.oracle.store import Fact

import eventide as ev
from eventide.analysis.patterns import leaf_count, name_of
from eventide.explanation import proof as proofs
from eventide.explanation.asking import Explainer
from eventide.explanation.reduction import Reduction
from eventide.explanation.reporting import question_of
from eventide.explanation.worlds import FactId
from eventide.syntax.event_calculus import parse

few = examples(1 / 10)
VALUES = ("true", "on", "off", "lo", "mid", "hi", "h", "few")


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_golden(case: GoldenCase) -> None:
    assert case.found() == case.expected


def run_of(case: Case, taken_back: Sequence[Fact] = (), **options: Any) -> Run:
    """A case, run by the engine; some of its facts are taken back by the end of the run."""
    facts = facts_of([*((fact, None) for fact in case.facts), *((fact, LAST) for fact in taken_back)])
    if taken_back:
        tables = {key: replace(table, op=np.where(table.arrival == LAST, -1, 1).astype(np.int8))
                  for key, table in facts.tables.items()}
        facts = replace(facts, tables=tables)
    return Run(ev.parse(case.text + "\n" + case.background), facts, start=case.start, end=LAST, tick=case.tick,
               **options)


@pytest.mark.parametrize("family", sorted(FAMILIES))
@few
@given(data=st.data())
def test_the_facts_of_a_proof_are_enough_and_none_is_idle(family: str, data: st.DataObject) -> None:
    check_some_proof(run_of(data.draw(FAMILIES[family])), data)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@few
@given(data=st.data())
def test_so_it_is_with_all_else_that_rules_may_say(name: str, data: st.DataObject) -> None:
    """What the families of random programs lack, over random facts, some of which are taken back; and what does not
    hold has a reason."""
    case = data.draw(cases_of(name))
    taken_back = data.draw(st.lists(st.sampled_from(case.facts), max_size=2, unique=True))
    run = run_of(case, taken_back, ties=data.draw(st.sampled_from(("termination", "termination", "initiation"))))
    check_some_proof(run, data)
    for row in run.rows[:10]:
        for at in edges(run, row):
            check_refusal(run, question_of(row["fluent"], row["args"], row["value"]), at)


def check_some_proof(run: Run, data: st.DataObject) -> None:
    """The proof of some interval, at some time within."""
    if run.rows:
        row = data.draw(st.sampled_from(run.rows))
        check_proof(run, row, data.draw(st.integers(row["start"], (row["end"] or row["start"] + 6) - 1)))


PAGE = blocks((ROOT / "docs" / "reference" / "language.md").read_text(encoding="utf-8"))
LANGUAGE = [three for three in zip(PAGE, PAGE[1:], PAGE[2:], strict=False)
            if [block.language for block in three] == ["prolog", "csv", "text"]]


@pytest.mark.parametrize(("rules", "facts", "answer"), LANGUAGE,
                         ids=[f"line {answer.line}" for _, _, answer in LANGUAGE])
def test_every_example_of_the_language_is_explained(rules: Block, facts: Block, answer: Block, tmp_path: Path) -> None:
    """Whatever a rule may say: each interval of the reference has a proof, and each gap a reason."""
    (tmp_path / "facts.csv").write_text(facts.text, encoding="utf-8")
    program = ev.parse(rules.text)
    options: dict[str, Any] = dict(option.split("=") for option in answer.title.split())
    options = {name: int(value) if value.isdigit() else value for name, value in options.items()}
    run = Run(program, program.read(str(tmp_path / "facts.csv")), **options)
    assert run.rows
    for row in run.rows:
        check_proof(run, row, row["start"])
        for at in edges(run, row):
            check_refusal(run, question_of(row["fluent"], row["args"], row["value"]), at)


@pytest.mark.parametrize("family", ["hierarchies", "cycles", "values", "delays"])
@few
@given(data=st.data())
def test_what_a_proof_says_of_fluents_is_so_in_all_the_data(family: str, data: st.DataObject) -> None:
    """Checked against the slow interpreter: fluents that are said to hold or not do so at the time that is said."""
    case: Case = data.draw(FAMILIES[family])
    answer = evaluate(parse(case.text + "\n" + case.background).rules, case.facts, start=case.start, until=LAST,
                      tick=case.tick)
    options = [(name, start) for name, intervals in answer.fluents.items() for start, _ in intervals]
    if not options:
        return
    name, start = data.draw(st.sampled_from(options))
    proof = run_of(case).explainer.why(name, int(start))
    for reason in proofs.reasons_in(proof.reason):
        atom, said, _ = reason.claim.partition(" holds at ")
        denied, says_not, _ = reason.claim.partition(" does not hold at ")
        if (said or says_not) and reason.time is not None:
            stretches = answer.fluents.get(denied if says_not else atom, [])
            holds = any(low <= reason.time and (high is None or reason.time < high) for low, high in stretches)
            assert holds == bool(said), reason.claim


@pytest.mark.parametrize("family", sorted(FAMILIES))
@few
@given(data=st.data())
def test_every_question_has_an_answer(family: str, data: st.DataObject) -> None:
    """Of any fluent or event at any time: it says rightly whether, and why not; all views can be made."""
    run = run_of(data.draw(FAMILIES[family]))
    if not run.program.model.outputs:
        return
    output = data.draw(st.sampled_from(run.program.model.outputs))
    count = leaf_count(output.template)
    args = "|".join(data.draw(st.lists(st.sampled_from("abc"), min_size=count, max_size=count)))
    value = "" if output.kind == "event" else str(output.value) if output.value is not None else \
        data.draw(st.sampled_from(VALUES))
    row = {"fluent": name_of(output.template), "args": args, "value": value}
    at, question = data.draw(st.integers(0, LAST)), question_of(row["fluent"], args, value)
    if run.holds(row, at):
        proof = run.explainer.why(question, at)
        assert proof.holds and proof.reason.reasons and str(proof) and proof.html() and proof.to_dict(1)
    else:
        check_refusal(run, question, at)


def test_of_many_answers_that_were_counted_few_are_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain that no fact may be missing from, and a count of 200 votes of which two are enough."""
    program = ev.parse("""
        initiatedAt(ping=true, T) :- happensAt(serve, T).
        initiatedAt(ping=true, T) :- happensAt(tick, T), holdsAt(pong=true, T).
        terminatedAt(ping=true, T) :- happensAt(tick, T), holdsAt(ping=true, T).
        initiatedAt(pong=true, T) :- happensAt(tick, T), holdsAt(ping=true, T).
        terminatedAt(pong=true, T) :- happensAt(tick, T), holdsAt(pong=true, T).
        initiatedAt(won=true, T) :-
            happensAt(end, T), holdsAt(ping=true, T), findall(X, happensAt(vote(X), T), Xs), length(Xs, N), N >= 2.
    """)
    facts: list[Fact] = [("event", "serve", (), 1), *(("event", "tick", (), 2 + i) for i in range(6)),
                         ("event", "end", (), 9), *(("event", "vote", (f"v{i}",), 9) for i in range(200))]
    asked: list[int] = []
    is_sound = Reduction.is_sound

    def noted(self: Reduction, some: Sequence[FactId]) -> bool:
        asked.append(len(some))
        return is_sound(self, some)

    monkeypatch.setattr(Reduction, "is_sound", noted)
    proof = Explainer(program, facts_of((fact, None) for fact in facts)).why("won=true", 12)
    assert proof.minimal and [fact.name for fact in proof.facts].count("vote") == 2 and len(proof.facts) == 10
    assert asked and max(asked) < 20


def test_what_keeps_a_proof_true_is_found_where_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by leaving out one after the other of a thousand facts about the same entity."""
    program = ev.parse("""
        room(a). initially(ok(X)=true). grounding(ok(X)=true) :- room(X).
        initiatedAt(ok(X)=true, T) :- happensAt(fix(X), T).
        terminatedAt(ok(X)=true, T) :- happensAt(fault(X), T).
        holdsFor(free(X)=true, I) :-
            holdsFor(ok(X)=true, Ok), holdsFor(busy(X)=true, Busy), relative_complement_all(Ok, [Busy], I).
    """)
    facts: list[Fact] = [("event", name, ("a",), time + at) for time in range(0, 5000, 10)
                         for name, at in (("fault", 3), ("fix", 7))]
    facts.append(("interval", "busy", ("a",), "true", 4008, 4010))
    asked: list[int] = []
    untrue = Reduction.untrue

    def noted(self: Reduction, some: Sequence[FactId]) -> object:
        asked.append(len(some))
        return untrue(self, some)

    monkeypatch.setattr(Reduction, "untrue", noted)
    proof = Explainer(program, facts_of((fact, None) for fact in facts)).why("free(a)=true", 4012)
    assert proof.minimal and proof.reason.interval == (4010, 4014)
    assert [(fact.name, fact.time) for fact in proof.facts] == [
        ("fault", 4003), ("fix", 4007), ("busy", 4008), ("fault", 4013)]
    assert proof.reason.reasons[-1].claim == ("fault(a) at 4003: without it, it would follow from what is not so: "
                                              "ok(a)=true holds during [3, 4014)")
    assert max(asked) < 10


def test_as_many_answers_as_a_count_needs() -> None:
    """More than are proved at first; the whole proof of a refusal names the first of them, and how many more."""
    program = ev.parse("initiatedAt(won=true, T) :- happensAt(end, T), findall(X, happensAt(vote(X), T), Xs), "
                       "length(Xs, N), N >= 90.\n"
                       "initiatedAt(lost=true, T) :- happensAt(end, T), \\+ happensAt(full, T).\n"
                       "happensAt(full, T) :- happensAt(end, T), findall(X, happensAt(vote(X), T), Xs), "
                       "length(Xs, 120).")
    facts: list[Fact] = [("event", "end", (), 9), *(("event", "vote", (f"v{i}",), 9) for i in range(120))]
    explainer = Explainer(program, facts_of((fact, None) for fact in facts))
    proof = explainer.why("won=true", 12)
    assert proof.minimal and len(proof.facts) == 91 and "90 of 120 answers" in proof.text()
    refusal = explainer.why("lost=true", 12).text()
    assert "120 answers" in refusal and refusal.count("vote(v") < 70 and "and 56 more" in refusal


OFF_THE_GRID = {
    "points that intervals are built from": ("""
        buildFromPoints(w(_)=true). points(w(_)=true).
        holdsFor(k(X)=true, I) :- holdsFor(w(X)=true, I).
        """, [("point", "w", ("a",), "true", time) for time in (40, 70, 110)], 40),
    "the events of intervals that begin off the grid": ("""
        buildFromPoints(noisy(X)=true, noise(X)). collectIntervals(w(_)=true).
        initiatedAt(r(X)=true, T) :- happensAt(end(noisy(X)=true), T).
        terminatedAt(r(X)=true, T) :- happensAt(start(w(X)=true), T).
        """, [*(("event", "noise", ("a",), time) for time in (11, 14)), ("interval", "w", ("a",), "true", 24, 30)], 5),
    "deadlines": ("""
        initiatedAt(al(X)=on, T) :- happensAt(ring(X), T).
        fi(al(X)=on, al(X)=off, 3).
        """, [("event", "ring", ("a",), 14)], 2),
    "an initial value that comes with another one": ("""
        initially(al(_)=idle). person(a).
        grounding(al(X)=V) :- person(X), value(V). value(on). value(idle).
        initiatedAt(al(X)=on, T) :- happensAt(ring(X), T).
        terminatedAt(al(X)=on, T) :- happensAt(stop(X), T).
        """, [("event", "ring", ("a",), 7), ("event", "ring", ("a",), 9), ("event", "stop", ("a",), 12)], 1),
}


@pytest.mark.parametrize("name", OFF_THE_GRID)
def test_times_that_are_not_those_of_the_grid(name: str) -> None:
    """And initial values that begin when a rule applies: neither value holds then."""
    rules, facts, tick = OFF_THE_GRID[name]
    run = Run(ev.parse(rules), facts_of((fact, None) for fact in facts), start=0, end=200, tick=tick, initially_at=8)
    assert run.rows
    for row in run.rows:
        check_proof(run, row, row["start"])
        for at in edges(run, row):
            check_refusal(run, question_of(row["fluent"], row["args"], row["value"]), at)


def test_long_cycles_are_not_reduced_for_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run over a long chain counts for several: the proof is whole, and does not claim to be minimal."""
    program = ev.parse("""
        initiatedAt(ping=true, T) :- happensAt(serve, T).
        initiatedAt(ping=true, T) :- happensAt(tick, T), holdsAt(pong=true, T).
        terminatedAt(ping=true, T) :- happensAt(tick, T), holdsAt(ping=true, T).
        initiatedAt(pong=true, T) :- happensAt(tick, T), holdsAt(ping=true, T).
        terminatedAt(pong=true, T) :- happensAt(tick, T), holdsAt(pong=true, T).
    """)
    facts = facts_of([(("event", "serve", (), 1), None)] + [(("event", "tick", (), 3 + i), None) for i in range(12)])
    explainer = Explainer(program, facts)
    whole = explainer.why("ping=true", 11)
    assert whole.minimal and len(whole.facts) == 10
    monkeypatch.setattr("eventide.explanation.reduction._LONG", 1)
    monkeypatch.setattr("eventide.explanation.fewer.MOST_REPLAYS", 15)
    long = explainer.why("ping=true", 11)
    assert not long.minimal and long.facts == whole.facts and "can be left out" not in long.text()


def test_inputs_that_come_as_points() -> None:
    """They may be asked for as other fluents are, and are named where a rule fails for want of them."""
    program = ev.parse("points(speed(_)=_).\ninitiatedAt(fast(X)=true, T) :- holdsAt(speed(X)=V, T), V > 50.")
    facts: list[Fact] = [("point", "speed", ("a",), 60, 6), ("point", "speed", ("a",), 40, 8)]
    explainer = Explainer(program, facts_of((fact, None) for fact in facts))
    proof = explainer.why("speed(a)=60", 6)
    assert proof.holds and proof.minimal and proof.reason.interval == (6, 7)
    assert proof.text().splitlines()[:2] == ["speed(a)=60 holds at 6, only at 6", "└─ speed(a)=60 is given at 6"]
    assert "no such fact at 7" in explainer.why("speed(a)=60", 7).text()
    assert "holdsAt(speed(a)=V, T) fails first: no such fact before 6" in explainer.why("fast(a)", 6).text()
    assert explainer.why("fast(a)", 7).holds


def test_what_is_counted_or_negated_may_compare_with_numbers_of_the_rule() -> None:
    """Each answer of a count is shown, and one of a negation that fails."""
    program = ev.parse("""
        initiatedAt(f(X)=true, T) :-
            happensAt(a(X, W), T), findall(Y, (happensAt(b(Y, V), T), V > W), L), length(L, N), N >= 2.
        initiatedAt(g(X)=true, T) :- happensAt(a(X, W), T), \\+ (happensAt(b(_, V), T), V > W).
        initiatedAt(h(X)=true, T) :- happensAt(a(X, _), T), \\+ initiatedAt(f(X)=true, T).
    """)
    facts: list[Fact] = [("event", "a", ("x", 2), 3), *(("event", "b", (who, v), 3) for who, v in zip("pqr", (4, 5, 1),
                                                                                                   strict=True))]
    explainer = Explainer(program, facts_of((fact, None) for fact in facts))
    proof = explainer.why("f(x)=true", 4)
    assert len(proof.facts) == 3 and not [reason for reason in proof.reason.reasons if reason.kind == "needed"]
    assert "2 answers to happensAt(b(Y, V), 3), V > 2" in proof.text() and "5 > 2" in proof.text()
    lines = explainer.why("g(x)=true", 4).text().splitlines()
    assert [line.strip("│├└─✗ ") for line in lines[-3:]] == [
        "\\+ (happensAt(b(_, V), 3), V > 2) fails first", "b(p,4) happens at 3", "4 > 2"]
    assert "f(x)=true is initiated at 3" in explainer.why("h(x)=true", 4).text()
