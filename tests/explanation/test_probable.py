"""The most probable explanation: that of trying everything, on formulas and on streams."""

from __future__ import annotations

from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import examples

import eventide as ev
from eventide.explanation.probable import best_implicant, explain_probability
from eventide.probability.circuits import Diagram

RULES = """
initiatedAt(f(X)=true, T) :- happensAt(a(X), T), \\+ happensAt(b(X), T).
terminatedAt(f(X)=true, T) :- happensAt(b(X), T).
initiatedAt(g(X)=true, T) :- happensAt(c(X), T), holdsAt(f(X)=true, T).
holdsFor(s(X)=true, I) :- holdsFor(f(X)=true, J), holdsFor(g(X)=true, K), union_all([J, K], I).
"""
clauses = st.lists(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=3), max_size=5)
chances = st.lists(st.sampled_from((0.1, 0.25, 0.5, 0.7, 0.9)), min_size=5, max_size=5)


@settings(max_examples=max(settings.default.max_examples, 30))
@given(clauses, chances, st.booleans())
def test_the_best_implicant_is_the_best_of_all(conjunctions: list[list[tuple[int, bool]]], p: list[float],
                                               negated: bool) -> None:
    diagram = Diagram()
    found = 1
    for conjunction in conjunctions:
        term = 0
        for variable, value in conjunction:
            term = diagram.both(term, diagram.variable(variable) ^ (not value))
        found = diagram.both(found ^ 1, term ^ 1) ^ 1
    reference = found ^ negated

    def is_true(world: dict[int, bool]) -> bool:
        return any(all(world[v] == value for v, value in c) for c in conjunctions) != negated

    def implies(partial: dict[int, bool]) -> bool:
        rest = [v for v in range(5) if v not in partial]
        return all(is_true(partial | dict(zip(rest, values, strict=True)))
                   for values in product((True, False), repeat=len(rest)))

    best = 0.0
    for values in product((True, False, None), repeat=5):
        partial = {v: value for v, value in enumerate(values) if value is not None}
        if implies(partial):
            product_ = 1.0
            for v, value in partial.items():
                product_ *= p[v] if value else 1 - p[v]
            best = max(best, product_)
    answer = best_implicant(diagram, reference, p)
    if answer is None:
        assert best == 0
    else:
        assert answer.probability == pytest.approx(best)
        assert implies(dict(answer.values))


def table(rows: list[tuple[str, int, float]]) -> pa.Table:
    return pa.table({"time": pa.array([row[1] for row in rows], pa.int64()), "event": [row[0] for row in rows],
                     "who": ["x"] * len(rows), "probability": pa.array([row[2] for row in rows], pa.float64())})


def holds(program: ev.Program, rows: list[tuple[str, int, float]], fluent: str, at: int) -> bool:
    if not rows:
        return False
    answer = program.run(table([(name, time, 1.0) for name, time, _ in rows]), start=0, end=20, ties="initiation")
    return any(r["fluent"] == fluent and r["start"] <= at and (r["end"] is None or at < r["end"])
               for r in answer.to_arrow().to_pylist())


facts = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 8), st.sampled_from((0.2, 0.5, 0.6, 0.9, 1.0))),
                 min_size=1, max_size=5, unique_by=lambda row: row[:2])


