"""Files of areas: GeoJSON, shapefiles, and CSV with a column of WKT; each feature judged, none dropped in silence."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from eventide.errors import InputError
from eventide.formats.files import read_text
from eventide.formats.problems import SHOWN, diagnostic, input_error, suggestion
from eventide.signals import shapefile
from eventide.signals.areas import Area, Areas, near_lines
from eventide.signals.coast import Line

NAMES = ("name", "area", "id", "title", "objectid", "fid")
KINDS = ("kind", "area_type", "type", "category")
SHAPES = ("wkt", "geometry", "geom", "the_geom", "shape")
ENDINGS = (".geojson", ".json", ".shp", ".csv", ".tsv")
_LATITUDE, _LONGITUDE = 90.0, 180.0


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of a file: polygons as rings (the first one outside), lines, points, and its properties as text."""

    number: int
    line: int
    properties: dict[str, str]
    polygons: tuple[tuple[Line, ...], ...] = ()
    lines: tuple[Line, ...] = ()
    problem: _Wrong | None = None

    def called(self) -> str:
        """How a message speaks of it."""
        name = _property(self.properties, NAMES)
        return f"feature {self.number}" + (f" ({name})" if name else "")


@dataclass(frozen=True, slots=True)
class _Wrong:
    """What is wrong with a feature, and what to do."""

    code: str
    message: str
    hint: str


@dataclass(slots=True)
class _Reading:
    source: str
    kind: str | None
    name_field: str | None
    kind_field: str | None
    within: float | None
    repair: bool
    problems: list[Any] = field(default_factory=list)


def read_areas(path: str | os.PathLike[str], kind: str | None = None, *, name_field: str | None = None,
               kind_field: str | None = None, within: float | None = None, repair: bool = False) -> Areas:
    """The areas of a file: `.geojson` (or `.json`), `.shp` with its `.dbf`, `.csv` or `.tsv` with a column `wkt`.

    `kind` is the kind of all areas; otherwise a property says it (`kind`, `area_type`, `type` or `category`, or the one
    named `kind_field`). Names are found in the same way; an area without one is called after its kind and number.
    With `within`, points and lines become areas too: everything within so many metres of them. `repair` mends polygons
    that cross themselves. InputError has one diagnostic per feature that is wrong.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "zones.csv")
    ...     with open(file, "w") as out:
    ...         _ = out.write('name,kind,wkt\\nbank,fishing,"POLYGON((0 0, 1 0, 1 1, 0 0))"\\n')
    ...     read_areas(file).table().to_pylist()
    [{'area': 'bank', 'area_type': 'fishing'}]
    """
    source = os.fspath(path)
    plain = source.removesuffix(".gz")
    reader = _READERS.get(Path(plain).suffix.lower())
    if reader is None or (plain != source and plain.endswith(".shp")):
        hint = suggestion(Path(plain).suffix.lower(), ENDINGS) or f"known are {', '.join(ENDINGS)}"
        raise input_error("unknown-ending", "cannot tell the format of these areas by their ending", source, hint=hint)
    reading = _Reading(source, kind, name_field, kind_field, within, repair)
    features = list(reader(source))
    if not features:
        raise input_error("no-areas", "the file has no areas", source, hint="export the features, not only their table")
    found = [_area(feature, reading) for feature in features]
    if reading.problems:
        shown = reading.problems[:SHOWN]
        rest = len(reading.problems) - len(shown)
        more = [f"and {rest} more"] if rest else []
        raise InputError("\n".join([*(problem.render() for problem in shown), *more]), shown)
    return Areas.of(area for area in found if area is not None)


# -- from features to areas --------------------------------------------------------------------------------------------


def _area(feature: Feature, reading: _Reading) -> Area | None:
    wrong = feature.problem or _wrong_places(feature) or _wrong_rings(feature)
    kind = reading.kind or _property(feature.properties, KINDS, reading.kind_field)
    if wrong is None and not kind:
        known = ", ".join(feature.properties) or "none"
        wrong = _Wrong("no-kind", "says nothing of its kind",
                       f'give kind="fishing" or so, or kind_field= one of its properties: {known}')
    shape = None
    if wrong is None:
        shape, wrong = _shape(feature, reading)
    if wrong is not None:
        message = f"{feature.called()}: {wrong.message}"
        reading.problems.append(diagnostic(wrong.code, message, reading.source, feature.line, hint=wrong.hint))
        return None
    assert kind is not None
    name = _property(feature.properties, NAMES, reading.name_field) or f"{kind}_{feature.number}"
    return Area(name, kind, shape)


def _property(properties: Mapping[str, str], known: Sequence[str], chosen: str | None = None) -> str | None:
    if chosen is not None:
        return properties.get(chosen) or None
    lowered = {name.lower(): value for name, value in properties.items()}
    return next((lowered[name] for name in known if lowered.get(name)), None)


