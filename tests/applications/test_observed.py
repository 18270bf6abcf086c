"""Situations in real positions: the main job on files of providers, on Spark."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from eventide.applications.maritime import observed
from eventide.cli.main import main
from eventide.signals.proximity import proximity

DAY = 1_700_006_400
TUG, TANKER, QUAY_ONE, QUAY_TWO = 219_000_001, 219_000_002, 219_000_003, 219_000_004
PORT = {"type": "Feature", "properties": {"name": "harbour", "kind": "nearPorts"}, "geometry": {
    "type": "Polygon", "coordinates": [[[12.0, 56.0], [12.1, 56.0], [12.1, 56.1], [12.0, 56.1], [12.0, 56.0]]]}}


def _feed(path: Path) -> None:
    """Two hours: a tug with a tanker in tow, two vessels side by side at a quay, of which one is silent for an hour.

    Some rows are wrong: a place that does not exist, a report sent twice, one a day later.
    """
    rows = []
    for minute in range(0, 121, 2):
        for vessel, kind, off in ((TUG, 52, 0.0), (TANKER, 80, 0.002)):
            rows.append((vessel, DAY + 60 * minute, f"{12.0 + minute * 0.002 + off:.4f}", "57.0000", 40, 900, kind))
        for vessel, off in ((QUAY_ONE, 0.0), (QUAY_TWO, 0.001)):
            if vessel == QUAY_ONE or not 30 < minute < 90:
                rows.append((vessel, DAY + 60 * minute, f"{12.05 + off:.4f}", "56.0500", 0, 0, 70))
    rows[1:1] = [rows[0]]
    rows += [(TUG, DAY + 7290, "181", "91", 40, 900, 52), (TUG, DAY + 90_000, "14.0000", "57.0", 40, 900, 52)]
    lines = ["Schiff;Zeit;Longitude;Latitude;SOG;COG;ShipType"]
    lines += [";".join(str(value).replace(".", ",") for value in row) for row in rows]
    path.write_text("\n".join(lines) + "\n")


def _rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "intervals.csv").open(newline="") as text:
        return list(csv.DictReader(text))


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_files_of_a_provider(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _feed(tmp_path / "feed.csv")
    (tmp_path / "mapping.toml").write_text('vessel = "Schiff"\ntime = "Zeit"\nspeed_unit = "tenths"\n')
    (tmp_path / "port.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [PORT]}))
    out = tmp_path / "out"
    assert main(["demo", "maritime", "--positions", str(tmp_path / "feed.csv"), "--mapping",
                 str(tmp_path / "mapping.toml"), "--areas", str(tmp_path / "port.geojson"), "--out", str(out)]) == 0
    told = capsys.readouterr().out
    rows = _rows(out)
    found = {(row["fluent"], row["args"], row["value"]) for row in rows}
    assert ("tugging", f"{TUG}|{TANKER}", "true") in found
    assert ("anchoredOrMoored", str(QUAY_ONE), "true") in found
    assert ("gap", str(QUAY_TWO), "nearPorts") in found
    assert [row for row in rows if row["args"] == f"{QUAY_ONE}|{QUAY_TWO}"] == []  # both rest at the quay
    assert "duplicate 1" in told and "no_place 1" in told and "apart 1" in told
    assert "kinds anchorage, fishing, natura, nearCoast, nearCoast5k" in told
    assert "Silence of more than 10 min is a gap" in told
    assert f"{len(rows):,} maximal intervals" in told
    page = (out / "report.html").read_text()
    assert "Silence of more than 10 min is a gap" in page and "harbour" in page and "reports were left out" in page


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_facts_of_sparse_traffic(tmp_path: Path, shared_data: Callable[[str], Path]) -> None:
    with gzip.open(shared_data("data/ais/baltic_2018-04-01.csv.gz"), "rt") as whole:
        lines = list(islice(whole, 2001))
    (tmp_path / "baltic.csv").write_text("".join(lines))
    work = observed.Work(tmp_path, [str(tmp_path / "baltic.csv")])
    for stage in observed.STAGES[:5]:
        stage.do(work)
    notes = "\n".join(work.notes)
    assert "right to about a kilometre" in notes and "every stop counts as far from ports" in notes
    assert work.areas.kinds == ("nearCoast", "nearCoast5k")
    number = {path.stem: pq.read_metadata(path).num_rows for path in (tmp_path / "facts").glob("*.parquet")}
    assert number["velocity"] == 2000 and number["entersArea"] > 100 and number["stop_start"] > 100
    assert number["gap_start"] < 0.05 * 2000  # most reports are 6 minutes and more apart
    assert min(pq.read_table(tmp_path / "facts" / "velocity.parquet")["speed"].to_pylist()) > 0
    positions = work.signals.positions.toArrow().sort_by([("vessel", "ascending"), ("time", "ascending")])
    assert 0 < number["proximity"] < proximity(positions, work.nearness).num_rows


@pytest.mark.parametrize(("arguments", "message"), [
    (["toy", "--positions", "x.csv"], "only maritime works on positions"),
    (["maritime", "--gap", "60"], "name them with --positions"),
    (["maritime", "--areas", "x.geojson"], "name them with --positions"),
])
def test_wrong_usage(arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", *arguments, "--out", str(tmp_path)]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.usefixtures("spark")
def test_nothing_that_can_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "feed.csv").write_text("mmsi,time,lon,lat,sog\n219014000,100,181,91,0\n7,100,1,1,0\n")
    assert main(["demo", "--positions", str(tmp_path / "feed.csv"), "--out", str(tmp_path)]) != 0
    assert "none of 2 reports can be used: no_place 1, vessel 1" in capsys.readouterr().err
