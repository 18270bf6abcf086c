"""The nodes of a plan that belong to a clause: every clause of every application has them, and the right ones."""

from __future__ import annotations

import pytest

import eventide as ev
from eventide.algebra import nodes as n
from eventide.analysis.model import ClauseKind
from eventide.analysis.origins import clause_nodes
from eventide.applications import APPLICATIONS

KINDS: tuple[ClauseKind, ...] = ("initiated", "terminated", "static", "event", "initial", "runs")


@pytest.mark.parametrize("name", sorted(name for name, app in APPLICATIONS.items() if app.rules.suffix == ".ec"))
def test_every_clause_of_an_application_has_a_node(name: str) -> None:
    model = ev.load(APPLICATIONS[name].rules).model
    bodies = {d.name: d.body for s in model.plan.strata for d in s.definitions}
    found = {clause.number: node for _, clause, node in clause_nodes(model, bodies)}
    assert set(found) >= {clause.number for clause in model.of_kind(*KINDS)}
    for number, node in found.items():  # what a clause names as its event or fluent, its node reads
        clause = model.clauses[number]
        assert set(n.references_of(node)) or not clause.body or clause.kind in ("initial", "delay")


def test_alternatives_of_a_fluent_with_a_domain_are_told_apart() -> None:
    program = ev.parse("""
        dynamicDomain(person(_)).
        grounding(ask(X)) :- person(X).
        grounding(busy(X)=true) :- person(X).
        initiatedAt(a(X)=true, T) :- happensAt(go(X), T).
        initiatedAt(b(X)=true, T) :- happensAt(come(X), T).
        holdsFor(busy(X)=true, I) :- holdsFor(a(X)=true, I).
        holdsFor(busy(X)=true, I) :- holdsFor(b(X)=true, I).
    """)
    bodies = {d.name: d.body for s in program.model.plan.strata for d in s.definitions}
    reads = [set(n.references_of(node)) for name, _, node in clause_nodes(program.model, bodies)
             if name == "busy(_)=true"]
    assert reads == [{"a(_)"}, {"b(_)"}]