def _wrong_places(feature: Feature) -> _Wrong | None:
    parts = [*(ring for polygon in feature.polygons for ring in polygon), *feature.lines]
    if not parts:
        return None
    points = np.concatenate(parts)
    if not np.isfinite(points).all():
        return _Wrong("bad-place", "a point is no pair of numbers", "write each point as longitude, latitude")
    x, y = np.abs(points).max(axis=0)
    if x <= _LONGITUDE and y <= _LATITUDE:
        return None
    place = points[(np.abs(points) > (_LONGITUDE, _LATITUDE)).any(axis=1)][0]
    shown = f"{place[0]:g}, {place[1]:g}"
    if x <= _LATITUDE and y <= _LONGITUDE:
        return _Wrong("swapped", f"the point {shown} has a latitude beyond 90: longitude and latitude are exchanged",
                      "write the longitude first, then the latitude")
    if x > 2 * _LONGITUDE or y > _LONGITUDE:
        return _Wrong("projected", f"the point {shown} is not in degrees",
                      "convert the file to WGS 84 (EPSG:4326): its numbers look like metres of a projection")
    return _Wrong("bad-place", f"the point {shown} is not on the globe",
                  "cut shapes at the date line: longitudes are from -180 to 180, latitudes from -90 to 90")


def _wrong_rings(feature: Feature) -> _Wrong | None:
    for polygon in feature.polygons:
        for ring in polygon:
            if len(ring) < 3 or (len(ring) < 4 and (ring[0] == ring[-1]).all()):
                return _Wrong("short-ring", f"a ring has only {len(ring)} points",
                              "a ring has at least 4, the last one as the first")
            if (ring[0] != ring[-1]).any():
                begin, end = (f"{x:g}, {y:g}" for x, y in (ring[0], ring[-1]))
                return _Wrong("open-ring", f"a ring is not closed: it begins at {begin} and ends at {end}",
                              "repeat the first point as the last one")
    return None


def _shape(feature: Feature, reading: _Reading) -> tuple[Any, _Wrong | None]:
    shapes = [shapely.Polygon(rings[0], rings[1:]) for rings in feature.polygons]
    if feature.lines and reading.within is not None:
        shapes.append(near_lines("", "", feature.lines, reading.within).shape)
    elif feature.lines:
        return None, _Wrong("no-polygon", "is a point or a line, which has no inside",
                            "give within=2000 or so: then everything within so many metres is the area")
    if not shapes:
        return None, _Wrong("no-polygon", "has no shape", "remove it from the file")
    shape = shapes[0] if len(shapes) == 1 else shapely.MultiPolygon(
        [part for each in shapes for part in shapely.get_parts(each)])
    if shapely.is_valid(shape):
        return shape, None
    if not reading.repair and not all(shapely.is_valid(each) for each in shapes):
        reason = shapely.is_valid_reason(next(each for each in shapes if not shapely.is_valid(each)))
        text, _, place = reason.partition("[")
        where = f" at {place.rstrip(']').replace(' ', ', ')}" if place else ""
        does = "the polygon crosses itself" if "elf-intersection" in text else text[:1].lower() + text[1:]
        return None, _Wrong("crossing", does + where, "draw it anew there, or read with repair=True")
    return shapely.union_all([_mended(each) for each in shapes]), None  # polygons of one area may overlap


def _mended(shape: Any) -> Any:
    parts = shapely.get_parts(shapely.make_valid(shape))
    return shapely.union_all([part for part in parts if part.geom_type in ("Polygon", "MultiPolygon")])


# -- GeoJSON -----------------------------------------------------------------------------------------------------------


def _geojson(path: str) -> Iterator[Feature]:
    text = read_text(path)
    try:
        data = json.loads(text.piece(text.start, text.stop))
    except json.JSONDecodeError as error:
        message = f"this is no JSON: {error.msg}"
        raise input_error("bad-json", message, path, error.lineno, error.colno, "export the file again") from error
    kind = data.get("type") if isinstance(data, dict) else None
    if kind == "FeatureCollection" and isinstance(data.get("features"), list):
        features = data["features"]
    elif kind == "Feature":
        features = [data]
    elif kind in ("Polygon", "MultiPolygon", "GeometryCollection"):
        features = [{"type": "Feature", "geometry": data, "properties": {}}]
    else:
        hint = "expected a FeatureCollection, a Feature or a geometry" + (
            "; TopoJSON must be converted first" if kind == "Topology" else "")
        raise input_error("bad-json", "this is no GeoJSON", path, hint=hint)
    for number, feature in enumerate(features, 1):
        found = feature if isinstance(feature, dict) else {}
        properties = found.get("properties")
        texts = {str(k): str(v) for k, v in (properties if isinstance(properties, dict) else {}).items()
                 if v is not None and not isinstance(v, dict | list)}
        if "id" in found:
            texts.setdefault("id", str(found["id"]))
        try:
            polygons, lines = _geometry(found.get("geometry") or {})
            yield Feature(number, 1, texts, tuple(polygons), tuple(lines))
        except (KeyError, TypeError, ValueError, IndexError):
            hint = 'expected {"type": "Polygon", "coordinates": [[[lon, lat], …]]}'
            yield Feature(number, 1, texts, problem=_Wrong("bad-geometry", "its geometry is none", hint))


