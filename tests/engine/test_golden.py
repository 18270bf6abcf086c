"""The applications' own event descriptions give RTEC's recorded answers on every executor; in windows, but for its
defects."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numba
import pytest
from tests.engine.windowed_golden import KNOWN, Row, classified
from tests.executors import Executor, Run

import eventide as ev
from eventide.applications import APPLICATIONS

Locate = Callable[[str], Path]


class Golden(NamedTuple):
    """A recorded run: our application, its setting, input files and background relations."""

    application: str
    setting: str
    events: tuple[str, ...]
    background: tuple[tuple[str, str], ...] = ()


LARGE = ("ctm", "maritime", "netbill")
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


class Recorded(NamedTuple):
    """What RTEC printed: the rows of fluents and the events."""

    rows: list[Row]
    events: list[tuple[str, str, int]]


def recorded(name: str, setting: str, shared_data: Locate) -> tuple[Run, Recorded]:
    """A recorded run as one of ours, and its answers."""
    golden = GOLDEN[name]
    folder = shared_data(f"golden/rtec/{name}/{setting}")
    params = json.loads((folder / "params.json").read_text())
    background = [f"{relation}={shared_data(f'data/applications/{file}')}" for relation, file in golden.background]
    program = ev.load(APPLICATIONS[golden.application].rules, background=background)
    rows = [(int(r["query_time"]), r["fluent"], r["args"], r["value"], int(r["start"]), int(r["end"]))
            for r in rows_of(folder / "printed.csv.gz")]
    printed = folder / "events.csv.gz"
    events = [(r["event"], r["args"], int(r["time"])) for r in rows_of(printed)] if printed.exists() else []
    options = {"window": params["window"], "step": params["step"], "start": params["start"], "end": params["end"],
               "tick": params["clock_tick"], "emit": "windows",
               "fluents": sorted({row[1] for row in rows} | {event[0] for event in events})}
    return Run(program, [shared_data(f"data/rtec/{file}") for file in golden.events], options), Recorded(rows, events)


def found_by(executor: Executor, run: Run) -> tuple[list[Row], list[tuple[str, str, int]]]:
    """The rows of fluents and the events of a run."""
    rows = executor.answers({"": run})[""]
    fluents = [(r["query_time"], r["fluent"], r["args"], r["value"], r["start"], r["end"]) for r in rows if r["value"]]
    return fluents, [(r["fluent"], r["args"], r["start"]) for r in rows if not r["value"]]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="too much data for loops that are not compiled")
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow_on_spark if name in LARGE else ())
                                  for name in sorted(GOLDEN)])
def test_single_window(name: str, executor: Executor, shared_data: Locate) -> None:
    run, wanted = recorded(name, GOLDEN[name].setting, shared_data)
    rows, events = found_by(executor, run)
    assert sorted(row[1:] for row in rows) == sorted(row[1:] for row in wanted.rows)
    if wanted.events:
        names = {event[0] for event in wanted.events}
        assert sorted(known_arguments(*event) for event in events if event[0] in names) == sorted(
            known_arguments(*event) for event in wanted.events)


def known_arguments(name: str, args: str, time: int) -> tuple[str, tuple[str, ...], int]:
    """An event without the last argument, which RTEC leaves unbound in its record."""
    return name, tuple(args.split("|")[:-1]), time


@pytest.mark.parametrize(("name", "setting"), [
    pytest.param(name, setting, marks=pytest.mark.slow_on_spark if name != "toy" else ())
    for name, setting in sorted(KNOWN)])
def test_windows(name: str, setting: str, executor: Executor, shared_data: Locate) -> None:
    run, wanted = recorded(name, setting, shared_data)
    rows, _ = found_by(executor, run)
    assert classified(wanted.rows, rows) == KNOWN[name, setting]
