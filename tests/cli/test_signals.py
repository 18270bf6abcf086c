"""`eventide signals`: a folder of facts that `eventide run` reads, a summary by reason, and clear messages."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from eventide.cli.main import main

RULES = """
initiatedAt(stopped(V)=true, T) :- happensAt(stop_start(V), T).
terminatedAt(stopped(V)=true, T) :- happensAt(stop_end(V), T).
"""
FEED = ["mmsi,time,lon,lat,sog,cog,ship_type"] + [
    f"219014000,{60 * k},{10 + 0.001 * min(k, 5)},55.0,{8.0 if k < 5 else 0.1},90.0,30" for k in range(10)] + [
    "219014000,60,10.001,55.0,8.0,90.0,30", "123456789,0,10,55,1,1,", "219014000,630,181,91,1,1,"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "feed.csv").write_text("\n".join(FEED))
    (tmp_path / "rules.ec").write_text(RULES)
    return tmp_path


def test_facts_that_run_reads(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["signals", "feed.csv", "-o", "sea"]) == 0
    told = capsys.readouterr().err
    assert "kept 10 of 13 reports, of 1 vessel" in told
    for reason in ("duplicate", "no_place", "vessel"):
        assert f"rejected 1: {reason}" in told
    assert pq.read_table("sea/rejected.parquet")["reason"].to_pylist() == ["duplicate", "vessel", "no_place"]
    assert pq.read_table("sea/vessels.parquet")["type"].to_pylist()[-1] == "fishing"
    assert main(["-q", "run", "rules.ec", "--events", "sea/facts"]) == 0
    assert capsys.readouterr().out == "fluent,args,value,start,end\nstopped,219014000,true,301,\n"


def test_summary_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "signals", "feed.csv", "-o", "sea"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert {line["reason"]: line["rejected"] for line in lines if "reason" in line} == {
        "duplicate": 1, "no_place": 1, "vessel": 1}
    assert lines[-1]["facts"]["stop_start"] == 1


def test_thresholds_and_areas(folder: Path) -> None:
    area = {"type": "Feature", "properties": {"name": "bank", "kind": "fishing"}, "geometry": {
        "type": "Polygon", "coordinates": [[[10.0025, 54], [11, 54], [11, 56], [10.0025, 56], [10.0025, 54]]]}}
    (folder / "areas.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [area]}))
    assert main(["-q", "signals", "feed.csv", "--areas", "areas.geojson", "--gap", "30", "-o", "sea"]) == 0
    assert pq.read_table("sea/facts/entersArea.parquet")["area"].to_pylist()[0] == "bank"
    assert pq.read_table("sea/facts/gap_start.parquet").num_rows == 9


def test_what_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.csv").write_text("mmsi,time,lon,lat\n219014000,0,10,55\n219014000,noon,10,55\n")
    assert main(["signals", "bad.csv", "-o", "sea"]) == 1
    told = capsys.readouterr().err
    assert "bad.csv:3:2: error: time is 'noon'" in told and "--bad-rows skip" in told
    assert not (folder / "sea").exists()
    assert main(["signals", "bad.csv", "-o", "sea", "--bad-rows", "skip"]) == 0
    assert "rejected 1: unreadable" in capsys.readouterr().err
    assert main(["signals", "bad.csv", "-o", "lake", "--preset", "dna"]) == 2
    assert "Invalid value for '--preset': there is no preset 'dna'" in capsys.readouterr().err
    assert main(["-q", "run", "rules.ec", "--events", "sea"]) == 1
    assert "no event that the program knows" in capsys.readouterr().err
