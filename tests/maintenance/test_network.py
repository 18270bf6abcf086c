"""Labels are what closure over all subsets of the assumptions gives, whatever is added and removed in which order."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.maintenance.closures import Closures, Rule, Set, smallest, subsets

from eventide.maintenance import LabelError, Network, conflicts, extensions, maximal_contexts

ASSUMPTIONS = ["A", "B", "C", "D", "E"]
NODES = ["p", "q", "r", "s"]
names = st.sampled_from([*ASSUMPTIONS, *NODES])
rules = st.lists(st.tuples(st.lists(names, max_size=3), st.one_of(st.none(), names)), max_size=12)


def network_of(steps: list[str | Rule]) -> Network[str]:
    """A network built step by step: a name is assumed, a rule is added."""
    network: Network[str] = Network()
    for step in steps:
        if isinstance(step, str):
            network.assume(step)
        elif step[1] is None:
            network.contradict(step[0])
        else:
            network.justify(*step)
    return network


def labels(network: Network[str]) -> dict[str, set[Set]]:
    return {node: set(network.label(node)) for node in [*ASSUMPTIONS, *NODES]}


@given(rules, st.data())
def test_labels_are_right_in_any_order(found: list[Rule], data: st.DataObject) -> None:
    """Assumptions that are also derived, rules in a circle, falsum without reason: all may come."""
    steps = data.draw(st.permutations([*ASSUMPTIONS, *found]))
    network, truth = network_of(steps), Closures(ASSUMPTIONS, found)
    assert set(network.nogoods()) == truth.nogoods()
    assert labels(network) == truth.labels([*ASSUMPTIONS, *NODES])


@given(rules, st.data())
def test_expiry_is_a_rebuild(found: list[Rule], data: st.DataObject) -> None:
    """Assumptions come and go between the rules; at the end only those that are there count."""
    network: Network[str] = Network()
    held: set[str] = set()
    for rule in [*found, None]:
        for name in data.draw(st.lists(st.sampled_from(ASSUMPTIONS), max_size=3)):
            if name in held:
                network.retract(name)
            else:
                network.assume(name)
            held ^= {name}
        if rule is not None:
            network.contradict(rule[0]) if rule[1] is None else network.justify(*rule)
    truth = Closures(sorted(held), found)
    assert set(network.nogoods()) == truth.nogoods()
    assert labels(network) == truth.labels([*ASSUMPTIONS, *NODES])
    assert network.size()["bits"] <= len(ASSUMPTIONS)
    before = labels(network)
    network.rebuild()
    assert labels(network) == before


@given(rules, st.data())
def test_opposites_of_assumptions(found: list[Rule], data: st.DataObject) -> None:
    """`q` stands for the opposite of A, `s` for that of B: where they lead on, also to falsum."""
    rules = [rule for rule in found if rule[1] not in ("q", "s")]
    steps = data.draw(st.permutations([*ASSUMPTIONS, *rules]))
    cut = data.draw(st.integers(0, len(steps)))
    network = network_of(["A", "B", *steps[:cut]])
    network.negate("A", "q")
    network.negate("B", "s")
    for step in steps[cut:]:
        if isinstance(step, str):
            network.assume(step)
        else:
            network.contradict(step[0]) if step[1] is None else network.justify(*step)
    truth = Closures(ASSUMPTIONS, rules, {"A": "q", "B": "s"})
    assert set(network.nogoods()) == truth.nogoods()
    assert labels(network) == truth.labels([*ASSUMPTIONS, *NODES])
    network.retract("A")
    fewer = Closures(ASSUMPTIONS[1:], rules, {"B": "s"})
    assert labels(network) == fewer.labels([*ASSUMPTIONS, *NODES])


@given(rules)
def test_contexts_are_read_off_the_labels(found: list[Rule]) -> None:
    network, truth = network_of([*ASSUMPTIONS, *found]), Closures(ASSUMPTIONS, found)
    consistent = [e for e in subsets(ASSUMPTIONS) if None not in truth.follows(e)]
    for environment in subsets(ASSUMPTIONS):
        held = truth.follows(environment)
        assert network.is_consistent(environment) == (None not in held)
        assert network.context(environment) == (None if None in held else held)
    every = list(subsets(ASSUMPTIONS))
    for node in NODES:
        expected = [node in truth.follows(e) and None not in truth.follows(e) for e in every]
        assert network.holds_in(node, every) == expected
    largest = {e for e in consistent if not any(e < other for other in consistent)}
    offered = list(maximal_contexts(network, ASSUMPTIONS))
    assert set(offered) == largest and len(offered) == len(largest)
    assert [len(e) for e in offered] == sorted((len(e) for e in offered), reverse=True)
    given_a = smallest(e - {"A"} for e in truth.nogoods())
    assert set(conflicts(network, "BCDE", given="A")) == given_a


@given(st.lists(st.tuples(st.lists(names, max_size=2), st.lists(st.sampled_from(NODES), max_size=2),
                          st.one_of(st.none(), st.sampled_from(NODES))), max_size=8))
def test_extensions_are_answer_sets(program: list[tuple[list[str], list[str], str | None]]) -> None:
    """Against the definition: a set of atoms that is the least model of its own reduct."""
    facts = ASSUMPTIONS[:2]
    network: Network[str] = network_of([*facts])
    for positive, negative, head in program:
        for p in negative:
            network.assume_out(p, f"out({p})")
        body = [*positive, *(f"out({p})" for p in negative)]
        network.contradict(body) if head is None else network.justify(body, head)
    answers = set()
    for candidate in subsets(NODES):
        reduct: list[Rule] = [(body, head) for body, outs, head in program if not candidate & set(outs)]
        if Closures(facts, reduct).follows(facts) == candidate | set(facts):
            answers.add(candidate)
    found = [frozenset(network.context(e) or ()) & set(NODES) for e in extensions(network, facts)]
    assert set(found) == answers and len(found) == len(answers)


def test_parity_is_exponential_and_limited() -> None:
    """2^(k-1) environments: within the limit they are all there, beyond it the error names the node."""

    def parity(bits: int, limit: int) -> Network[str]:
        network: Network[str] = Network(limit=limit)
        for k in range(bits):
            network.assume(f"zero{k}")
            network.assume(f"one{k}")
            network.contradict([f"zero{k}", f"one{k}"])
            for before in ("even", "odd") if k else ():
                after = "odd" if before == "even" else "even"
                network.justify([f"{before}{k - 1}", f"zero{k}"], f"{before}{k}")
                network.justify([f"{before}{k - 1}", f"one{k}"], f"{after}{k}")
            if not k:
                network.justify(["zero0"], "even0")
                network.justify(["one0"], "odd0")
        return network

    assert len(parity(9, 256).label("even8")) == 256
    with pytest.raises(LabelError, match=r"^(even|odd)8: more than 255 smallest sets"):
        parity(9, 255)


def test_a_sliding_window_keeps_everything_small() -> None:
    """Facts come and leave a window of five; after any number of them the network is as large as after twenty."""
    network: Network[str] = Network()
    network.contradict(["even", "odd"])
    sizes = []
    for t in range(200):
        network.assume(f"a@{t}")
        network.justify([f"a@{t}"], "even" if t % 2 else "odd")
        if t >= 5:
            network.retract(f"a@{t - 5}")
            network.forget(f"a@{t - 5}")
        sizes.append(network.size())
        live = range(max(0, t - 4), t + 1)
        assert network.nogoods() == {frozenset([f"a@{j}", f"a@{k}"]) for j, k in combinations(live, 2) if (j + k) % 2}
    assert sizes[20:22] == sizes[-2:]
    assert max(size["bits"] for size in sizes) <= 6


def test_the_observer_hears_what_begins_and_ceases_to_hold() -> None:
    heard: list[tuple[str, bool]] = []
    network: Network[str] = Network(lambda key, holds: heard.append((key, holds)))
    network.justify(["A"], "p")
    network.assume("A")
    network.assume("B")
    network.justify(["B"], "p")
    network.retract("A")
    network.contradict(["B"])
    assert heard[:4] == [("A", True), ("p", True), ("B", True), ("A", False)]
    assert sorted(heard[4:]) == [("B", False), ("p", False)]


def test_what_is_no_assumption_is_refused() -> None:
    network = network_of(["A", (["A"], "p")])
    with pytest.raises(KeyError, match="'p' is no assumption"):
        network.holds("A", ["p"])
    with pytest.raises(KeyError, match="'p' is no assumption"):
        network.retract("p")
