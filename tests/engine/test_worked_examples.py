"""The worked examples of the applications, and the reference answers of fleet and biology, through the engine."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.applications.test_cases import CASES
from tests.effort import profile
from tests.engine.running import shown

import eventide as ev
from eventide.applications import APPLICATIONS

Locate = Callable[[str], Path]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_expected_intervals(path: Path, tmp_path: Path) -> None:
    case: dict[str, Any] = json.loads(path.read_text())
    events, facts = tmp_path / "events.csv", tmp_path / "facts.ec"
    events.write_text("".join(f"{row}\n" for row in case["events"]))
    facts.write_text(case["background"])
    program = ev.load(APPLICATIONS[case["app"]].rules, background=[facts])
    last = case["start"] + case["window"]
    result = program.run(events, start=case["start"], end=last, tick=case["tick"])
    fluents, found_events = shown(result.to_arrow().to_pylist())
    found = {pair: [[s, e] for s, e in fluents.get(pair, []) if s <= last] for pair in case["expect"]}
    assert found == case["expect"]
    times: dict[str, list[int]] = {event: [] for event in case.get("expect_events", {})}
    for name, arguments, time in found_events:
        times.get(f"{name}({arguments})", []).append(time)
    assert times == case.get("expect_events", {})


def test_fleet(shared_data: Locate) -> None:
    folder = shared_data("data/applications/fleet")
    background = [f"vehicleType={folder}/vehicle_types.csv", f"speedLimit={folder}/type_speed_limits.csv",
                  f"tankSize={folder}/type_tank_sizes.csv"]
    program = ev.load(APPLICATIONS["fleet"].rules, background=background)
    rows = program.run(folder / "sample_input.csv", start=0, end=14400, window=14400, emit="windows").to_arrow()
    with (folder / "sample_golden.csv").open(newline="") as text:
        wanted = sorted((r["fluent"], r["args"], r["value"], int(r["start"]), int(r["end"]))
                        for r in csv.DictReader(text))
    assert sorted((r["fluent"], r["args"], r["value"], r["start"], r["end"]) for r in rows.to_pylist()) == wanted


@pytest.mark.parametrize(("loop", "last"), [pytest.param("immune", 200, marks=pytest.mark.slow), ("phage", 100)])
def test_biology(loop: str, last: int, shared_data: Locate, tmp_path: Path) -> None:
    wanted: dict[str, set[tuple[str, str, str, int, int]]] = defaultdict(set)
    with shared_data(f"data/applications/biology/golden_{loop}_{last}.csv").open(newline="") as text:
        for r in csv.DictReader(text):
            wanted[r["initial_values"]].add((r["fluent"], r["variable"], r["value"], int(r["start"]), int(r["end"])))
    program = ev.load(APPLICATIONS[loop].rules)
    file = tmp_path / "events.csv"
    step = 1 if profile() == "large" else len(wanted) // 4
    for initial, rows in list(wanted.items())[::step]:
        levels = [pair.split("=") for pair in initial.replace(";", " ").replace(",", " ").split()]
        file.write_text("".join(f"init|0|0|{variable}|{level}\n" for variable, level in levels))
        result = program.run(file, start=-1, end=last, fluents=["val", "f"]).to_arrow().to_pylist()
        found = {(r["fluent"], r["args"], r["value"], r["start"], min(r["end"] or last + 1, last + 1)) for r in result
                 if r["start"] <= last}
        assert found == rows, initial
