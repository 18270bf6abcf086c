"""Columns of position reports, as text or typed, to numbers and times; says which value is none. Knows no layouts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eventide.signals.positions import NO_TIME, Floats, Ints

NULLS = ["", "NA", "N/A", "null", "NULL", "None", "nan", "NaN", "\\N"]
DAY_FIRST = "%d/%m/%Y %H:%M:%S"
_PER_SECOND = {"s": 1, "ms": 1000, "us": 1_000_000}
_NUMBER = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_SHAPES = {
    "seconds since 1970": r"^\s*[0-9]+(\.[0-9]+)?\s*$",
    "ISO": r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+)?\s*$",
    "ISO with a zone": r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z|[+-][0-9]{2}:?[0-9]{2})\s*$",
    "dd/mm/yyyy": r"^\s*[0-9]{1,2}/[0-9]{1,2}/[0-9]{4} [0-9]{1,2}:[0-9]{2}:[0-9]{2}\s*$",
}


@dataclass(frozen=True, slots=True)
class TimeForm:
    """How times are written: what people call it, the type to read them as, and how that becomes seconds."""

    name: str
    kind: pa.DataType
    per_second: int = 1
    pattern: str | None = None


def time_form(given: str | None, example: str) -> TimeForm | None:
    """The form of times, as it is asked for or as an example has it; None if there is no telling.

    >>> time_form(None, "1641168000123").per_second, time_form(None, "31/12/2021 23:59:59").pattern
    (1000, '%d/%m/%Y %H:%M:%S')
    """
    shape = next((name for name, pattern in _SHAPES.items() if re.match(pattern, example)), None)
    if given in _PER_SECOND or (given is None and shape == "seconds since 1970"):
        whole = example.strip().isdigit()
        unit = given or _unit(float(example))
        name = {"s": "seconds", "ms": "milliseconds", "us": "microseconds"}[unit]
        return TimeForm(f"{name} since 1970", pa.int64() if whole else pa.float64(), _PER_SECOND[unit])
    if given is not None and given != "iso":
        return TimeForm(given, pa.timestamp("s"), pattern=given)
    if shape == "dd/mm/yyyy":
        return TimeForm(shape, pa.timestamp("s"), pattern=DAY_FIRST)
    if shape is None and given is None:
        return None
    zone = "UTC" if shape == "ISO with a zone" else None
    return TimeForm(shape or "ISO", pa.timestamp("us" if "." in example else "s", zone))


def _unit(number: float) -> str:
    """Seconds until the year 5138, then milliseconds, then microseconds."""
    return "s" if number < 1e11 else "ms" if number < 1e14 else "us"


def seconds(column: pa.ChunkedArray, form: TimeForm) -> Ints:
    """Whole seconds since 1970 of typed times; those that are missing are NO_TIME."""
    kind = column.type
    per_second = form.per_second
    if pa.types.is_timestamp(kind):
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        column = column.cast(pa.int64())
    if pa.types.is_floating(column.type):
        return _floored(column, per_second)
    values: Ints = column.fill_null(NO_TIME).to_numpy()
    if per_second == 1:
        return values
    return np.where(values == NO_TIME, values, values // per_second)


def _floored(column: pa.ChunkedArray, per_second: int) -> Ints:
    numbers = np.floor(column.fill_null(np.nan).to_numpy() / per_second)
    known = np.abs(numbers) < 2.0**62
    return np.where(known, np.where(known, numbers, 0).astype(np.int64), NO_TIME)


def decimals(column: pa.ChunkedArray, absent: float, factor: float = 1.0) -> Floats:
    """Typed numbers as floats."""
    if column.type != pa.float64():
        column = column.cast(pa.float64())
    if column.null_count:
        column = column.fill_null(absent)
    values: Floats = column.to_numpy()
    return values if factor == 1.0 else np.round(values * factor, 6)


def wholes(column: pa.ChunkedArray, absent: int) -> Ints:
    """Typed numbers as integers; what is none is absent."""
    if pa.types.is_floating(column.type):
        values = column.fill_null(np.nan).to_numpy()
        fine = (np.floor(values) == values) & (np.abs(values) < 2.0**62)
        return np.where(fine, np.where(fine, values, 0).astype(np.int64), absent)
    found: Ints = column.cast(pa.int64()).fill_null(absent).to_numpy()
    return found


def wrong_numbers(texts: pa.ChunkedArray, decimal: str = ".") -> npt.NDArray[np.bool_]:
    """Which texts are neither numbers nor missing."""
    plain = pc.replace_substring(texts, decimal, ".") if decimal != "." else texts
    return _unmatched(plain, _NUMBER)


def wrong_times(texts: pa.ChunkedArray, form: TimeForm) -> npt.NDArray[np.bool_]:
    """Which texts are neither times of this form nor missing."""
    if form.pattern is not None:
        parsed = pc.strptime(texts, format=form.pattern, unit="s", error_is_null=True)
    elif pa.types.is_timestamp(form.kind):
        return _each(texts, _castable(form.kind), _SHAPES["ISO with a zone" if form.kind.tz else "ISO"])
    else:
        return _unmatched(texts, _SHAPES["seconds since 1970"])
    return np.asarray(pc.and_(parsed.is_null(), texts.is_valid()).to_numpy(zero_copy_only=False), np.bool_)


def shape_of(text: str) -> str:
    """What a time looks like, in words."""
    return next((name for name, pattern in _SHAPES.items() if re.match(pattern, text)), "none that is known")


def _unmatched(texts: pa.ChunkedArray, pattern: str) -> npt.NDArray[np.bool_]:
    matched = pc.match_substring_regex(texts, pattern).fill_null(True)
    return ~np.asarray(matched.to_numpy(zero_copy_only=False), np.bool_)


def _castable(kind: pa.DataType) -> Callable[[str], bool]:
    def castable(text: str) -> bool:
        try:
            pa.array([text.strip()]).cast(kind)
        except pa.ArrowInvalid:
            return False
        return True

    return castable


def _each(texts: pa.ChunkedArray, fine: Callable[[str], bool], pattern: str) -> npt.NDArray[np.bool_]:
    """Those that do not match, and those that do but are not fine."""
    wrong = _unmatched(texts, pattern)
    for row in np.flatnonzero(~wrong).tolist():
        text = texts[row].as_py()
        wrong[row] = text is not None and not fine(text)
    return wrong