@examples(1 / 6)
@given(facts, st.sampled_from("fgs"), st.integers(2, 12))
def test_it_is_the_best_of_all_sets_of_facts(rows: list[tuple[str, int, float]], fluent: str, at: int) -> None:
    """The probability is the sum over all worlds; the explanation holds whatever the other facts are."""
    program = ev.parse(RULES)
    proof = explain_probability(program, table(rows), f"{fluent}(x)=true", at, start=0, end=20)
    total = 0.0
    true = {}
    for world in product((True, False), repeat=len(rows)):
        chance = 1.0
        for row, is_so in zip(rows, world, strict=True):
            chance *= row[2] if is_so else 1 - row[2]
        true[world] = chance > 0 and holds(program, [r for r, so in zip(rows, world, strict=True) if so], fluent, at)
        total += chance * true[world]
    assert proof.probability == pytest.approx(total)
    assert proof.holds == (total > 0)
    if not proof.holds:
        return
    choice = proof.reason.reasons[0]
    chosen: dict[tuple[Any, Any], bool] = {(r.fact.name, r.fact.time): r.kind == "fact" for r in choice.reasons
                                           if r.fact is not None and r.kind in ("fact", "absence")}
    best = 0.0
    for partial in product((True, False, None), repeat=len(rows)):
        if all(row[2] < 1 or is_so is None for row, is_so in zip(rows, partial, strict=True)):
            worlds = [w for w in true if all(p is None or p == so for p, so in zip(partial, w, strict=True))
                      and all(so or row[2] < 1 for row, so in zip(rows, w, strict=True))]
            if worlds and all(true[w] for w in worlds):
                chance = 1.0
                for row, is_so in zip(rows, partial, strict=True):
                    chance *= 1.0 if is_so is None else row[2] if is_so else 1 - row[2]
                best = max(best, chance)
    assert choice.probability == pytest.approx(best)
    mine = [w for w in true if all(chosen.get(row[:2], so) == so for row, so in zip(rows, w, strict=True))
            and all(so or row[2] < 1 for row, so in zip(rows, w, strict=True))]
    assert mine and all(true[w] for w in mine)
    assert choice.reasons[-1].claim.startswith(f"{fluent}(x)=true holds at {at}")


def test_a_rule_with_a_probability() -> None:
    """It is named with its values, and the chain of rules goes on below; one that must not apply is named too."""
    program = ev.parse("0.4::initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).\n"
                       "0.3::terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).", source="rules.ec")
    events = pa.table({"time": [3, 9], "event": ["win", "lose"], "who": ["ann", "ann"]})
    proof = explain_probability(program, events, "rich(ann)=true", 7)
    assert proof.probability == pytest.approx(0.4)
    rule, chain = proof.reason.reasons[0].reasons
    assert rule.rule is not None and rule.rule.place == "rules.ec:1" and rule.bindings == {"X": "ann", "T": "3"}
    assert rule.probability == pytest.approx(0.4) and chain.claim == "rich(ann)=true holds at 7, during [4, 10)"
    assert [str(fact) for fact in proof.facts] == ["win(ann)", "lose(ann)"]
    later = explain_probability(program, events, "rich(ann)=true", 12)
    assert later.probability == pytest.approx(0.4 * 0.7)
    assert [(reason.kind, reason.probability) for reason in later.reason.reasons[0].reasons] == [
        ("rule", pytest.approx(0.4)), ("absence", pytest.approx(0.7))]
    assert "rules.ec:2" in str(later) and "does not apply with X=ann, T=9" in str(later)
    assert not explain_probability(program, events, "rich(ann)=true", 2).holds


def test_an_input_is_as_probable_as_it_says() -> None:
    program = ev.parse(RULES + "happensAt(far(X, N), T) :- happensAt(go(X, M), T), N is M * 2, N > 3.")
    events = pa.table({"time": [3, 3], "event": ["go", "go"], "who": ["x", "x"], "n": [2, 5],
                       "probability": [0.3, 0.6]})
    assert explain_probability(program, events, "go(x,5)", 3).probability == pytest.approx(0.6)
    assert explain_probability(program, events, "far(x,4)", 3).probability == pytest.approx(0.3)
    assert explain_probability(program, events, "go(x,5)", 4).probability == 0
    assert not explain_probability(program, events, "go(x,7)", 3).holds


def test_what_cannot_be_so_has_a_reason() -> None:
    proof = explain_probability(ev.parse(RULES), table([("a", 3, 0.5)]), "f(y)=true", 7)
    assert not proof.holds and "y occurs in no fact and in no rule" in str(proof)
    proof = explain_probability(ev.parse(RULES), table([("a", 3, 0.5), ("b", 3, 1.0)]), "f(x)=true", 7)
    assert not proof.holds and "\\+ happensAt(b(x), 3) fails first" in str(proof)


def test_other_rules_need_no_probabilities() -> None:
    program = ev.parse(RULES + "initiatedAt(h(X)=true, T) :- happensAt(c(X), T). fi(h(X)=true, h(X)=false, 5).")
    for at in 7, 7000:
        assert explain_probability(program, table([("a", 3, 0.5)]), "f(x)=true", at).probability == pytest.approx(0.5)
