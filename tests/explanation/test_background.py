"""Proofs through relations of background knowledge lead down to its facts, also where definitions are recursive."""

from __future__ import annotations

import pyarrow as pa

import eventide as ev
from eventide.explanation.asking import explain
from eventide.explanation.text import proof_text

RULES = """
street(a, b). street(b, c). street(c, a). street(c, d).
way(e, f).
way(X, Y) :- street(X, Y).
way(X, Z) :- street(X, Y), way(Y, Z), X \\== Z.
initiatedAt(asked(X, Y)=true, T) :- happensAt(ask(X, Y), T), way(X, Y).
initiatedAt(odd(X)=true, T) :- happensAt(ask(X, Y), T), \\+ way(X, Y),
    member(Y, [k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12, k13, k14, k15, k16]).
"""


def proof(fluent: str) -> str:
    facts = pa.table({"time": [1, 2, 3], "event": ["ask"] * 3, "a": ["a", "e", "a"], "b": ["d", "f", "k3"]})
    return proof_text(explain(ev.parse(RULES), facts, fluent, 5))


def test_a_recursive_definition_is_proved_step_by_step() -> None:
    found = proof("asked(a,d)=true")
    lines = [line.strip("│├└─ ") for line in found.splitlines()]
    at = lines.index("way(a, d)")
    assert lines[at:at + 8] == ["way(a, d)", "street(a, b)", "way(b, d)", "street(b, c)", "way(c, d)", "street(c, d)",
                                "b \\== d", "a \\== d"]


def test_a_fact_of_a_relation_needs_no_proof() -> None:
    lines = [line.strip("│├└─ ") for line in proof("asked(e,f)=true").splitlines()]
    assert lines[lines.index("way(e, f)") + 1:][:1] == [""]


def test_what_is_in_a_list() -> None:
    found = proof("odd(a)=true")
    assert "\\+ way(a, k3)" in found and "member(k3, [k0, k1, k2, k3, k4, k5, …])" in found
