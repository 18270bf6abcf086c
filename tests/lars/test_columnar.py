"""Stratified programs by columns: the golden answers, and the same as clingo says with the whole program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from tests.lars.columns import answer_streams, answers_of, now_atoms, violations
from tests.oracle import lars, lars_clingo
from tests.oracle.lars_text import Shape, programs, streams

import eventide as ev

Stream = list[tuple[int, list[str]]]
END = 7


@settings(max_examples=40)
@given(programs(Shape()), streams(6, 3))
def test_columnar_is_the_answer_stream(text: str, stream: Stream) -> None:
    tree = lars.program(text)
    answers = answers_of(tree, stream, END)
    found, now = answer_streams(answers), now_atoms(answers)
    for t in range(END + 1):
        assert {found[t]} == lars_clingo.answer_streams(tree, stream, t), t
        assert now[t] == {atom for atom, time in found[t] if time == t}


@settings(max_examples=20)
@given(programs(Shape(contradictions=True, rules=2)), streams(4, 3))
def test_contradictions_are_told_with_their_instances(text: str, stream: Stream) -> None:
    tree = lars.program(text)
    answers = answers_of(tree, stream, END)
    told = violations(answers)
    for t, answer in enumerate(answer_streams(answers)):
        assert told[t] == lars.violations(tree, stream, t, answer)


def test_golden_programs(shared_data: Callable[[str], Path]) -> None:
    for case in json.loads(shared_data("golden/lars/programs.json").read_text()):
        if "nonstratified" in case["features"]:
            continue
        answers = answers_of(lars.program(case["program"]), case["stream"], case["horizon"])
        now, found, told = now_atoms(answers), answer_streams(answers), violations(answers)
        for key, expected in case["queries"].items():
            t = int(key)
            if expected is None:
                expected = case["contradictions"][key]["now"]
                wanted = case["contradictions"][key]["violations"]
                assert told[t] == {(item["rule"], tuple(item["binding"])) for item in wanted}, case["id"]
            else:
                earlier = {f"{atom}@{time}" for atom, time in found[t] if time != t}
                assert earlier == set(case["at_atoms"].get(key, [])), (case["id"], t)
                assert not told[t]
            assert now[t] == set(expected), (case["id"], t)


def test_golden_scenarios(shared_data: Callable[[str], Path]) -> None:
    for case in json.loads(shared_data("golden/lars/scenarios.json").read_text()):
        if case["id"].startswith("caching"):
            now = now_atoms(answers_of(lars.program(case["program"]), case["stream"], len(case["stream"]) - 1))
            assert all(now[int(t)] == set(query["model"]) for t, query in case["queries"].items()), case["id"]


@pytest.mark.parametrize(("text", "stream", "atom", "times"), [
    ("b :- a. c :- b [5].", [(1, ["a"])], "c", [1]),  # the earlier b was a conclusion, not data
    ("b at T :- a at T [5]. c :- b [3].", [(1, ["a"])], "c", [1, 2, 3, 4]),
    ("b :- a [2]. c :- b [2].", [(1, ["a"])], "c", [1, 2, 3]),
    ("c :- v(X) at T [3], X = T.", [(1, ["v(3)"]), (2, ["v(2)"])], "c", [2, 3, 4, 5]),  # a time is a number
    ("c :- r(T), not p at T [9].", [(1, ["p"]), (2, ["r(1)"]), (3, ["r(2)"])], "c", [3]),
    ("h at X :- p(X). c :- h [1].", [(3, ["p(2)"]), (4, ["p(9)"]), (5, ["p(4)"])], "c", [3, 5]),
    ("c :- v(X), Y = X / 2, Y = 3.", [(1, ["v(7)"]), (2, ["v(a)"]), (3, ["v(8)"])], "c", [1]),
    ("c :- v(X), X + 1 >= 3, w(X).", [(0, ["v(a)", "w(a)"]), (1, ["v(2)", "w(2)"])], "c", [1]),
    ("c :- v(X), X != 3.", [(0, ["v(a)"]), (1, ["v(3)"])], "c", [0]),
    ("c :- v(3).", [(0, ["v(a)"]), (1, ["v(3)"]), (2, ["v(3.0)"])], "c", [1]),
    ("c :- v(X), X = 3.", [(0, ["v(a)"]), (1, ["v(3)"]), (2, ["v(3.0)"])], "c", [1, 2]),
    ("c :- v(X) [1], w(X) [1], X >= 2.5.", [(0, ["v(3)", "w(3.0)"]), (3, ["v(2.5)"]), (4, ["w(2.5)"])], "c", [4]),
    ("reach(X,Y) :- e(X,Y). reach(X,Z) :- reach(X,Y), e(Y,Z). c :- reach(0,99).",
     [(0, [f"e({i},{i + 1})" for i in range(99)])], "c", [0]),  # deeper than the run is long
    ("z at T+1 :- z at T. z at T :- a at T. c :- z.", [(1, ["a"])], "c", [1, 2, 3, 4, 5, 6, 7]),
])
def test_small_programs(text: str, stream: Stream, atom: str, times: list[int]) -> None:
    now = now_atoms(answers_of(lars.program(text), stream, END))
    assert [t for t in range(END + 1) if atom in now[t]] == times


def test_a_second_time_takes_no_room() -> None:
    """What is concluded at a time has two of them: now, and the one it is about."""
    rules = "d0(Y) at T :- p(Y) at T [3600], q(Y) at T1 [3600], T < T1. c(Y) :- d0(Y) at T [7200]."
    program: Any = ev.parse(rules, language="lars")
    first = 1_700_000_000
    stream = [(first, ["p(u)"]), (first + 8 * 86_400, ["p(v)"]), (first + 8 * 86_400 + 60, ["q(v)", "q(u)"])]
    found = program.run(stream, start=first, end=first + 9 * 86_400).to_arrow().to_pylist()
    assert [(row["args"], row["start"], row["end"]) for row in found if row["fluent"] == "c"] == [
        ("v", first + 691_260, first + 694_801)]
