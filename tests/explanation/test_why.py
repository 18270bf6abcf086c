"""Explanations hold what they say: the facts of a proof, replayed alone, give the same interval, and fewer do not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.running import Timelines, facts_of, timelines
from tests.explanation.golden import Case as GoldenCase
from tests.explanation.golden import cases
from tests.oracle.interpreter import evaluate
from tests.oracle.programs import FAMILIES, LAST, Case
from tests.oracle.store import Fact

import eventide as ev
from eventide.analysis.patterns import leaf_count, name_of
from eventide.explanation import proof as proofs
from eventide.explanation.asking import Explainer
from eventide.explanation.reduction import Claim, Reduction
from eventide.explanation.worlds import FactId, Stretch
from eventide.syntax.event_calculus import parse
from eventide.syntax.terms import Atom

few = settings(max_examples=max(settings().max_examples // 10, 1))
VALUES = ("true", "on", "off", "lo", "mid", "hi", "h", "few")


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_golden(case: GoldenCase) -> None:
    assert case.found() == case.expected


OTHERS = {
    "weights": """
        weight(0.6)::initiatedAt(f(X)=true, T) :- happensAt(a(X), T).
        weight(0.5)::initiatedAt(f(X)=true, T) :- happensAt(b(X), T).
        weight(-0.4)::initiatedAt(f(X)=true, T) :- happensAt(c(X), T).
        weight(0.7)::terminatedAt(f(X)=true, T) :- happensAt(d(X), T).
        weight(-0.3)::terminatedAt(f(X)=true, T) :- happensAt(b(X), T).
        initiatedAt(g(X)=true, T) :- happensAt(c(X), T), holdsAt(f(X)=true, T).
        terminatedAt(g(X)=true, T) :- happensAt(d(X), T), \\+ holdsAt(f(X)=true, T).
    """,
    "counts": """
        initiatedAt(f(X)=true, T) :- happensAt(a(X), T), findall(Y, happensAt(b(Y), T), L), length(L, N), N >= 2.
        terminatedAt(f(X)=true, T) :- happensAt(c(X), T), findall(Y, holdsAt(h(Y)=true, T), L), length(L, N), N < 2.
        initiatedAt(h(X)=true, T) :- happensAt(b(X), T).
        terminatedAt(h(X)=true, T) :- happensAt(d(X), T).
    """,
    "background": """
        pair(x, y). pair(y, z). pair(z, x). size(x, 3). size(y, 5). size(z, 8).
        big(X) :- size(X, S), S > 4.
        initially(h(X)=true) :- big(X).
        initiatedAt(f(X, Y)=true, T) :-
            happensAt(a(X), T), pair(X, Y), holdsAt(h(Y)=true, T), size(X, S), size(Y, R), S < R.
        terminatedAt(f(X, Y)=true, T) :- happensAt(b(Y), T), pair(X, Y), \\+ happensAt(c(X), T).
        terminatedAt(h(X)=true, T) :- happensAt(d(X), T).
        initiatedAt(h(X)=true, T) :- happensAt(c(X), T), \\+ big(X).
        holdsFor(s(X)=true, I) :-
            pair(X, Y), holdsFor(f(X, Y)=true, A), holdsFor(h(X)=true, B), union_all([A, B], U),
            holdsFor(h(Y)=true, C), relative_complement_all(U, [C], I).
    """,
    "initial values": """
        initially(m(X)=lo).
        grounding(m(X)=V) :- person(X), level(V).
        person(x). person(y). level(lo). level(hi).
        initiatedAt(m(X)=hi, T) :- happensAt(a(X), T).
        initiatedAt(m(X)=lo, T) :- happensAt(b(X), T), \\+ happensAt(c(X), T).
        fi(m(X)=hi, m(X)=lo, 4).
        p(m(_)=hi).
        happensAt(up(X), T) :- happensAt(start(m(X)=hi), T).
        initiatedAt(n(X)=true, T) :- happensAt(up(X), T), happensAt(d(_), T).
        terminatedAt(n(X)=true, T) :- happensAt(end(m(X)=hi), T).
    """,
}


class Run:
    """A case of the generator, run by the engine."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.program = ev.parse(case.text + "\n" + case.background)
        self.explainer = Explainer(self.program, facts_of((fact, None) for fact in case.facts), start=case.start,
                                   end=LAST, tick=case.tick)

    def of(self, facts: list[Fact]) -> tuple[Timelines, list[tuple[str, str, int]]]:
        """What follows from some facts."""
        return timelines(self.program, facts_of((fact, None) for fact in facts), start=self.case.start, end=LAST,
                         tick=self.case.tick)


