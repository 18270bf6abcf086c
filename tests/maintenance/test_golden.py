"""The recorded cases of labels, contexts, expiry, opposites and default negation, in any order of insertion."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eventide.maintenance import Network, extensions, maximal_contexts, minimal_hitting_sets

Family = set[frozenset[str]]
ORDERS = 30


@pytest.fixture(scope="module")
def cases(shared_data: Callable[[str], Path]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shared_data("golden/lars/labels.json").read_text())
    return found


def family(sets: list[list[str]]) -> Family:
    return set(map(frozenset, sets))


def build(case: dict[str, Any], order: int | None = None) -> Network[str]:
    """The network of a case; the justifications come first and the nogoods last, or in a random order."""
    network: Network[str] = Network()
    steps: list[Callable[[], object]] = []
    for assumption in case["assumptions"]:
        steps.append(lambda a=assumption: network.assume(a))  # type: ignore[misc]
    for body, head in case["justifications"]:
        steps.append(lambda b=body, h=head: network.justify(b, h))  # type: ignore[misc]
    for body in case["nogoods"]:
        steps.append(lambda b=body: network.contradict(b))  # type: ignore[misc]
    if order is not None:
        random.Random(order).shuffle(steps)
    for step in steps:
        step()
    for assumption, opposite in case.get("negation_nodes", {}).items():
        network.negate(assumption, opposite)
    return network


def test_labels_and_nogoods(cases: list[dict[str, Any]]) -> None:
    for case in cases:
        for order in (None, *range(ORDERS)):
            network = build(case, order)
            found = {node: set(network.label(node)) for node in case["expected"]["labels"]}
            assert found == {node: family(sets) for node, sets in case["expected"]["labels"].items()}, case["id"]
            assert set(network.nogoods()) == family(case["expected"]["nogoods"]), case["id"]


def test_contexts(cases: list[dict[str, Any]]) -> None:
    for case in cases:
        network = build(case)
        for context in case.get("contexts", ()):
            assert network.is_consistent(context["assumptions"]) == context["consistent"]
            held = network.context(context["assumptions"])
            assert held == (None if context["holds"] is None else frozenset(context["holds"])), case["id"]


def test_expiry_step_by_step(cases: list[dict[str, Any]]) -> None:
    (case,) = (case for case in cases if "expire" in case)
    network = build(case)
    for step in case["expire"]:
        network.retract(step["assumption"])
        for node, sets in step["labels"].items():
            assert set(network.label(node)) == family(sets)
        assert set(network.nogoods()) == family(step["nogoods"])


def test_extensions_are_the_answer_sets(cases: list[dict[str, Any]]) -> None:
    for case in cases:
        if "extensions" not in case:
            continue
        network: Network[str] = Network()
        for fact in case["facts"]:
            network.assume(fact)
        for rule in case["rules"]:
            for p in rule["neg"]:
                network.assume_out(p, f"out({p})")
            network.justify([*rule["pos"], *(f"out({p})" for p in rule["neg"])], rule["head"])
        found = set(extensions(network, case["facts"]))
        assert found == {frozenset(extension["environment"]) for extension in case["extensions"]}, case["id"]
        atoms = {frozenset(key for key in network.context(e) or () if not key.startswith("out(")) for e in found}
        assert atoms == family(case["stable_models"]), case["id"]


def test_maximal_contexts_of_two_nogoods(cases: list[dict[str, Any]]) -> None:
    (case,) = (case for case in cases if case["id"] == "a15_two_nogoods_choice")
    found = set(maximal_contexts(build(case), case["assumptions"]))
    assert found == family([["A", "C"], ["A", "D"], ["B", "C"], ["B", "D"]])
    assert sorted(minimal_hitting_sets([0b0011, 0b1100])) == [0b0101, 0b0110, 0b1001, 0b1010]
