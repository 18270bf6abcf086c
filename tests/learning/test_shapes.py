"""Modes of odd shapes, end to end: the rules that are learnt with them run, and find what the learner predicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import eventide as ev
from eventide.formats.background import Clauses
from eventide.learning.learned import Learned

POINTS = 60
RANDOM = np.random.default_rng(3)
LEVELS = {(time, who): int(RANDOM.integers(1, 4)) for time in range(POINTS) for who in "ab"}
NEAR = [(time, time + 4, who) for who, first in (("a", 1), ("b", 4)) for time in range(first, POINTS, 9)]
Says = Callable[[int, str], bool]


def columns(*rows: tuple[Any, ...], names: Sequence[str]) -> pa.Table:
    return pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))


def holding(begins: Says, ends: Says) -> list[tuple[int, str]]:
    """When it holds of whom."""
    found = []
    for who in "ab":
        holds = False
        for time in range(POINTS):
            if holds:
                found.append((time, who))
            holds = begins(time, who) or (holds and not ends(time, who))
    return found


UP = holding(lambda time, who: LEVELS[time, who] == 3, lambda time, who: LEVELS[time, who] == 1)
AT = columns(*((*key, level) for key, level in LEVELS.items()), names=["time", "who", "level"])
IS_UP = columns(*UP, names=["time", "who"])
HEADS = "modeh(initiatedAt({0},+time))\nmodeh(terminatedAt({0},+time))\n"
PLAIN = HEADS.format("up(+w)")


def as_found(found: pa.Table, stream: str | None = None) -> list[tuple[Any, ...]]:
    return sorted(((row["args"], row["value"], row["start"], row["end"]) for row in found.to_pylist()
                   if row["fluent"] == "up" and stream in (None, row.get("stream"))), key=str)


def check(modes: str, tables: object, rules: list[str] | None = None, **options: Any) -> Learned:
    """What a run finds is what is predicted, in one window and in several."""
    learnt = ev.learn(modes, tables, batch=20, **options)
    if rules is not None:
        assert [str(rule.clause) for rule in learnt.rules] == rules
    expected = as_found(learnt.predict(), "0")
    assert len(expected) > 5
    facts = learnt.facts(0)
    timeless = [{name: each} for name, each in facts.items() if "time" not in each.column_names]
    program = ev.parse(learnt.text, background=[*options.get("background", ()), *timeless])
    timed = {name: each for name, each in facts.items() if "time" in each.column_names}
    for window in ({}, {"window": 9, "step": 5}):
        assert as_found(program.run(timed, **window).to_arrow()) == expected, learnt.text
    return learnt


SHAPES: dict[str, tuple[str, dict[str, pa.Table], list[str]]] = {
    "terms in terms": (HEADS.format("up(lift(+w))") + "modeb(happensAt(moves(lift(+w),floor(#n)),+time))",
                       {"moves": AT, "up": IS_UP},
                       ["initiatedAt(up(lift(X)), T) :- happensAt(moves(lift(X), floor(3)), T).",
                        "terminatedAt(up(lift(X)), T) :- happensAt(moves(lift(X), floor(1)), T)."]),
    "the time comes first": (PLAIN + "modeb(at(+time,+w,#n))", {"at": AT, "up": IS_UP},
                             ["initiatedAt(up(X), T) :- at(T, X, 3).", "terminatedAt(up(X), T) :- at(T, X, 1)."]),
    "a limit deep inside": (
        PLAIN + "modeb(happensAt(at(+w,is(#n)),+time))\nmodeb(not happensAt(at(+w,is(#n)),+time))\n"
        "comparisonPredicate(happensAt(at(+w,is(#n)),+time), greaterThan, comparison_term_position(1,2,1))",
        {"at": AT, "up": IS_UP},
        ["initiatedAt(up(X), T) :- happensAt(at(X, is(3)), T).",
         "terminatedAt(up(X), T) :- \\+ happensAt(at(X, is(2)), T)."]),
    "constants in heads and conditions": (
        HEADS.format("up(a)=yes") + "modeb(happensAt(at(a,#n),+time))",
        {"at": AT, "up": columns(*((time, who, "yes") for time, who in UP if who == "a"),
                                 names=["time", "who", "value"])},
        ["initiatedAt(up(a) = yes, T) :- happensAt(at(a, 3), T).",
         "terminatedAt(up(a) = yes, T) :- happensAt(at(a, 1), T)."]),
    "the same facts in several modes": (
        PLAIN + "modeb(happensAt(at(+w,3),+time))\nmodeb(happensAt(at(+w,#n),+time))\n"
        "modeb(happensAt(at(+w,-m),+time))\nmodeb(low(+m))",
        {"at": AT, "up": IS_UP, "low": pa.table({"m": [1]})},
        ["initiatedAt(up(X), T) :- happensAt(at(X, 3), T).", "terminatedAt(up(X), T) :- happensAt(at(X, 1), T)."]),
    "names that need quotes": (
        HEADS.format("up(the('Big X',+w))") + "modeb(happensAt(at(+w,#n),+time))",
        {"at": AT.set_column(1, "who", pa.array([f"O'{who} B" for who in AT["who"].to_pylist()])),
         "up": pa.table({"time": IS_UP["time"], "what": ["Big X"] * len(IS_UP),
                         "who": [f"O'{who} B" for who in IS_UP["who"].to_pylist()]})},
        ["initiatedAt(up(the('Big X', X)), T) :- happensAt(at(X, 3), T).",
         "terminatedAt(up(the('Big X', X)), T) :- happensAt(at(X, 1), T)."]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_rules_of_odd_shapes_run(shape: str) -> None:
    modes, tables, rules = SHAPES[shape]
    check(modes + "\n", tables, rules)


def test_what_a_run_writes_of_compound_arguments_are_labels() -> None:
    rules = "initiatedAt(up(at(lift(X), 3), q)=true, T) :- happensAt(at(X, 3), T).\n" \
            "terminatedAt(up(at(lift(X), 3), q)=true, T) :- happensAt(at(X, 1), T)."
    written = ev.parse(rules).run({"at": AT}).to_arrow()
    assert written["args"][0].as_py() == "at(lift(a),3)|q"
    learnt = check(HEADS.format("up(at(lift(+w),3),q)") + "modeb(happensAt(at(+w,#n),+time))",
                   [{"at": AT}, written], ["initiatedAt(up(at(lift(X), 3), q), T) :- happensAt(at(X, 3), T).",
                                           "terminatedAt(up(at(lift(X), 3), q), T) :- happensAt(at(X, 1), T)."])
    assert as_found(learnt.predict()) == as_found(written)


def test_facts_of_several_tables_are_in_order_of_time() -> None:
    halves = [AT.slice(len(AT) // 2), AT.slice(0, len(AT) // 2)]
    learnt = ev.learn(PLAIN + "modeb(happensAt(at(+w,#n),+time))\n", {"at": halves, "up": IS_UP}, batch=20)
    times = learnt.facts(0)["at"]["time"].to_pylist()
    assert times == sorted(times) and len(times) == len(AT)


def test_inputs_that_come_as_intervals_are_written_as_intervals() -> None:
    labels = holding(lambda time, who: any(start <= time < end for start, end, each in NEAR if each == who),
                     lambda time, who: LEVELS[time, who] == 3)
    learnt = check(PLAIN + "modeb(holdsAt(near(+w),+time))\nmodeb(happensAt(at(+w,#n),+time))\n",
                   {"at": AT, "near": columns(*NEAR, names=["start", "end", "who"]),
                    "up": columns(*labels, names=["time", "who"])})
    assert any("holdsAt(near(X), T)" in str(rule.clause) for rule in learnt.rules)
    assert learnt.facts(0)["near"].column_names == ["time", "end", "arg1", "value"]


@pytest.mark.parametrize("condition", ["holdsAt(near(+w),+time)", "happensAt(close(+w),+time)"])
def test_inputs_that_come_as_intervals_may_have_open_ends(condition: str) -> None:
    spells = [(20, None, "a"), (3, 9, "b"), (40, None, "b")]
    labels = [(time, who) for start, end, who in spells for time in range(start + 1, (end or POINTS - 1) + 1)]
    close = Clauses("b.ec", "collectIntervals(near(_)=true).\n"
                            "happensAt(close(X), T) :- happensAt(at(X, _), T), holdsAt(near(X)=true, T).")
    learnt = ev.learn(f"{PLAIN}modeb({condition})\nmodeb(not {condition})\ninputPredicate(happensAt(at(+w,#n),+time))\n"
                      "inputPredicate(holdsAt(near(+w),+time))", {
        "at": AT, "near": columns(*spells, names=["start", "end", "who"]),
        "up": columns(*labels, names=["time", "who"])}, background=[close] if "close" in condition else [], batch=20)
    assert as_found(learnt.program.run(learnt.facts(0)).to_arrow()) == as_found(learnt.predict()) == [
        ("a", "true", 21, None), ("b", "true", 4, 10), ("b", "true", 41, None)]


def test_points_are_those_that_a_run_observes() -> None:
    """Neither labels of another fluent, nor facts without the constant of the mode, where an interval goes on."""
    modes = PLAIN + HEADS.format("down(+w)") + "modeb(holdsAt(up(+w),+time))\nmodeb(happensAt(at(+w,3),+time))\n" \
        "modeb(holdsAt(near(+w),+time))"
    at = columns((5, "a", 3), (6, "a", 1), (9, "a", 3), names=["time", "who", "level"])
    near = columns((0, 20, "a"), names=["start", "end", "who"])
    labels = columns((7, "a"), (9, "a"), names=["time", "who"])
    learnt = ev.learn(modes, {"at": at, "near": near, "up": labels, "down": labels})
    assert learnt.targets["up"].examples.times.tolist() == [5, 9] == learnt.targets["down"].examples.times.tolist()


def test_what_background_reads_and_no_mode_names_is_written() -> None:
    rules = [Clauses("b.ec", """happensAt(three(X), T) :- happensAt(at(X, 3), T).
        initiatedAt(low(X)=true, T) :- happensAt(at(X, 1), T).
        terminatedAt(low(X)=true, T) :- happensAt(at(X, 2), T).
        vip(a).""")]
    learnt = check(PLAIN + "modeb(happensAt(three(+w),+time))\nmodeb(holdsAt(low(+w),+time))\nmodeb(vip(+w))\n"
                   "inputPredicate(happensAt(tick,+time))\n",
                   {"at": AT, "up": IS_UP, "tick": pa.table({"time": range(POINTS)})}, background=rules)
    assert sorted(learnt.facts(0)) == ["at", "tick"]
    times = learnt.facts(0)["at"]["time"].to_pylist()
    assert times == sorted(times)
    mixed = {"at": AT.sort_by("level"), "up": IS_UP, "tick": pa.table({"time": range(POINTS)})}
    assert ev.learn(learnt.modes, mixed, background=rules).facts(0)["at"]["time"].to_pylist() == times
