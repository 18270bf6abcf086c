"""The city rules in LARS: the recorded conclusions of the example and of the stream, and the generated day."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import eventide as ev
from eventide.applications.city import LARS
from eventide.applications.city.generator import background, generate
from eventide.applications.streams import write_csv

CONCLUDED = {"limitedParking", "congestedRoad", "congestedRoadActivity", "freeRoadActivity", "highEmissionZone",
             "poorAirQuality", "limitedAccessArea", "increaseSecurity"}


@pytest.mark.parametrize(("name", "areas", "broken"), [
    ("example", ["streetA", "streetB"], [(9, 70)]), ("stream", None, [])])
def test_recorded_conclusions(shared_data: Callable[[str], Path], name: str, areas: list[str] | None,
                              broken: list[tuple[int, int]]) -> None:
    folder = shared_data("data/applications/city")
    known = f"area={folder / 'areas.csv'}" if areas is None else {"area": pa.table({"area": areas})}
    program = ev.load(LARS, background=[known])
    events = folder / f"{name}_input.csv"
    result = program.run(events, contradictions="flag", end=3000)
    found = {(row["start"] + i, row["fluent"], row["args"]) for row in result.to_arrow().to_pylist()
             if row["fluent"] in CONCLUDED for i in range(row["end"] - row["start"])}
    with (folder / f"{name}_golden_events.csv").open() as file:
        recorded = {(int(row["time"]), row["derived"], row["arg"]) for row in csv.DictReader(file)}
    assert found == {event for event in recorded if event[1] != "contradiction"}
    assert [(gap.start, gap.end) for gap in program.run(events, end=3000).no_answer] == broken


def test_a_generated_day(tmp_path: Path) -> None:
    write_csv(generate(5, seed=3), tmp_path / "day.csv")
    program = ev.load(LARS, background=[{"area": pa.table(background(5)["area"])}])
    result = program.run(tmp_path / "day.csv", contradictions="flag")
    rows = result.to_arrow().to_pylist()
    slow = {row["args"]: row for row in rows if row["fluent"] == "slow"}
    congested = {(row["args"], row["start"]) for row in rows if row["fluent"] == "congestedRoad"}
    assert slow.keys() == {area for area, _ in congested}
    for row in rows:
        if row["fluent"] == "slow":  # from the first slow reading until an hour after the last
            assert (row["args"], row["start"]) in congested
            assert row["end"] is None or (row["args"], row["end"] - 61) in congested
