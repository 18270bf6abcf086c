"""Time values of any kind (integers, whole floats, texts, datetimes) to int64 ticks. Knows no tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.formats.expected import TimeUnit
from eventide.formats.facts import Ints

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
NO_UNIT = "is a date or time of day, but no unit of time is declared"
TOO_FINE = "has parts smaller than the unit of time"
OVERFLOW = "does not fit 64 bits"
NOT_WHOLE = "is not a whole number"
HINTS = {
    NO_UNIT: 'declare one of s, ms, us, ns (--time-unit s, or time_unit="s"): times become ticks since 1970-01-01 UTC',
    TOO_FINE: "declare a finer unit: ms, us or ns",
    OVERFLOW: "times lie between -2^63 and 2^63-1; use a coarser unit",
    NOT_WHOLE: "times are whole numbers, or dates such as 2025-06-14 08:10:00 with a unit (--time-unit s, or "
               'time_unit="s")',
}
_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Ticks:
    """Ticks per row; `missing` rows have none, `wrong` rows have a problem instead."""

    values: Ints
    missing: npt.NDArray[np.bool_]
    wrong: dict[int, str] = field(default_factory=dict)


def ticks_of(column: pa.Array | list[object], unit: TimeUnit | None) -> Ticks:
    """The ticks of a column; datetimes need a unit, and those without a zone are taken as UTC."""
    if isinstance(column, list):
        return _one_by_one(column, unit)
    missing = np.asarray(column.is_null())
    if pa.types.is_integer(column.type) and column.type != pa.uint64():
        return Ticks(column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64), missing)
    if unit is not None and (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = _parsed_datetimes(column)
    if pa.types.is_timestamp(column.type) and unit is not None:
        return _scaled(column, missing, unit)
    return _one_by_one(column.to_pylist(), unit)


def _parsed_datetimes(column: pa.Array) -> pa.Array:
    """ISO texts as timestamps if all of them are; otherwise the column as it is."""
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.timestamp("ns"), pa.timestamp("ns", "UTC")):
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            continue
    return column


def _scaled(column: pa.Array, missing: npt.NDArray[np.bool_], unit: TimeUnit) -> Ticks:
    own, wanted = PER_SECOND[column.type.unit], PER_SECOND[unit]
    raw = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    if wanted >= own:
        factor = wanted // own
        limit = (2**63 - 1) // factor
        over = np.abs(raw) > limit
        return Ticks(np.where(over, 0, raw) * factor, missing, dict.fromkeys(np.flatnonzero(over).tolist(), OVERFLOW))
    values, rest = np.divmod(raw, own // wanted)
    return Ticks(values, missing, dict.fromkeys(np.flatnonzero(rest).tolist(), TOO_FINE))


def _one_by_one(column: list[object], unit: TimeUnit | None) -> Ticks:
    found = Ticks(np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_))
    for row, value in enumerate(column):
        tick = tick_of(value, unit)
        if tick is None:
            found.missing[row] = True
        elif isinstance(tick, str):
            found.wrong[row] = tick
        else:
            found.values[row] = tick
    return found


def tick_of(value: object, unit: TimeUnit | None) -> int | str | None:
    """The tick of one value: a number, a problem as text, or None where there is no value.

    >>> tick_of("1970-01-01T00:01", "s"), tick_of("noon", "s"), tick_of(7.0, None)
    (60, 'is not a whole number', 7)
    """
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, str) and len(value) < 4000 and _WHOLE.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    number: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, (str, datetime, date)):
        moment = _moment(value)
        if moment is None:
            return NOT_WHOLE
        if unit is None:
            return NO_UNIT
        number, rest = divmod((moment - _EPOCH) // timedelta(microseconds=1) * 1000, 10**9 // PER_SECOND[unit])
        if rest:
            return TOO_FINE
    if number is None:
        return NOT_WHOLE
    return number if -(2**63) <= number < 2**63 else OVERFLOW


def _moment(value: str | datetime | date) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    elif not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return value if value.tzinfo else value.replace(tzinfo=UTC)