def _geometry(geometry: Mapping[str, Any]) -> tuple[list[tuple[Line, ...]], list[Line]]:
    if not geometry:
        return [], []
    kind: str = geometry["type"]
    if kind == "GeometryCollection":
        found = [_geometry(each) for each in geometry["geometries"]]
        return [p for polygons, _ in found for p in polygons], [line for _, lines in found for line in lines]
    points: Any = geometry["coordinates"]
    if kind == "Polygon":
        return [tuple(map(_line, points))], []
    if kind == "MultiPolygon":
        return [tuple(map(_line, polygon)) for polygon in points], []
    if kind in ("Point", "LineString"):
        return [], [_line([points] if kind == "Point" else points)]
    if kind == "MultiPoint":
        return [], [_line([point]) for point in points]
    if kind == "MultiLineString":
        return [], [_line(line) for line in points]
    raise ValueError(kind)


def _line(points: Sequence[Sequence[float]]) -> Line:
    line: Line = np.array([point[:2] for point in points], np.float64)
    if line.ndim != 2 or line.shape[1] != 2:
        raise ValueError("points")
    return line


# -- shapefiles --------------------------------------------------------------------------------------------------------


def _shapefile(path: str) -> Iterator[Feature]:
    projection = Path(path).with_suffix(".prj")
    if projection.exists() and projection.read_text("utf-8", "replace").lstrip().startswith("PROJCS"):
        hint = "convert the file to WGS 84 (EPSG:4326)"
        raise input_error("projected", "the shapes are in metres of a projection, not in degrees", path, hint=hint)
    for number, record in enumerate(shapefile.read_shapefile(path), 1):
        if record.kind in shapefile.POLYGONS:
            yield Feature(number, 1, record.fields, tuple(_polygons(record.parts)))
        else:
            yield Feature(number, 1, record.fields, lines=record.parts)


def _polygons(rings: Sequence[Line]) -> Iterator[tuple[Line, ...]]:
    """Rings as polygons: in a shapefile outer rings go clockwise, holes the other way."""
    outer = [ring for ring in rings if _turn(ring) <= 0] or list(rings)
    holes = [ring for ring in rings if _turn(ring) > 0] if len(outer) < len(rings) else []
    shells = [shapely.make_valid(shapely.Polygon(ring)) if len(ring) > 3 else shapely.Polygon() for ring in outer]
    inside: list[list[Line]] = [[] for _ in outer]
    for hole in holes:
        around = [k for k, shell in enumerate(shells) if shapely.intersects_xy(shell, *hole[0])]
        inside[min(around, key=lambda k: shapely.area(shells[k]), default=0)].append(hole)
    for ring, own in zip(outer, inside, strict=True):
        yield (ring, *own)


def _turn(ring: Line) -> float:
    """Twice the area that a ring goes around, below 0 if clockwise."""
    x, y = (ring - ring[0]).T
    return float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum())


# -- WKT in a CSV ------------------------------------------------------------------------------------------------------


def _wkt_csv(path: str) -> Iterator[Feature]:
    text = read_text(path)
    content = text.piece(text.start, text.stop)
    first = text.first_line()
    mark = max(",;\t|", key=first.count)
    csv.field_size_limit(max(csv.field_size_limit(), len(content) + 1))
    rows = csv.reader(io.StringIO(content, newline=""), delimiter=mark)
    header = [name.strip() for name in next(rows, [])]
    column = next((name for name in header if name.lower() in SHAPES), None)
    if column is None:
        hint = f"name the column of shapes {SHAPES[0]}; the columns are {', '.join(header)}"
        raise input_error("missing-column", "no column holds shapes as WKT", path, hint=hint)
    number = 0
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        number += 1
        properties = {name: cell.strip() for name, cell in zip(header, row, strict=False)}
        wkt = properties.pop(column, "")
        yield _wkt_feature(number, rows.line_num, properties, wkt)


def _wkt_feature(number: int, line: int, properties: dict[str, str], wkt: str) -> Feature:
    try:
        shape = shapely.force_2d(shapely.from_wkt(wkt.split(";", 1)[1] if wkt.upper().startswith("SRID=") else wkt))
    except shapely.errors.ShapelyError as error:
        if "closed" in str(error):
            return Feature(number, line, properties, problem=_Wrong(
                "open-ring", "a ring is not closed", "repeat the first point as the last one"))
        return Feature(number, line, properties, problem=_Wrong(
            "bad-wkt", f"its shape is no WKT: {wkt[:40]!r}", "write POLYGON((lon lat, lon lat, …)), in quotes"))
    polygons, lines = [], []
    for part in shapely.get_parts(shape):
        if part.geom_type == "Polygon":
            polygons.append(tuple(shapely.get_coordinates(ring) for ring in shapely.get_rings(part)))
        else:
            lines.append(shapely.get_coordinates(part))
    return Feature(number, line, properties, tuple(polygons), tuple(lines))


_READERS: dict[str, Callable[[str], Iterator[Feature]]] = {
    ".geojson": _geojson, ".json": _geojson, ".shp": _shapefile, ".csv": _wkt_csv, ".tsv": _wkt_csv,
}
