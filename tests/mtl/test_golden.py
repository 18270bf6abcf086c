"""The golden cases and the workloads of the shared data: exactly the expected intervals, also from MeTeoR's syntax."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import eventide as ev
from eventide.mtl.facts import facts_in
from eventide.mtl.program import MtlProgram, result_of

Shared = Callable[[str], Path]
NUMBER = 35


@pytest.fixture(scope="module")
def cases(shared_data: Shared) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shared_data("golden/mtl/cases.json").read_text())
    assert len(found) == NUMBER
    return found


def everything(program: MtlProgram, facts: list[str], horizon: Fraction) -> dict[str, list[str]]:
    """All atoms of the rules' predicates with their intervals, the given ones included."""
    names = list(dict.fromkeys(name for name, _ in program.known))
    return program.run(facts_in("\n".join(facts)), horizon=horizon, fluents=names).timeline()


@pytest.mark.parametrize("number", range(NUMBER))
def test_case(cases: list[dict[str, Any]], number: int) -> None:
    case = cases[number]
    program = ev.parse("\n".join(case["program"]), language="mtl")
    found = everything(program, case["facts"], Fraction(case["horizon"]))
    # facts that no rule reads are in the answer of the case, but are no part of the program
    known = {name for name, _ in program.known}
    assert found == {a: v for a, v in case["expected_all"].items() if a.partition("(")[0] in known}, case["note"]


@pytest.mark.parametrize("number", range(NUMBER))
def test_case_as_meteor_writes_it(cases: list[dict[str, Any]], number: int) -> None:
    case = cases[number]
    written, scale = case["meteor"], case["meteor"]["time_scale"]
    program = ev.parse("\n".join(written["program"]), language="mtl")
    assert [str(d.code) for d in program.check() if d.severity == "error"] == []
    found = everything(program, written["facts"], Fraction(case["horizon"]) * scale)
    own = everything(ev.parse("\n".join(case["program"]), language="mtl"), case["facts"], Fraction(case["horizon"]))
    assert {atom: [scaled(text, scale) for text in intervals] for atom, intervals in own.items()} == found


def scaled(interval: str, scale: int) -> str:
    """An interval with its ends multiplied."""
    low, high = (part if part.strip("-") == "inf" else str(Fraction(part) * scale) for part in
                 interval[1:-1].split(","))
    return f"{interval[0]}{low},{high}{interval[-1]}"


@pytest.mark.parametrize("name", ["weather_fp", "monitor", "shortstop", "clockwork"])
def test_workload(shared_data: Shared, name: str) -> None:
    program = ev.load(shared_data(f"data/mtl/{name}.mtl"))
    assert isinstance(program, MtlProgram)
    run = program.materialisation(shared_data(f"data/mtl/{name}.facts.gz")).run()
    assert run.cut == []
    known = {name for name, _ in program.known}
    found = result_of(run, program.wanted(sorted(known))).timeline()
    expected = []
    with gzip.open(shared_data(f"data/mtl/{name}.expected.txt.gz"), "rt") as lines:
        for line in lines:
            atom, _, interval = line.strip().partition("@")
            if atom.partition("(")[0] in known:
                expected.append((atom, scaled(interval, 1)))
    assert sorted((atom, interval) for atom, intervals in found.items() for interval in intervals) == sorted(expected)
