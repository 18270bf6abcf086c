"""Where vessels were, what they are called, and areas, as a map needs them. Judges no position: that is cleaning."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.errors import InputError
from eventide.formats.files import missing
from eventide.formats.problems import input_error, suggestion
from eventide.formats.table_files import file_table, memory_table
from eventide.formats.tables import Table

Numbers: TypeAlias = npt.NDArray[np.float64]
Ring: TypeAlias = "list[tuple[float, float]]"
NAMES = {"vessel": ("vessel", "mmsi", "sourcemmsi", "id"), "time": ("time", "t", "timestamp"),
         "lon": ("lon", "longitude", "lng", "x"), "lat": ("lat", "latitude", "y")}


@dataclass(frozen=True)
class Tracks:
    """Positions sorted by vessel and time; the positions of `vessels[i]` are `first[i]:first[i + 1]`.

    `left_out` says how many rows were not taken, by reason.
    """

    vessels: tuple[str, ...]
    first: npt.NDArray[np.int64]
    time: Numbers
    lon: Numbers
    lat: Numbers
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.time.shape[0])


@dataclass(frozen=True)
class Area:
    """A named area of a kind (such as `port`), as rings of longitudes and latitudes."""

    name: str
    kind: str
    rings: tuple[Ring, ...]


def read_tracks(source: object, origin: int) -> Tracks:
    """The tracks of a file or a table with the columns vessel, time (in the unit of the result), lon and lat.

    Rows without a place on earth are left out, and those whose time is far from that of all others: one wrong clock
    would make all else invisible. Times are counted from `origin`.

    >>> table = pa.table({"vessel": [7, 7], "time": [20, 10], "lon": [1.5, 1.0], "lat": [50.0, 51.0]})
    >>> read_tracks(table, 10).lon.tolist()
    [1.0, 1.5]
    """
    table = _table(source, "positions")
    columns = {name: _column(table, name, also) for name, also in NAMES.items()}
    time = _numbers(columns["time"], table, "time", origin)
    lon, lat = (_numbers(columns[name], table, name) for name in ("lon", "lat"))
    names, codes = np.unique(np.array(_texts(columns["vessel"]), dtype=object).astype(str), return_inverse=True)
    placed = (np.abs(lon) <= 180) & (np.abs(lat) < 89)
    timed = _near_in_time(time)
    order = np.flatnonzero(placed & timed)
    order = order[np.lexsort((time[order], codes[order]))]
    used, counts = np.unique(codes[order], return_counts=True)
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    reasons = {"no place on earth": int((~placed).sum()), "a time far from all others": int((placed & ~timed).sum())}
    return Tracks(tuple(str(names[code]) for code in used), first, time[order], lon[order], lat[order],
                  {reason: number for reason, number in reasons.items() if number})


def _near_in_time(time: Numbers) -> npt.NDArray[np.bool_]:
    """Times that lie no further outside the middle 99.8 per cent of them than these are long."""
    known = time[np.isfinite(time)]
    if not known.shape[0]:
        return np.zeros(time.shape[0], np.bool_)
    low, high = np.quantile(known, [0.001, 0.999])
    return np.asarray((time >= low - (high - low)) & (time <= high + (high - low)))


def read_vessels(source: object) -> dict[str, tuple[str, str]]:
    """Names and types by vessel: from a mapping (to a name, or to `name` and `type`), a table or a file of them.

    >>> read_vessels({7: "Aurora", 8: {"name": "Borealis", "type": "tug"}})
    {'7': ('Aurora', ''), '8': ('Borealis', 'tug')}
    """
    if isinstance(source, Mapping):
        return {str(key): (str(value.get("name") or ""), str(value.get("type") or ""))
                if isinstance(value, Mapping) else (str(value), "") for key, value in source.items()}
    table = _table(source, "vessels")
    ids = _texts(_column(table, "vessel", NAMES["vessel"]))
    lower = {name.lower(): name for name in table.columns}
    parts = []
    for names in (("name", "vesselname", "shipname"), ("type", "class", "vesseltype", "shiptype")):
        found = next((lower[name] for name in names if name in lower), None)
        parts.append(_texts(table.columns[found]) if found else [""] * table.length)
    return {vessel: (name, kind) for vessel, name, kind in zip(ids, *parts, strict=True)}


def read_areas(source: object) -> list[Area]:
    """Areas of GeoJSON (a path or the object), or of pairs of a name (or a name and a kind) and a geometry.

    A geometry is GeoJSON's or anything with `__geo_interface__`, such as those of shapely.
    """
    if isinstance(source, (str, os.PathLike)):
        source = _geojson(os.fspath(source))
    if isinstance(source, Mapping) and "type" in source:
        features = source.get("features", [source])
        return [_feature(feature, number) for number, feature in enumerate(features, 1)]
    pairs: Iterable[Any] = source.items() if isinstance(source, Mapping) else source  # type: ignore[assignment]
    found = []
    for key, geometry in pairs:
        name, kind = key if isinstance(key, tuple) else (key, "")
        found.append(Area(str(name), str(kind), _rings(geometry)))
    return found


def _geojson(path: str) -> Any:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise missing(path, error) from error
    try:
        return json.loads(text)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise input_error("bad-json", f"no JSON: {error}", path, line, hint="areas are GeoJSON") from error


def _feature(feature: Mapping[str, Any], number: int) -> Area:
    properties = feature.get("properties") or {}
    lower = {str(key).lower(): value for key, value in properties.items()}
    name = next((lower[key] for key in ("name", "id", "area") if lower.get(key) is not None), f"area {number}")
    kind = next((lower[key] for key in ("kind", "type", "class") if lower.get(key) is not None), "")
    return Area(str(name), str(kind), _rings(feature.get("geometry", feature)))


def _rings(geometry: Any) -> tuple[Ring, ...]:
    shape = getattr(geometry, "__geo_interface__", geometry)
    kind, parts = (shape or {}).get("type"), (shape or {}).get("coordinates", ())
    if kind == "GeometryCollection":
        return tuple(ring for part in shape["geometries"] for ring in _rings(part))
    if kind == "Polygon":
        parts = [parts]
    elif kind != "MultiPolygon":
        return ()
    return tuple([(float(point[0]), float(point[1])) for point in ring] for polygon in parts for ring in polygon)


def _table(source: object, what: str) -> Table:
    table: Table | None
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if not path.endswith((".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet", ".arrow")):
            raise input_error("unknown-ending", f"the ending does not say how to read the {what}", path,
                              hint="known endings: .csv, .jsonl (also .gz), .parquet, .arrow")
        table = file_table(path, {})
    else:
        table = memory_table(source.to_arrow() if hasattr(source, "to_arrow") else source, what)
    if table is None:
        raise InputError(f"{what} are a file or a table, not a {type(source).__name__}")
    return table


def _column(table: Table, name: str, also: tuple[str, ...]) -> Any:
    lower = {column.lower(): column for column in table.columns}
    found = next((lower[each] for each in also if each in lower), None)
    if found is None:
        hint = suggestion(name, table.columns) or f"there are {', '.join(table.columns) or 'no columns'}; " \
            f"known names: {', '.join(also)}"
        raise input_error("missing-column", f"no column {name}", table.source, hint=hint)
    return table.columns[found]


def _texts(column: Any) -> list[str]:
    values = column.to_pylist() if isinstance(column, pa.Array) else column
    return ["" if value is None else str(value) for value in values]


def _numbers(column: Any, table: Table, name: str, origin: int = 0) -> Numbers:
    if isinstance(column, pa.Array) and pa.types.is_integer(column.type):
        whole = column.fill_null(origin).to_numpy(zero_copy_only=False).astype(np.int64) - origin
        return np.where(np.asarray(column.is_null()), np.nan, whole.astype(np.float64))
    try:
        array = column if isinstance(column, pa.Array) else pa.array(column)
        return np.asarray(array.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False) - origin)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        hint = "expected numbers; times are in the unit of the result, such as seconds since 1970"
        raise input_error("bad-number", f"the column {name} holds something else than numbers", table.source,
                          hint=hint) from error
