"""Positions from files: the layouts of providers, units, times, NMEA, packed files, and what is said about bad ones."""

from __future__ import annotations

import gzip
import math
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eventide.errors import InputError
from eventide.signals import clean, critical_points, read_positions
from eventide.signals.layouts import PRESETS, layout_of
from eventide.signals.positions import POSITIONS, VESSELS
from eventide.signals.ship_types import CLASSES, ship_class

Write = Callable[..., Path]
START = 1641168000  # 2022-01-03
MARINECADASTRE = """MMSI,BaseDateTime,LAT,LON,SOG,COG,Heading,VesselName,IMO,CallSign,VesselType,Status,Length,Width,\
Draft,Cargo,TransceiverClass
367000001,2022-01-03T00:00:00,29.9,-90.1,10.5,171.5,174.0,"LADY, THE",IMO9000000,WDK1,52,0,30,10,2.5,52,A
367000002,2022-01-03T00:00:07,29.8,-90.2,0.0,360.0,511.0,,,,,,,,,,B
"""
DMA = """# Timestamp,Type of mobile,MMSI,Latitude,Longitude,Navigational status,ROT,SOG,COG,Heading,IMO,Callsign,Name,\
Ship type,Cargo type,Width,Length,Type of position fixing device,Draught,Destination,ETA,Data source type,A,B,C,D
03/01/2022 00:00:00,Class A,367000001,29.9,-90.1,Under way,0.0,10.5,171.5,174,,,LADY THE,Tug,,10,30,GPS,2.5,,,AIS,,,,
03/01/2022 00:00:07,Class B,367000002,29.8,-90.2,Unknown value,,0.0,,,,,,Undefined,,,,,,,,AIS,,,,
"""
PLAIN = """time,mmsi,lat,lon,sog,cog,heading,status,ship_type,length,width,draught
1641168000.0,367000001,29.9,-90.1,10.5,171.5,174,,TUG,30,10,2.5
1641168007.9,367000002,29.8,-90.2,0.0,,,,UNDEFINED,,,
"""
SEMICOLONS = """Schiff;Zeit;Breite;Laenge;SOG;COG;Heading;Typ;Draught
367000001;2022-01-03 00:00:00;29,9;-90,1;105;171,5;174;52;2,5
367000002;2022-01-03 00:00:07;29,8;-90,2;0;;;;
"""
MAPPING = 'vessel = "Schiff"\ntime = "Zeit"\nlat = "Breite"\nlon = "Laenge"\ntype = "Typ"\nspeed_unit = "tenths"\n'


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_(text: str | bytes, name: str = "feed.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write_


def rows(path: Path, **options: Any) -> list[tuple[Any, ...]]:
    """The positions of a file, unknown values as None."""
    table = read_positions(path, **options).positions
    assert table.schema == POSITIONS
    return [tuple(None if isinstance(v, float) and math.isnan(v) else v for v in row.values())
            for row in table.to_pylist()]


FIRST = (367000001, START, -90.1, 29.9, 10.5, 171.5, 174.0)
SECOND = (367000002, START + 7, -90.2, 29.8, 0.0, None, 511.0)


@pytest.mark.parametrize(("text", "layout"), [(DMA, "dma"), (PLAIN, "ais")])
def test_presets(text: str, layout: str, write: Write) -> None:
    path = write(text)
    assert rows(path) == rows(path, preset=layout) == [FIRST, SECOND]
    found = read_positions(path)
    assert found.layouts == {str(path): layout}
    assert found.vessels.schema == VESSELS
    assert found.vessels["type"].to_pylist() == ["tug", "unknown"]
    assert found.vessels["draught"].to_pylist()[0] == 2.5


def test_marinecadastre(write: Write) -> None:
    path = write(MARINECADASTRE)
    assert rows(path) == rows(path, preset="marinecadastre") == [FIRST, (*SECOND[:5], 360.0, 511.0)]
    vessels = read_positions(path).vessels.to_pylist()
    assert [(v["vessel"], v["type"], v["name"]) for v in vessels] == [(367000001, "tug", "LADY, THE"),
                                                                      (367000002, "unknown", None)]


def test_another_provider_by_a_mapping(write: Write) -> None:
    mapping = write(MAPPING, "mapping.toml")
    path = write(SEMICOLONS)
    assert rows(path, mapping=mapping) == [FIRST, SECOND]
    assert read_positions(path, mapping=mapping).vessels["type"].to_pylist() == ["tug", "unknown"]


TIMES = {
    "iso, blank": "2022-01-03 00:00:00", "iso, T": "2022-01-03T00:00:00", "iso, zone": "2022-01-03T00:00:00Z",
    "iso, other zone": "2022-01-03T02:00:00+02:00", "iso, parts of seconds": "2022-01-03T00:00:00.250",
    "seconds": "1641168000", "milliseconds": "1641168000999", "microseconds": "1641168000999999",
    "seconds with parts": "1641168000.75", "day first": "03/01/2022 00:00:00",
}


@pytest.mark.parametrize("name", TIMES)
def test_forms_of_times(name: str, write: Write) -> None:
    path = write(f"mmsi,timestamp,lon,lat\n367000001,{TIMES[name]},1,2\n367000002,,1,2\n")
    found = read_positions(path).positions["time"].to_pylist()
    assert found == [START, -(2**63)]
    assert clean(read_positions(path).positions).counts == {"time": 1}


def test_a_pattern_of_times(write: Write) -> None:
    path = write("mmsi,t,lon,lat\n367000001,3.1.2022 00:00,1,2\n")
    assert rows(path, mapping={"time_format": "%d.%m.%Y %H:%M"})[0][1] == START


def test_units_of_speed(write: Write) -> None:
    path = write("mmsi,t,lon,lat,speed\n367000001,0,1,2,36\n")
    expected = {"knots": 36.0, "tenths": 3.6, "m/s": 69.978402, "km/h": 19.438445}
    assert {unit: rows(path, mapping={"speed_unit": unit})[0][4] for unit in expected} == expected


def test_names_that_are_no_utf_8(write: Write) -> None:
    path = write("mmsi,t,lon,lat,name\n367000001,0,1,2,MØN\n".encode("latin-1"))
    assert read_positions(path).vessels["name"].to_pylist() == ["MØN"]


def test_packed_files_and_several(write: Write, tmp_path: Path) -> None:
    packed = write(gzip.compress(PLAIN.encode()), "feed.csv.gz")
    archive = tmp_path / "feed.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("AIS_2022_01_03.csv", MARINECADASTRE)
    assert rows(packed) == [FIRST, SECOND]
    assert [row[0] for row in rows(archive)] == [367000001, 367000002]
    both = read_positions([packed, archive])
    assert both.positions.num_rows == 4 and both.vessels["name"].to_pylist() == ["LADY, THE", None]
    assert list(both.layouts.values()) == ["ais", "marinecadastre"]


def test_tables_with_types(tmp_path: Path) -> None:
    path = tmp_path / "feed.parquet"
    when = datetime(2022, 1, 3, tzinfo=UTC)
    pq.write_table(pa.table({"MMSI": ["367000001", None], "when": [when, when], "Longitude": [-90.1, 5],
                             "Latitude": [29.9, None], "ship_type": [52, None]}), path)
    found = read_positions(path, mapping={"time": "when"})
    assert found.positions["vessel"].to_pylist() == [367000001, -1]
    assert found.positions["time"].to_pylist() == [START, START]
    assert found.vessels.to_pylist()[0]["type"] == "tug"


# -- NMEA --------------------------------------------------------------------------------------------------------------

MOVING = "!AIVDM,1,1,,B,15MgK45P3@G?fl0E`JbR0OwT0@MS,0*4D"
STATIC = ("!AIVDM,2,1,4,A,55O0W7`00001L@gCWGA2uItLth@DqtL5@F22220j1h742t0Ht0000000,0*08",
          "!AIVDM,2,2,4,A,000000000000000,2*20")
TAGGED = {
    "tag block": f"\\s:r003669945,c:1641168000*4F\\{MOVING}",
    "tag block in milliseconds": f"\\c:1641168000123*4F\\{MOVING}",
    "number before": f"1641168000 {MOVING}", "number and comma before": f"1641168000.5,{MOVING}",
    "iso before": f"2022-01-03T00:00:00Z {MOVING}", "number behind": f"{MOVING},r003669945,1641168000",
}


@pytest.mark.parametrize("name", TAGGED)
def test_nmea_times(name: str, write: Write) -> None:
    assert rows(write(TAGGED[name] + "\n", "feed.nmea")) == [
        (366730000, START, -122.392533, 37.803803, 20.8, 51.3, 511.0)]


def test_nmea_of_several_parts_and_damaged_lines(write: Write) -> None:
    lines = [f"1641168000 {STATIC[0]}", f"1641168001 {MOVING}", f"1641168001 {STATIC[1]}", MOVING,
             MOVING[:-1] + "F", MOVING[:20], "# a remark", ""]
    found = read_positions(write("\n".join(lines), "feed.txt"))
    assert found.positions["time"].to_pylist() == [START + 1, START + 1]
    assert found.vessels.to_pylist() == [
        {"vessel": 368060190, "type": "pilotvessel", "draught": pytest.approx(math.nan, nan_ok=True),
         "name": "P/V_GOLDEN_GATE"}]
    assert found.bad == 2
    assert [problem.span.line for problem in found.problems if problem.span] == [5, 6]


# -- what is wrong -----------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "missing column": ("mmsi,time,latitude,longtude\n1,2,3,4\n", {},
                       ["feed.csv:1:1", "no column lon", "mmsi, time, latitude, longtude", "is it longtude?"]),
    "missing column of a mapping": ("mmsi,time,lat,lon,spd\n1,2,3,4,5\n", {"mapping": {"speed": "sp"}},
                                    ["no column sp for speed", "did you mean spd?"]),
    "wrong separator": ("mmsi;time;lat;lon\n1;2;3;4\n", {"mapping": {"separator": ","}},
                        ["separated by semicolons, not by commas", "separator = ';'"]),
    "no separator": ("mmsi time lat lon\n1 2 3 4\n", {}, ["one field", "separator ="]),
    "mixed times": ("mmsi,time,lat,lon\n1,2022-01-03T00:00:00,3,4\n1,03/01/2022 00:01:00,3,4\n1,5,3,4\n", {},
                    ["feed.csv:3:2", "'03/01/2022 00:01:00'", "this one is dd/mm/yyyy", "one form"]),
    "unknown times": ("mmsi,time,lat,lon\n1,noon,3,4\n", {}, ["the time 'noon'", "time_format"]),
    "impossible date": ("mmsi,time,lat,lon\n1,2022-01-03T00:00:00,3,4\n1,2022-13-03T00:00:00,3,4\n", {},
                        ["feed.csv:3:2", "'2022-13-03T00:00:00'"]),
    "no number": ("mmsi,time,lat,lon\n1,2,north,4\n", {}, ["feed.csv:2:3", "lat is 'north'", "no number"]),
    "decimal comma": ("mmsi;time;lat;lon\n1;2;3.0;4.0\n1;2;3,5;4\n", {}, ["feed.csv:3:3", 'decimal = ","']),
    "ragged row": ("mmsi,time,lat,lon\n1,2,3,4\n1,2,3\n", {}, ["feed.csv:3:1", "3 fields, the header 4"]),
    "empty file": ("\n\n", {}, ["the file is empty"]),
    "no such preset": (PLAIN, {"preset": "danish"}, ["no preset 'danish'", "dma"]),
    "no such key": (PLAIN, {"mapping": {"sped": "sog"}}, ["a mapping has no 'sped'", "did you mean speed?"]),
    "no such unit": (PLAIN, {"mapping": {"speed_unit": "mph"}}, ["speed_unit is 'mph'", "tenths"]),
    "nmea without times": (MOVING + "\n", {}, ["no line says when it was received", "TAG block"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_clear_message(name: str, write: Write) -> None:
    text, options, parts = WRONG[name]
    with pytest.raises(InputError) as caught:
        read_positions(write(text), **options)
    for part in parts:
        assert part in str(caught.value)
    assert len(caught.value.diagnostics) <= 1


def test_truncated_files(write: Write, tmp_path: Path) -> None:
    packed = gzip.compress(PLAIN.encode() * 50)
    with pytest.raises(InputError, match=r"(?s)the gzip file is cut off.*download the file again"):
        read_positions(write(packed[:-20], "feed.csv.gz"))
    archive = tmp_path / "feed.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("feed.csv", PLAIN * 50)
    with pytest.raises(InputError, match=r"(?s)the zip file is damaged or cut off.*download the file again"):
        read_positions(write(archive.read_bytes()[:-30], "cut.zip"))
    with pytest.raises(InputError, match="cannot read the file"):
        read_positions(tmp_path / "absent.csv")


def test_bad_rows_can_be_skipped_and_are_counted(write: Write) -> None:
    lines = ["mmsi,time,lat,lon", "367000001,5,3,4", "367000001,65,north,4", "367000001,noon,3,4", "367000001,6",
             "367000001,125,3,4"]
    text = "\n".join(lines)
    found = read_positions(write(text), bad_rows="skip")
    assert found.bad == 3 and [p.span.line for p in found.problems if p.span] == [3, 4, 5]
    assert found.positions.num_rows == 4
    assert clean(found.positions).counts == {"no_place": 1, "time": 1}


# -- what ships are ----------------------------------------------------------------------------------------------------


def test_classes_of_ships(shared_data: Callable[[str], Path]) -> None:
    known = {line.split(",")[0] for line in shared_data("data/applications/maritime/type_speeds.csv").read_text()
             .splitlines()[1:]}
    assert known <= set(CLASSES)
    assert {ship_class(code) for code in range(256)} <= known | {"unknown"}
    assert [ship_class(code) for code in (30, 31, 36, 50, 51, 52, 60, 70, 71, 84, 89, 0, 1025)] == [
        "fishing", "tug", "sailingvessel", "pilotvessel", "sar", "tug", "passenger", "cargo", "cargo-hazarda(major)",
        "tanker-hazardd(recognizable)", "tanker", "unknown", "tug"]
    assert all(ship_class(name) == name for name in CLASSES)


def test_presets_name_the_needed_columns() -> None:
    for name in PRESETS:
        layout = layout_of(name)
        assert layout is not None and {"vessel", "time", "lon", "lat"} <= set(layout.columns())


@pytest.mark.parametrize(("file", "most"), [("us_2022-01-03", 0.005), ("baltic_2018-04-01", 0.001)])
def test_recorded_traffic(file: str, most: float, shared_data: Callable[[str], Path]) -> None:
    found = read_positions(shared_data(f"data/ais/{file}.csv.gz"))
    cleaned = clean(found.positions)
    assert 0 < sum(cleaned.counts.values()) < most * cleaned.read
    facts = critical_points(cleaned.positions)
    assert facts["velocity"].num_rows > 0.99 * cleaned.positions.num_rows
    assert all(facts[name].num_rows > 0 for name in facts)
    assert facts["stop_start"].num_rows >= facts["stop_end"].num_rows
