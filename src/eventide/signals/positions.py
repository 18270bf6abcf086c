"""Position reports of vessels as Arrow tables: the columns that the steps of `signals` take and give. Reads no file.

A table of positions has one row per report. After cleaning it is sorted by vessel and time, and no vessel has two
reports at one time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.formats.problems import input_error, suggestion

POSITIONS = pa.schema([
    ("vessel", pa.int64()),  # its MMSI
    ("time", pa.int64()),  # seconds since 1970-01-01 UTC
    ("lon", pa.float64()),  # degrees, positive to the east
    ("lat", pa.float64()),  # degrees, positive to the north
    ("speed", pa.float64()),  # knots over ground; NaN: unknown
    ("course", pa.float64()),  # degrees over ground; NaN: unknown
    ("heading", pa.float64()),  # degrees; 511.0: unknown
])
VESSELS = pa.schema([
    ("vessel", pa.int64()),
    ("type", pa.string()),  # a class of the rules' background data, `unknown` where nothing is said
    ("draught", pa.float64()),  # metres; NaN: unknown
    ("name", pa.string()),
])
NO_HEADING = 511.0
NO_TIME = -(2**63)
NO_VESSEL = -1
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tracks:
    """The columns of a table of positions as arrays."""

    vessel: Ints
    time: Ints
    lon: Floats
    lat: Floats
    speed: Floats
    course: Floats
    heading: Floats

    def __len__(self) -> int:
        return int(self.vessel.shape[0])

    def table(self) -> pa.Table:
        """The arrays as a table, not copied."""
        return pa.table([pa.array(getattr(self, name)) for name in POSITIONS.names], schema=POSITIONS)


def tracks_of(table: pa.Table, source: str = "<positions>") -> Tracks:
    """The columns of a table of positions, whatever else it has; InputError names a column that is not there.

    A missing speed, course or heading is unknown, a missing place or time stays one that no report can have.

    >>> tracks_of(pa.table({"vessel": [7], "time": [3], "lon": [1.5], "lat": [2.5]})).heading
    array([511.])
    """
    for name in POSITIONS.names[:4]:
        if name not in table.column_names:
            message = f"no column {name}; the columns are {', '.join(table.column_names) or 'none'}"
            hint = suggestion(name, table.column_names) or "positions have vessel, time, lon, lat, and may have " \
                "speed, course, heading"
            raise input_error("missing-column", message, source, hint=hint)
    lon, lat, speed, course = (_decimal(table, name, np.nan, source) for name in ("lon", "lat", "speed", "course"))
    vessel = _array(table, "vessel", pa.int64(), NO_VESSEL, source)
    time = _array(table, "time", pa.int64(), NO_TIME, source)
    return Tracks(vessel, time, lon, lat, speed, course, _decimal(table, "heading", NO_HEADING, source))


def _decimal(table: pa.Table, name: str, absent: float, source: str) -> Floats:
    if name not in table.column_names:
        return np.full(table.num_rows, absent)
    found: Floats = _array(table, name, pa.float64(), absent, source)
    return found


def _array(table: pa.Table, name: str, kind: pa.DataType, absent: float, source: str) -> npt.NDArray[Any]:
    column = table[name]
    if column.type != kind:
        try:
            column = column.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            place = table.column_names.index(name) + 1
            message = f"column {name} holds {column.type}, expected {kind}"
            raise input_error("wrong-type", message, source, 1, place, hint=str(error)) from error
    if column.null_count:
        column = column.fill_null(absent)
    return np.ascontiguousarray(column.to_numpy())


def empty_positions() -> pa.Table:
    """A table of no positions."""
    return POSITIONS.empty_table()
