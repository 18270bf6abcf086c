"""Files of areas in all formats, and what is said of those that are wrong."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from eventide.errors import InputError
from eventide.signals.area_files import read_areas

SQUARE = [[-5.0, 48.0], [-4.0, 48.0], [-4.0, 49.0], [-5.0, 49.0], [-5.0, 48.0]]
HOLE = [[-4.6, 48.4], [-4.4, 48.4], [-4.4, 48.6], [-4.6, 48.6], [-4.6, 48.4]]
BOW = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]


def feature(rings: Any, form: str = "Polygon", /, **properties: object) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": {"type": form, "coordinates": rings}}


def geojson(folder: Path, *features: Any) -> Path:
    file = folder / "areas.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return file


def shapefile(folder: Path, shapes: list[tuple[int, list[Any]]], names: list[str] | None = None) -> Path:
    """A shapefile as the format's description has it."""
    body = b""
    for number, (kind, parts) in enumerate(shapes, 1):
        points = np.array([point for part in parts for point in part], "<f8").reshape(-1, 2)
        if kind == 1:
            content = struct.pack("<i2d", 1, *points[0])
        elif kind == 0:
            content = struct.pack("<i", 0)
        else:
            begins = np.cumsum([0, *(len(part) for part in parts[:-1])]).astype("<i4")
            box = [*points.min(axis=0), *points.max(axis=0)]
            content = struct.pack("<i4d2i", kind, *box, len(parts), len(points)) + begins.tobytes() + points.tobytes()
        body += struct.pack(">2i", number, len(content) // 2) + content
    file = folder / "areas.shp"
    head = struct.pack(">7i", 9994, 0, 0, 0, 0, 0, (100 + len(body)) // 2) + struct.pack("<2i8d", 1000, 5, *[0.0] * 8)
    file.write_bytes(head + body)
    if names is not None:
        field = b"NAME".ljust(11, b"\0") + b"C" + bytes(4) + bytes([20, 0]) + bytes(14)
        records = b"".join(b" " + name.encode().ljust(20) for name in names)
        header = struct.pack("<B3BIHH", 3, 95, 1, 1, len(names), 65, 21) + bytes(20)
        file.with_suffix(".dbf").write_bytes(header + field + b"\r" + records + b"\x1a")
    return file


def test_geojson(tmp_path: Path) -> None:
    file = geojson(tmp_path, feature([SQUARE, HOLE], name="Iroise", kind="natura"),
                   feature([[SQUARE], [[[x + 3, y] for x, y in SQUARE]]], "MultiPolygon", Name="Both", TYPE="fishing"),
                   feature([SQUARE], kind="fishing"))
    areas = read_areas(file)
    assert [(area.name, area.kind) for area in areas] == [
        ("Iroise", "natura"), ("Both", "fishing"), ("fishing_3", "fishing")]
    assert [round(shapely.area(area.shape), 6) for area in areas] == [0.96, 2.0, 1.0]
    assert {area.kind for area in read_areas(file, "anchorage")} == {"anchorage"}
    assert [area.name for area in read_areas(file, name_field="kind", kind="x")] == ["natura", "x_2", "fishing"]


def test_a_packed_file(tmp_path: Path) -> None:
    plain = geojson(tmp_path, feature([SQUARE], kind="natura"))
    packed = tmp_path / "areas.geojson.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert len(read_areas(packed)) == 1


def test_a_shapefile(tmp_path: Path) -> None:
    clockwise, other = SQUARE[::-1], [[x + 3, y] for x, y in SQUARE[::-1]]
    inner = [[x + 3, y] for x, y in HOLE]
    file = shapefile(tmp_path, [(5, [clockwise, HOLE]), (5, [clockwise, other, inner])], ["Iroise", "Zone à deux"])
    areas = read_areas(file, "natura")
    assert [area.name for area in areas] == ["Iroise", "Zone à deux"]
    assert [round(shapely.area(area.shape), 6) for area in areas] == [0.96, 1.96]
    file.with_suffix(".dbf").unlink()
    assert [area.name for area in read_areas(file, "natura")] == ["natura_1", "natura_2"]


def test_wkt(tmp_path: Path) -> None:
    file = tmp_path / "areas.csv"
    square = shapely.to_wkt(shapely.Polygon(SQUARE, [HOLE]))
    file.write_text(f'name;area_type;WKT\nIroise;natura;"{square}"\n\n'
                    f'Box;fishing;"SRID=4326;POLYGON Z ((0 0 1, 1 0 1, 1 1 1, 0 0 1))"\n', encoding="utf-8")
    areas = read_areas(file)
    assert [(area.name, area.kind, round(shapely.area(area.shape), 2)) for area in areas] == [
        ("Iroise", "natura", 0.96), ("Box", "fishing", 0.5)]


def test_points_and_lines_with_a_distance(tmp_path: Path) -> None:
    file = geojson(tmp_path, feature([-4.5, 48.4], "Point", name="Brest"),
                   feature([[0, 50], [1, 50]], "LineString", name="cable"))
    areas = read_areas(file, "nearPorts", within=2000)
    assert [area.name for area in areas] == ["Brest", "cable"]
    assert shapely.intersects_xy(areas[0].shape, -4.5, [48.417, 48.419]).tolist() == [True, False]
    file = shapefile(tmp_path, [(1, [[[-4.5, 48.4]]])], ["Brest"])
    assert len(read_areas(file, "nearPorts", within=2000)) == 1


def test_a_crossing_polygon_can_be_mended(tmp_path: Path) -> None:
    areas = read_areas(geojson(tmp_path, feature([BOW], kind="x")), repair=True)
    assert shapely.is_valid(areas[0].shape) and shapely.area(areas[0].shape) == 0.5


WRONG: list[tuple[Any, str, str, str]] = [
    (feature([BOW], name="Bow", kind="x"), "crossing", "feature 2 (Bow): the polygon crosses itself at 0.5, 0.5",
     "repair=True"),
    (feature([SQUARE[:-1]], name="Open", kind="x"), "open-ring", "feature 2 (Open): a ring is not closed",
     "repeat the first point"),
    (feature([[[y, x - 90] for x, y in SQUARE]], kind="x"), "swapped", "exchanged", "longitude first"),
    (feature([[[x * 1e5, y * 1e5] for x, y in SQUARE]], kind="x"), "projected", "not in degrees", "EPSG:4326"),
    (feature([[[x + 184.5, y] for x, y in SQUARE]], kind="x"), "bad-place", "not on the globe", "date line"),
    (feature([SQUARE[:2]], kind="x"), "short-ring", "only 2 points", "at least 4"),
    (feature([1.0, 2.0], "Point", kind="x"), "no-polygon", "point or a line", "within="),
    (feature([["a", "b"]], kind="x"), "bad-geometry", "its geometry is none", "Polygon"),
    (feature([SQUARE], "Circle", kind="x"), "bad-geometry", "its geometry is none", "Polygon"),
    (feature([SQUARE], name="Odd", sort="x"), "no-kind", "feature 2 (Odd): says nothing of its kind", "name, sort"),
    ({"type": "Feature", "geometry": None, "properties": {"kind": "x"}}, "no-polygon", "has no shape", "remove"),
]


@pytest.mark.parametrize(("wrong", "code", "message", "hint"), WRONG, ids=[case[1] for case in WRONG])
def test_one_message_per_wrong_feature(tmp_path: Path, wrong: Any, code: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        read_areas(geojson(tmp_path, feature([SQUARE], kind="x"), wrong))
    (problem,) = caught.value.diagnostics
    assert problem.code == code and message in problem.message and problem.hint and hint in problem.hint
    assert "areas.geojson" in str(caught.value)


@pytest.mark.parametrize(("name", "content", "code"), [
    ("areas.kml", "<kml/>", "unknown-ending"), ("areas.geojsn", "{}", "unknown-ending"),
    ("areas.geojson", '{"type": ', "bad-json"), ("areas.geojson", "[]", "bad-json"),
    ("areas.json", '{"type": "Topology"}', "bad-json"), ("areas.shp", "nothing", "bad-shapefile"),
    ("areas.geojson", '{"type": "FeatureCollection", "features": []}', "no-areas"),
    ("areas.csv", "name,shape_text\n", "missing-column"),
    ("areas.csv", "kind,wkt\nx,POLYGON((0 0))\n", "bad-wkt"), ("areas.csv", "kind,wkt\nx,\n", "bad-wkt"),
    ("areas.csv", 'kind,wkt\nx,"POLYGON((0 0, 1 0, 1 1, 0 1))"\n', "open-ring")])
def test_files_that_are_none(tmp_path: Path, name: str, content: str, code: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_areas(tmp_path / name)
    assert [problem.code for problem in caught.value.diagnostics] == [code]
    assert caught.value.diagnostics[0].hint


def test_a_missing_file(tmp_path: Path) -> None:
    for name in ("areas.shp", "areas.geojson"):
        with pytest.raises(InputError, match="cannot read"):
            read_areas(tmp_path / name)


def test_a_shapefile_that_is_cut_off(tmp_path: Path) -> None:
    file = shapefile(tmp_path, [(5, [SQUARE[::-1]])] * 3, ["a", "b", "c"])
    whole = file.read_bytes()
    for size in (len(whole) - 1, len(whole) - 60, 105, 110):
        file.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"cut off|records"):
            read_areas(file, "x")
    file.write_bytes(whole)
    table = file.with_suffix(".dbf")
    table.write_bytes(table.read_bytes()[:80])
    with pytest.raises(InputError, match="table of fields"):
        read_areas(file, "x")


def test_a_projected_shapefile(tmp_path: Path) -> None:
    file = shapefile(tmp_path, [(5, [SQUARE[::-1]])])
    file.with_suffix(".prj").write_text('PROJCS["RGF93 / Lambert-93"]', encoding="utf-8")
    with pytest.raises(InputError, match="EPSG:4326"):
        read_areas(file, "x")
