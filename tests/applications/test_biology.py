"""The feedback loops: the rules with orders and deadlines mean the same as the definition of the loops.

Both are simulated here in plain Python: `defined` from the definition (targets, runs of targets, delays), `ordered`
as the rules say it (starts and ends of values, orders that become due).
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from itertools import groupby, product
from pathlib import Path

import pytest

from eventide.applications import APPLICATIONS
from eventide.applications.biology.generator import LOOPS
from eventide.syntax.event_calculus import parse
from eventide.syntax.terms import Atom, Compound, Number, functor_of
from eventide.syntax.trees import BackgroundClause

Levels = dict[str, int]
Course = list[tuple[Levels, Levels]]
"""Levels and targets at the points 1, 2, …"""


def immune_targets(level: Levels) -> Levels:
    """The targets of the immune response."""
    h, s = level["h"], level["s"]
    return {
        "h": (1 if s == 0 else 0, 0 if s == 2 else 1, 2)[h],
        "s": (1 if s == 2 else 0) if h == 0 else (1 if s == 0 else 2),
    }


def phage_targets(level: Levels) -> Levels:
    """The targets of the phage infection."""
    ci, cro, n = level["cI"], level["cro"], level["n"]
    return {
        "cI": 2 if cro == 0 else 0,
        "cro": 0 if ci >= 2 else 2 if cro == 3 else 3,
        "cII": int(ci < 2 and cro < 3 and n >= 1),
        "n": int(ci < 1 and cro < 2),
    }


TARGETS: dict[str, Callable[[Levels], Levels]] = {"immune": immune_targets, "phage": phage_targets}


def facts(loop: str, name: str) -> list[tuple[str | float, ...]]:
    """The background facts `name(…)` of the loop's rules."""
    rules = parse(APPLICATIONS[loop].rules.read_text()).rules
    heads = [rule.head for rule in rules if isinstance(rule, BackgroundClause)]
    found = [head for head in heads if isinstance(head, Compound) and functor_of(head)[0] == name]
    return [
        tuple(arg.name if isinstance(arg, Atom) else arg.value for arg in head.args if isinstance(arg, Atom | Number))
        for head in found
    ]


def delays(loop: str) -> dict[str, tuple[int, int]]:
    """The delays of an increase and of a decrease of each variable, as the rules give them."""
    return {str(x): (int(up), int(down)) for x, up, down in facts(loop, "delay")}  # type: ignore[misc]


def toward(level: int, target: int) -> int:
    """One step from the level to the target."""
    return level + (target > level) - (target < level)


def states(loop: str) -> Iterator[Levels]:
    """All combinations of levels."""
    for levels in product(*(range(highest + 1) for highest in LOOPS[loop].values())):
        yield dict(zip(LOOPS[loop], levels, strict=True))


def defined(loop: str, level: Levels, last: int, delay: dict[str, tuple[int, int]]) -> Course:
    """The definition: a level moves at t+1 if its target has not changed for the delay before."""
    path: Course = []
    run = dict.fromkeys(level, 1)
    for t in range(1, last + 1):
        target = TARGETS[loop](level)
        for x in level:
            if path and path[-1][1][x] != target[x]:
                run[x] = t
        path.append((level, target))
        level = {
            x: toward(v, target[x]) if t + 1 >= run[x] + delay[x][target[x] < v] else v for x, v in level.items()
        }
    return path


def ordered(loop: str, level: Levels, last: int, delay: dict[str, tuple[int, int]]) -> Course:
    """The rules: at each T first the levels change, then the targets, then the orders."""
    path: Course = []
    after, target = dict(level), TARGETS[loop](level)
    changed, fresh = set(level), set(level)
    # What is initiated at 0.
    deadline: dict[str, int] = {}
    due: set[str] = set()
    for t in range(last + 1):
        if t > 0:
            path.append((level := dict(after), target))
            falls_due = {x for x, when in deadline.items() if when == t}
            moving = falls_due | (due & changed)
            after = {x: toward(v, target[x]) if x in moving else v for x, v in level.items()}
            changed = {x for x in level if after[x] != level[x]}
            new = TARGETS[loop](after) if changed else target
            fresh = {x for x in level if new[x] != target[x]}
            target, due = new, (due | falls_due) - fresh
        for x in fresh:
            deadline.pop(x, None)
            if target[x] != after[x]:
                deadline[x] = t + delay[x][target[x] < after[x]]
    return path


@pytest.mark.parametrize("loop", LOOPS)
def test_the_rules_give_the_variables_and_levels(loop: str) -> None:
    assert facts(loop, "level") == [(x, v) for x, highest in LOOPS[loop].items() for v in range(highest + 1)]


def test_the_table_of_the_immune_response_is_its_function() -> None:
    table = {(x, h, s): w for x, h, s, w in facts("immune", "target")}  # type: ignore[misc]
    assert table == {(x, *level.values()): immune_targets(level)[x] for level in states("immune") for x in level}


@pytest.mark.parametrize("loop", LOOPS)
def test_orders_and_deadlines_mean_the_definition(loop: str) -> None:
    delay = delays(loop)
    for level in states(loop):
        assert ordered(loop, level, 60, delay) == defined(loop, level, 60, delay)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("pair", [(1, 1), (2, 2), (6, 6), (1, 5), (4, 2)])
def test_orders_and_deadlines_mean_the_definition_for_other_delays(loop: str, pair: tuple[int, int]) -> None:
    delay = dict.fromkeys(LOOPS[loop], pair)
    for level in states(loop):
        assert ordered(loop, level, 60, delay) == defined(loop, level, 60, delay)


@pytest.mark.parametrize(("loop", "last"), [("immune", 200), ("phage", 100)])
def test_the_simulation_gives_the_reference_answers(loop: str, last: int, shared_data: Callable[[str], Path]) -> None:
    with shared_data(f"data/applications/biology/golden_{loop}_{last}.csv").open() as file:
        expected = {tuple(row.values()) for row in csv.DictReader(file)}
    found, delay = set(), delays(loop)
    for level in states(loop):
        initial = ";".join(f"{x}={v}" for x, v in level.items())
        path = ordered(loop, level, last, delay)
        for fluent, side in (("val", 0), ("f", 1)):
            for x in level:
                values = [(step[side][x], t) for t, step in enumerate(path, 1)]
                for value, group in groupby(values, key=lambda pair: pair[0]):
                    times = [t for _, t in group]
                    found.add((initial, fluent, x, str(value), str(times[0]), str(times[-1] + 1)))
    assert found == expected
