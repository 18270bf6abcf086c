"""The data of a page: names as JSON, numbers as packed columns. Safe inside HTML, whatever the names are."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.report.places import Area, Tracks
from eventide.report.situations import Codes, Situations, overlapping

DEGREE = 1_000_000
_OPEN = 2**31 - 1


@dataclass
class Columns:
    """Columns of numbers in one block: whole numbers as differences, bytes of equal weight together, all deflated."""

    pieces: list[bytes] = field(default_factory=list)
    places: dict[str, tuple[str, int, int]] = field(default_factory=dict)

    def add(self, name: str, values: npt.NDArray[Any]) -> None:
        """Add a column; infinity is the largest number where all others are whole and small."""
        kind = "f64"
        whole = np.where(np.isposinf(values), _OPEN, values) if values.dtype.kind == "f" else values
        if not values.shape[0] or (np.isfinite(whole).all() and (whole == np.floor(whole)).all()
                                   and whole.min() >= 0 and whole[whole != _OPEN].max(initial=0) < _OPEN):
            kind = "i32"
            steps = np.diff(whole.astype(np.int64), prepend=0).astype(np.uint32)
            data = np.ascontiguousarray(steps.view(np.uint8).reshape(-1, 4).T).tobytes()
        else:
            data = np.ascontiguousarray(values.astype("<f8").view(np.uint8).reshape(-1, 8).T).tobytes()
        self.places[name] = (kind, sum(map(len, self.pieces)), int(values.shape[0]))
        self.pieces.append(data)

    def text(self) -> str:
        """The block as base64, which holds nothing that HTML could misread."""
        return base64.b64encode(zlib.compress(b"".join(self.pieces), 6)).decode()


def safe_json(data: object) -> str:
    r"""JSON that can stand inside a script element.

    >>> print(safe_json("</script><!--"))
    "\u003c/script>\u003c!--"
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def rows_of(found: Situations) -> tuple[Codes, Codes]:
    """The row of each interval, and its value, or -1 for a row that holds several.

    A fluent of some arguments has one row; where its values overlap, each has its own.
    """
    pairs = found.fluent.codes * max(1, len(found.args.names)) + found.args.codes
    order = np.lexsort((found.start, pairs))
    clash = overlapping(pairs[order], found.start[order], found.end[order])
    apart = np.isin(pairs, pairs[order][clash])
    values = np.where(apart, found.value.codes, -1)
    _, row = np.unique(pairs * (len(found.value.names) + 1) + values + 1, return_inverse=True)
    return row.astype(np.int64), values


def add_situations(columns: Columns, found: Situations) -> None:
    """The columns of rows (`rowFluent`, `rowArgs`, `rowFirst`) and of intervals (`value`, `start`, `end`)."""
    row, _ = rows_of(found)
    order = np.lexsort((found.end, found.start, row))
    sorted_rows = row[order]
    first = np.flatnonzero(np.diff(sorted_rows, prepend=-1))
    columns.add("rowFluent", found.fluent.codes[order][first])
    columns.add("rowArgs", found.args.codes[order][first])
    columns.add("rowFirst", np.append(first, len(found)))
    columns.add("value", found.value.codes[order])
    columns.add("start", found.start[order])
    columns.add("end", found.end[order])


def add_tracks(columns: Columns, tracks: Tracks) -> None:
    """The columns of positions; degrees as millionths from the south-west corner of the map."""
    columns.add("trackFirst", tracks.first)
    columns.add("trackTime", tracks.time - min(0.0, float(tracks.time.min(initial=0.0))))
    columns.add("trackLon", np.rint((tracks.lon + 180) * DEGREE))
    columns.add("trackLat", np.rint((tracks.lat + 90) * DEGREE))


def add_lines(columns: Columns, name: str, lines: list[npt.NDArray[np.float64]]) -> None:
    """Polylines of longitudes and latitudes, one behind the other."""
    points = np.concatenate(lines) if lines else np.empty((0, 2))
    columns.add(f"{name}First", np.concatenate([[0], np.cumsum([len(line) for line in lines])]).astype(np.int64))
    columns.add(f"{name}Lon", np.rint((points[:, 0] + 180) * DEGREE))
    columns.add(f"{name}Lat", np.rint((points[:, 1] + 90) * DEGREE))


def areas_json(areas: list[Area]) -> list[dict[str, object]]:
    """Areas as plain data."""
    return [{"name": area.name, "kind": area.kind,
             "rings": [[[round(x, 5), round(y, 5)] for x, y in ring] for ring in area.rings]} for area in areas]
