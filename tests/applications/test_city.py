"""The city during events gives the reference answers: what is derived when, and what is remembered how long."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

import eventide as ev
from eventide.applications import APPLICATIONS

Locate = Callable[[str], Path]


@pytest.mark.parametrize(("name", "last"), [("example", 11), ("stream", 3000)])
def test_the_reference_answers(name: str, last: int, shared_data: Locate, tmp_path: Path) -> None:
    folder = shared_data("data/applications/city")
    areas = folder / "areas.csv"
    if name == "example":
        areas = tmp_path / "areas.csv"
        areas.write_text("area\nstreetA\nstreetB\n")
    program = ev.load(APPLICATIONS["city"].rules, background=[f"area={areas}"])
    rows = program.run(folder / f"{name}_input.csv", start=-1, end=last + 100).to_arrow().to_pylist()
    with (folder / f"{name}_golden.csv").open(newline="") as text:
        wanted = {(r["fluent"], r["args"], int(r["start"]), int(r["end"])) for r in csv.DictReader(text)}
    assert {(r["fluent"], r["args"], r["start"], r["end"]) for r in rows if r["value"] == "true"} == wanted
    with (folder / f"{name}_golden_events.csv").open(newline="") as text:
        derived = {(f"{r['derived']}Now", r["arg"], int(r["time"])) for r in csv.DictReader(text)}
    assert {(r["fluent"], r["args"], r["start"]) for r in rows if not r["value"]} == derived
