"""The applications' own event descriptions give RTEC's recorded answers; in windows, but for its defects."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numba
import pytest
from tests.engine.windowed_golden import KNOWN, classified

import eventide as ev
from eventide.applications import APPLICATIONS

Locate = Callable[[str], Path]


class Golden(NamedTuple):
    """A recorded run: our application, its setting, input files and background relations."""

    application: str
    setting: str
    events: tuple[str, ...]
    background: tuple[tuple[str, str], ...] = ()


CTM = ("abrupt_acceleration", "abrupt_deceleration", "internal_temperature_change", "noise_level_change",
       "passenger_density_change", "sharp_turn", "stop_enter_leave")
GOLDEN = {
    "toy": Golden("toy", "c_single50", ("toy/toy_data.csv",)),
    "caviar": Golden("activity", "c_single1007000", ("caviar/appearance.csv.gz", "caviar/movementB.csv.gz")),
    "ctm": Golden("transport", "c_single10000", tuple(f"ctm/{name}.csv.gz" for name in CTM)),
    "voting": Golden("voting", "c_single60", ("voting/voting.csv.gz",), (("motion", "voting/motions.csv"),)),
    "netbill": Golden("netbill", "c_single60", ("netbill/negotiation-40-1.csv.gz",), (("goods", "netbill/goods.csv"),)),
    "maritime": Golden("maritime", "c_single43200", ("maritime/maritime_synthetic.csv.gz",), (
        ("vessel", "maritime/vessels.csv"), ("typeSpeed", "maritime/type_speeds.csv"),
        ("areaType", "maritime/areas.csv"))),
}


def rows_of(file: Path) -> list[dict[str, str]]:
    with gzip.open(file, "rt", newline="") as text:
        return list(csv.DictReader(text))


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="too much data for loops that are not compiled")
@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_single_window(name: str, shared_data: Locate) -> None:
    golden = GOLDEN[name]
    folder = shared_data(f"golden/rtec/{name}/{golden.setting}")
    params = json.loads((folder / "params.json").read_text())
    background = [f"{relation}={shared_data(f'data/applications/{file}')}" for relation, file in golden.background]
    program = ev.load(APPLICATIONS[golden.application].rules, background=background)
    events = [shared_data(f"data/rtec/{file}") for file in golden.events]
    wanted = sorted((r["fluent"], r["args"], r["value"], int(r["start"]), int(r["end"]))
                    for r in rows_of(folder / "printed.csv.gz"))
    options = {"window": params["window"], "step": params["step"], "start": params["start"], "end": params["end"],
               "tick": params["clock_tick"], "emit": "windows"}
    result = program.run(events, fluents=sorted({row[0] for row in wanted}), **options)
    found = sorted((r["fluent"], r["args"], r["value"], r["start"], r["end"]) for r in result.to_arrow().to_pylist())
    assert found == wanted
    if (folder / "events.csv.gz").exists():
        recorded = rows_of(folder / "events.csv.gz")
        names = sorted({r["event"] for r in recorded})
        answer = program.run(events, fluents=names, **options).to_arrow().to_pylist()
        assert sorted(known_arguments(r["fluent"], r["args"], r["start"]) for r in answer) == sorted(
            known_arguments(r["event"], r["args"], int(r["time"])) for r in recorded)


def known_arguments(name: str, args: str, time: int) -> tuple[str, tuple[str, ...], int]:
    """An event without the last argument, which RTEC leaves unbound in its record."""
    return name, tuple(args.split("|")[:-1]), time


@pytest.mark.parametrize(("name", "setting"), sorted(KNOWN))
def test_windows(name: str, setting: str, shared_data: Locate) -> None:
    golden = GOLDEN[name]
    folder = shared_data(f"golden/rtec/{name}/{setting}")
    params = json.loads((folder / "params.json").read_text())
    background = [f"{relation}={shared_data(f'data/applications/{file}')}" for relation, file in golden.background]
    program = ev.load(APPLICATIONS[golden.application].rules, background=background)
    recorded = [(int(r["query_time"]), r["fluent"], r["args"], r["value"], int(r["start"]), int(r["end"]))
                for r in rows_of(folder / "printed.csv.gz")]
    result = program.run([shared_data(f"data/rtec/{file}") for file in golden.events], window=params["window"],
                         step=params["step"], start=params["start"], end=params["end"], tick=params["clock_tick"],
                         emit="windows", fluents=sorted({row[1] for row in recorded}))
    found = [(r["query_time"], r["fluent"], r["args"], r["value"], r["start"], r["end"])
             for r in result.to_arrow().to_pylist()]
    assert classified(recorded, found) == KNOWN[name, setting]
