"""`eventide report`: by the ending of its output, and one clear message for each mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.report.samples import MIDNIGHT, Sample, sample

from eventide.cli.main import main
from eventide.formats import write_intervals


@pytest.fixture(scope="module")
def ships() -> Sample:
    return sample(vessels=12, situations=60)


@pytest.fixture
def result(tmp_path: Path, ships: Sample) -> Path:
    file = tmp_path / "result.csv"
    write_intervals(ships.table, file)
    return file


def test_html_with_a_map(result: Path, tmp_path: Path, ships: Sample, capsys: pytest.CaptureFixture[str]) -> None:
    positions, vessels, areas, out = (tmp_path / name for name in ("p.parquet", "v.csv", "a.json", "report.html"))
    pq.write_table(ships.positions, positions)
    vessels.write_text("mmsi,name,type\n227000000,Aurora,tug\n")
    areas.write_text(json.dumps({"type": "FeatureCollection", "features": [{
        "type": "Feature", "properties": {"name": "Iroise", "kind": "protected"},
        "geometry": {"type": "Polygon", "coordinates": [[[-5, 48], [-4, 48], [-4, 49], [-5, 48]]]}}]}))
    command = ["report", str(result), "--positions", str(positions), "--vessels", str(vessels), "--areas", str(areas)]
    assert main([*command, "-o", str(out)]) == 0
    text = out.read_text()
    assert text.startswith("<!doctype html>") and "Aurora" in text and "Iroise" in text and 'id="map"' in text
    assert "http" not in text.replace("http-equiv", "") and "src=" not in text
    assert f"wrote {len(ships.rows)} intervals to {out}" in capsys.readouterr().err
    with_land = len(text)
    assert main([*command, "--no-coast", "-o", str(out)]) == 0
    assert len(out.read_text()) < with_land


def test_reports_of_another_layout(result: Path, tmp_path: Path, ships: Sample) -> None:
    positions, out = tmp_path / "feed.csv", tmp_path / "report.html"
    rows = ["MMSI,BaseDateTime,LAT,LON,SOG,COG,Heading,VesselName,VesselType"]
    rows += [f"{vessel},2022-01-03T0{hour}:00:00,{48 + hour / 10},-5.2,9.1,30,31,AURORA {vessel},31"
             for vessel in ships.names for hour in range(6)]
    positions.write_text("\n".join(rows) + "\n")
    assert main(["report", str(result), "--positions", str(positions), "-o", str(out)]) == 0
    text = out.read_text()
    assert "AURORA 227000000" in text and f"{6 * len(ships.names)} positions of {len(ships.names)} vessels" in text


def test_positions_that_cannot_be_shown_are_counted(result: Path, tmp_path: Path, ships: Sample) -> None:
    positions, out = tmp_path / "p.parquet", tmp_path / "report.html"
    strange = pa.table({"vessel": [1, 2, 3], "time": [17, MIDNIGHT, MIDNIGHT], "lon": [1.0, 181.0, None],
                        "lat": [50.0, 50.0, 50.0]})
    many = sample(vessels=12, reports=500).positions
    pq.write_table(pa.concat_tables([many, strange]), positions)
    assert main(["report", str(result), "--positions", str(positions), "-o", str(out)]) == 0
    text = out.read_text()
    assert "6,000 positions of 12 vessels" in text and "2022-01-03 00:00:00 to 06:00:00 UTC" in text
    assert "1 position not on the map: a time far from all others" in text
    assert "2 positions not on the map: no place on earth" in text


def test_equal_results_give_equal_files(result: Path, tmp_path: Path) -> None:
    for ending in ("html", "svg", "png", "txt"):
        found = []
        for number in range(2):
            out = tmp_path / f"{number}.{ending}"
            assert main(["-q", "report", str(result), "--title", "same", "-o", str(out)]) == 0
            found.append(out.read_bytes())
        assert found[0] == found[1]


def test_text_on_standard_output(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(result), "--fluents", "stopped", "--width", "80", "-o", "-"]) == 0
    printed = capsys.readouterr()
    assert printed.err == "" and printed.out.startswith("stopped 2270")
    assert all(len(line) <= 80 for line in printed.out.splitlines()[:-2])


def test_pictures(result: Path, tmp_path: Path) -> None:
    assert main(["report", str(result), "-o", str(tmp_path / "t.svg"), "--width", "700", "--rows", "5"]) == 0
    svg = (tmp_path / "t.svg").read_text()
    assert 'width="700"' in svg and "more rows" in svg
    assert main(["report", str(result), "-o", str(tmp_path / "t.png"), "--title", "Ships"]) == 0
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("name", "content", "message", "hint"), [
    ("r.csv", "fluent,args,value,begin,end\nf,a,true,1,2\n", "no column start", "a result has the columns"),
    ("r.csv", "fluent,args,value,start,ende\nf,a,true,1,2\n", "no column end", "did you mean ende?"),
    ("r.csv", "fluent,args,value,start,end\nf,a,true,soon,2\n", "start is 'soon', which is no time", "7/3"),
    ("r.csv", "fluent,args,value,start,end\nf,a,true\n", "the row has 3 fields", "empty fields"),
    ("r.xlsx", "", "the ending does not say how to read the result", "known endings: .csv"),
    ("r.parquet", "no parquet", "no Parquet file", "is the file complete"),
])
def test_wrong_results(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, message: str,
                       hint: str) -> None:
    (tmp_path / name).write_text(content)
    assert main(["report", str(tmp_path / name), "-o", str(tmp_path / "out.html")]) == 1
    told = capsys.readouterr().err
    assert told.count("error: ") == 1 and message in told and hint in told
    assert not (tmp_path / "out.html").exists()


@pytest.mark.parametrize(("content", "message", "hint"), [
    ("vessel,time,lon\n7,1,2\n", "no column lat", "known names: lat, latitude"),
    ("vessel,time,lon,lat\n7,noon,2,3\n", "the column time holds something else than numbers", "seconds since 1970"),
])
def test_wrong_positions(result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, message: str,
                         hint: str) -> None:
    positions = tmp_path / "p.csv"
    positions.write_text(content)
    assert main(["report", str(result), "--positions", str(positions), "-o", str(tmp_path / "out.html")]) == 1
    told = capsys.readouterr().err
    assert told.count("error: ") == 1 and message in told and hint in told


def test_wrong_usage(result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(result), "-o", str(tmp_path / "r.pdf")]) == 2
    assert "known are .html, .svg, .png, .txt, and - for the terminal" in capsys.readouterr().err
    assert main(["report", str(result), "--positions", "p.csv", "-o", str(tmp_path / "r.svg")]) == 2
    assert main(["report", str(result)]) == 2
    assert main(["report", str(tmp_path / "absent.csv"), "-o", str(tmp_path / "r.svg")]) == 1
    assert main(["report", str(result), "-o", str(tmp_path / "absent" / "r.svg")]) == 1
    assert "mkdir -p" in capsys.readouterr().err
    assert main(["report", str(result), "--fluents", "stoped", "-o", "-"]) == 1
    assert "did you mean stopped?" in capsys.readouterr().err


def test_an_empty_result_is_no_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("fluent,args,value,start,end\n")
    assert main(["report", str(empty), "-o", "-"]) == 0
    assert capsys.readouterr().out == "nothing was recognised\n"
    assert main(["report", str(empty), "-o", str(tmp_path / "r.html")]) == 0
    assert "Nothing was recognised." in (tmp_path / "r.html").read_text()
