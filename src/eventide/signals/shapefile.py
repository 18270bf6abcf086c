"""Shapefiles: the shapes of a `.shp` and the fields of the `.dbf` beside it. Nothing is judged here but their form."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eventide.formats.files import missing
from eventide.formats.problems import input_error
from eventide.signals.coast import Line

# The kinds of shapes: plain, with heights, with measures.
POINTS, LINES, POLYGONS = (1, 11, 21), (3, 13, 23), (5, 15, 25)
_NOTHING = 0


@dataclass(frozen=True, slots=True)
class Record:
    """A shape as its parts: rings of polygons, lines, single points; and its fields as text, by name."""

    kind: int
    parts: tuple[Line, ...]
    fields: dict[str, str]


def read_shapefile(path: str) -> list[Record]:
    """The records of a shapefile, in their order."""
    data = _bytes(path)
    if len(data) < 100 or struct.unpack_from(">i", data)[0] != 9994:
        raise input_error("bad-shapefile", "this is no shapefile", path, hint="give the file that ends in .shp")
    fields = _fields(str(Path(path).with_suffix(".dbf")))
    shapes = list(_shapes(data, path))
    if fields and len(fields) != len(shapes):
        message = f"the file has {len(shapes)} shapes, its .dbf {len(fields)} records"
        raise input_error("bad-shapefile", message, path, hint="copy .shp and .dbf together again")
    return [Record(kind, parts, fields[k] if fields else {}) for k, (kind, parts) in enumerate(shapes)]


def _shapes(data: bytes, path: str) -> Iterator[tuple[int, tuple[Line, ...]]]:
    place, number = 100, 0
    while place < len(data):
        number += 1
        try:
            length = 2 * struct.unpack_from(">i", data, place + 4)[0]
            body = data[place + 8 : place + 8 + length]
            if length < 4 or len(body) < length:
                raise struct.error
            yield _shape(body)
        except (struct.error, ValueError) as error:
            message = f"shape {number} is cut off or damaged"
            raise input_error("bad-shapefile", message, path, hint="copy the file again") from error
        place += 8 + length


def _shape(body: bytes) -> tuple[int, tuple[Line, ...]]:
    kind = struct.unpack_from("<i", body)[0]
    if kind in POINTS:
        return kind, (np.array([struct.unpack_from("<2d", body, 4)]),)
    if kind not in LINES + POLYGONS:
        return (kind, ())
    count, total = struct.unpack_from("<2i", body, 36)
    begins = np.frombuffer(body, "<i4", count, 44)
    points = np.frombuffer(body, "<f8", 2 * total, 44 + 4 * count).reshape(-1, 2)
    return kind, tuple(np.split(points, begins[1:]))


def _fields(path: str) -> list[dict[str, str]]:
    """The records of a `.dbf`; none where there is no such file."""
    if not Path(path).exists():
        return []
    data = _bytes(path)
    encoding = Path(path).with_suffix(".cpg")
    code = encoding.read_text("ascii", "replace").strip() if encoding.exists() else "utf-8"
    try:
        count, header, width = struct.unpack_from("<IHH", data, 4)
        names = [(data[at : at + 11].split(b"\0")[0].decode("ascii", "replace"), data[at + 16])
                 for at in range(32, header - 1, 32) if data[at] != 0x0D]
        if len(data) < header + count * width:
            raise struct.error
    except (struct.error, IndexError) as error:
        raise input_error("bad-shapefile", "the table of fields is cut off or damaged", path,
                          hint="copy the file again") from error
    found = []
    for k in range(count):
        at = header + k * width + 1
        fields = {}
        for name, size in names:
            fields[name] = _text(data[at : at + size], code)
            at += size
        found.append(fields)
    return found


def _text(raw: bytes, code: str) -> str:
    try:
        text = raw.decode(code)
    except (UnicodeDecodeError, LookupError):
        text = raw.decode("latin-1")
    return text.strip(" \0")


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise missing(path, error) from error