def plain(fact: proofs.Fact) -> Fact:
    """A fact of a proof as the generator has it."""
    if fact.value is None:
        return ("event", fact.name, fact.args, fact.time)
    if fact.end is None:
        return ("point", fact.name, fact.args, fact.value, fact.time)
    return ("interval", fact.name, fact.args, fact.value, fact.time, fact.end)


@pytest.mark.parametrize("family", sorted(FAMILIES))
@few
@given(data=st.data())
def test_the_facts_of_a_proof_are_enough_and_none_is_idle(family: str, data: st.DataObject) -> None:
    check_a_proof(Run(data.draw(FAMILIES[family])), data)


@pytest.mark.parametrize("name", sorted(OTHERS))
@few
@given(data=st.data())
def test_so_it_is_with_weights_counts_and_background(name: str, data: st.DataObject) -> None:
    """What the families of random programs lack, over random facts."""
    facts: list[Fact] = data.draw(st.lists(
        st.builds(lambda event, who, time: ("event", event, (who,), time), st.sampled_from("abcd"),
                  st.sampled_from("xyz"), st.integers(1, 9)), min_size=1, max_size=12, unique=True))
    check_a_proof(Run(Case(OTHERS[name], "", facts, data.draw(st.sampled_from((1, 2))), 0)), data)


def check_a_proof(run: Run, data: st.DataObject) -> None:
    """The facts of a proof of some interval give it again, and fewer of them only with what is not so."""
    everything, _ = run.of(run.case.facts)
    options = [(name, stretch) for name, stretches in everything.items() for stretch in stretches]
    if not options:
        return
    name, (start, end) = data.draw(st.sampled_from(options))
    at = data.draw(st.integers(start, start + 5 if end is None else end - 1))
    proof = run.explainer.why(name.replace("()", ""), at)
    assert proof.holds and proof.minimal
    assert tuple(proof.reason.interval or ()) == (start, end)
    facts = [plain(fact) for fact in proof.facts]
    assert all(fact in run.case.facts for fact in facts)
    assert (start, end) in run.of(facts)[0].get(name, [])
    for number in range(len(facts)):
        fewer = facts[:number] + facts[number + 1:]
        if (start, end) in run.of(fewer)[0].get(name, []):
            assert not is_sound(run, name, at, (start, end), fewer), f"{facts[number]} is idle"
    unknown = [reason.claim for reason in proofs.reasons_in(proof.reason) if reason.holds is not True]
    assert not unknown
    assert {str(fact) for fact in proofs.facts_in(proof.reason)} == {str(fact) for fact in proof.facts}


def is_sound(run: Run, name: str, at: int, stretch: tuple[int, int | None], facts: list[Fact]) -> bool:
    """Whether fewer facts have a proof of the same that is true in all the data: then one was idle."""
    head, _, value = name.partition("=")
    template = next(output.template for output in run.program.model.outputs
                    if name_of(output.template) == head.partition("(")[0])
    case = run.explainer.case(template)
    leaves = (*map(Atom, filter(None, head.partition("(")[2].rstrip(")").split(","))), Atom(value))
    known = {id_: plain(case.fact(id_)) for id_ in case.all_facts}
    chosen = [next(id_ for id_, fact in known.items() if fact == wanted) for wanted in facts]
    return Reduction(case, Claim(template, leaves, at, Stretch(*stretch))).is_sound(chosen)


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
    proof = Run(case).explainer.why(name, int(start))
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
    run = Run(data.draw(FAMILIES[family]))
    fluents, events = run.of(run.case.facts)
    if not run.program.model.outputs:
        return
    output = data.draw(st.sampled_from(run.program.model.outputs))
    args = ",".join(data.draw(st.lists(st.sampled_from("abc"), min_size=leaf_count(output.template),
                                       max_size=leaf_count(output.template))))
    at = data.draw(st.integers(0, LAST))
    head = name_of(output.template)
    if output.kind == "event":
        question, holds = f"{head}({args})", (head, args, at) in events
    else:
        value = data.draw(st.sampled_from(VALUES)) if output.value is None else str(output.value)
        question = f"{head}({args})={value}"
        holds = any(low <= at and (high is None or at < high) for low, high in fluents.get(question, []))
    proof = run.explainer.why(question, at)
    assert proof.holds == holds
    assert proof.reason.reasons
    assert str(proof) and proof.html() and proof.to_dict(1)
    failed = [reason for reason in proofs.reasons_in(proof.reason) if reason.kind == "rule" and reason.holds is False]
    assert holds or all(any(inner.holds is not True for inner in rule.reasons) for rule in failed
                        if not rule.rule or not rule.rule.text.startswith("fi("))


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
