"""Profiles: what is measured adds up, belongs to the right rules, and is shared where several rules read it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import eventide as ev
from eventide.algebra import nodes as n
from eventide.applications import APPLICATIONS
from eventide.engine.profile import Profile, profiled
from eventide.profiling.flame import page
from eventide.profiling.owners import Owner, Owners
from eventide.profiling.tables import operator_costs, operator_lines, rule_costs, rule_lines
from eventide.rule_tests.reading import read_tests
from eventide.rule_tests.running import Tests

RULES = """\
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
initiatedAt(owns(X, Y)=true, T) :- happensAt(buy(X, Y), T), holdsAt(rich(X)=true, T).
initiatedAt(glad(X)=true, T) :- happensAt(buy(X, Y), T), holdsAt(rich(X)=true, T).
holdsFor(calm(X)=true, I) :- holdsFor(rich(X)=true, J), intDurGreater(J, 2, I).
"""
EVENTS = "win|1|1|ann\nbuy|3|3|ann|car\nbuy|4|4|zoe|car\nlose|8|8|ann\nwin|9|9|zoe\nbuy|12|12|zoe|tea\n"


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of events."""
    file = tmp_path_factory.mktemp("events") / "events.csv"
    file.write_text(EVENTS)
    return file


def titles(owners: tuple[Owner, ...]) -> list[str]:
    """What owners are called."""
    return [owner.title for owner in owners]


def check_sums(profile: Profile, owners: Owners) -> None:
    """Rules, operators and the tree tell of the same time, rows and calls."""
    frames = [frame for frame in profile.root.walk() if frame.node is not None]
    total = sum(frame.nanoseconds for frame in profile.root.children.values()) / 1e9
    assert sum(cost.seconds for cost in rule_costs(profile, owners)) == pytest.approx(total)
    assert sum(cost.seconds for cost in operator_costs(profile)) == pytest.approx(total)
    assert sum(cost.rows for cost in operator_costs(profile)) == sum(frame.rows for frame in frames)
    assert all(frame.own >= 0 and frame.calls > 0 for frame in frames)


def boxes(html: str) -> Iterator[dict[str, Any]]:
    """The boxes of a flame view."""
    found = re.search(r"id=frames>(.*?)</script>", html, re.DOTALL)
    assert found is not None
    stack = [json.loads(found[1])]
    while stack:
        box = stack.pop()
        yield box
        stack.extend(box["inner"])


def test_rules_own_what_they_read_alone_and_share_the_rest(events: Path) -> None:
    program = ev.parse(RULES, source="rules.ec")
    with profiled() as profile:
        program.run(events)
    owners = Owners(program, profile)
    check_sums(profile, owners)
    bought = [titles(owners.of(frame.node)) for frame in profile.root.walk()
              if frame.node is not None and type(frame.node).__name__ == "Join"]
    assert ["initiatedAt(owns(X, Y)=true, T)", "initiatedAt(glad(X)=true, T)"] in bought  # computed once for both
    costs = {cost.rule: cost for cost in rule_costs(profile, owners)}
    assert costs["initiatedAt(owns(X, Y)=true, T)"].shared_with == 2  # glad, and calm reads rich too
    assert costs["initiatedAt(owns(X, Y)=true, T)"].place == "rules.ec:3"
    assert "rich(_), all its rules together" in costs


def test_windows_are_measured_in_the_pieces_of_a_session(events: Path) -> None:
    program = ev.parse(RULES, source="rules.ec")
    with profiled() as profile:
        whole = program.run(events, window=20, step=3)
    owners = Owners(program, profile)
    check_sums(profile, owners)
    calm = [frame.node for frame in profile.root.walk() if isinstance(frame.node, n.Lasting)]
    assert {title for node in calm for title in titles(owners.of(node))} == {"holdsFor(calm(X)=true, I)"}
    assert whole.to_arrow().to_pylist() == program.run(events, window=20, step=3).to_arrow().to_pylist()


def test_nothing_is_measured_outside_of_the_block(events: Path) -> None:
    program = ev.parse(RULES)
    with profiled() as profile:
        pass
    program.run(events)
    assert not profile.root.children
    with profiled(profile):
        program.run(events)
    first = sum(frame.calls for frame in profile.root.walk())
    with profiled(profile):
        program.run(events)
    assert sum(frame.calls for frame in profile.root.walk()) == 2 * first


def test_what_fails_is_measured_up_to_there_and_no_further() -> None:
    profile, outer, inner = Profile(), n.Unit(), n.Events("e", ())

    def fails() -> None:
        profile.measured(inner, lambda: None)
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        profile.measured(outer, fails)
    profile.measured(outer, lambda: None)
    frame, = profile.root.children.values()
    assert (frame.calls, [below.calls for below in frame.children.values()]) == (1, [1])
    assert frame.own >= 0


@pytest.mark.parametrize("name", ["maritime", "activity"])
def test_every_node_of_an_application_has_an_owner(name: str) -> None:
    tests = Tests(read_tests(APPLICATIONS[name].rules.with_suffix(".ectest")))
    with profiled() as profile:
        tests.run(lambda title: "trawling" in title or "object" in title)
    owners = Owners(tests.program, profile)
    check_sums(profile, owners)
    unowned = [frame.node for frame in profile.root.walk() if frame.node is not None
               and titles(owners.of(frame.node)) == ["what no rule is measured for"]]
    assert not unowned


def test_dense_time_by_rule() -> None:
    program = ev.parse("Near(X) :- <>-[0,1] Seen(X).\nNear(X) :- Heard(X), Open(X).", language="mtl", source="r.mtl")
    with profiled() as profile:
        program.run({"Seen": pa.table({"time": [1, 5], "x": ["a", "b"]})})
    owners = Owners(program, profile)
    check_sums(profile, owners)
    assert {(cost.rule, cost.place) for cost in rule_costs(profile, owners)} >= {
        ("Near(X)", "r.mtl:1"), ("Near(X)", "r.mtl:2")}


def test_lars_by_definition() -> None:
    program = ev.parse("b(X) :- a(X) [3].", language="lars")
    with profiled() as profile:
        program.run([(1, ["a(x)"])], end=9)
    owners = Owners(program, profile)
    check_sums(profile, owners)
    assert any(cost.rule.startswith("b/1 now") for cost in rule_costs(profile, owners))


def test_the_tables_and_the_flame_view(events: Path) -> None:
    program = ev.parse(RULES.replace("calm", "'<calm>'"), source="rules.ec")
    with profiled() as profile:
        program.run(events)
    owners = Owners(program, profile)
    lines = list(rule_lines(rule_costs(profile, owners), most=2))
    assert lines[0].split() == ["%", "seconds", "own", "shared", "rows", "memory", "rule"]
    assert lines[-1].startswith("the other ")
    assert next(operator_lines(operator_costs(profile))).endswith("operator")
    html = page(profile, owners, "What <rules> cost")
    found = list(boxes(html))
    assert {box["kind"] for box in found} == {"whole", "definition", "rule", "operator"}
    assert any(box["shared"] for box in found)
    assert all(sum(inner["time"] for inner in box["inner"]) <= box["time"] for box in found)
    assert "http" not in html
    assert "What <rules>" not in html
    assert "<calm>" not in html
