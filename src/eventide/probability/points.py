"""Probabilities at time-points from files, tables and lists, as one column per stream, checked. Recognises nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.errors import InputError
from eventide.formats.events import ENDINGS
from eventide.formats.expected import TimeUnit
from eventide.formats.problems import input_error
from eventide.formats.sparse import Raw
from eventide.formats.table_files import arrow_table, file_table, memory_table
from eventide.formats.tables import Table
from eventide.formats.ticks import HINTS, ticks_of
from eventide.kernels.arrays import Array
from eventide.kernels.maximal_probability import first_improper
from eventide.kernels.sorting import order
from eventide.probability.results import Key

Floats = npt.NDArray[np.float64]

PROBABILITY = ("probability", "prob", "p")
RANGE = "probabilities are numbers from 0 to 1"


@dataclass(frozen=True)
class Points:
    """Streams, one behind the other: that of `keys[j]` has `times` and `probs` at `offsets[j] .. offsets[j+1]`.

    Times of a stream ascend; without times, points follow one another from wherever their stream is. `table` and `rows`
    say where a point came from, if it came from a table.
    """

    names: tuple[str, ...]
    keys: list[Key]
    offsets: Array
    times: Array | None
    probs: Floats
    table: Table | None = None
    rows: Array | None = None

    def problem(self, code: str, at: int, column: str, message: str, hint: str) -> InputError:
        """An error about point `at`, with its place."""
        if self.table is None:
            stream = int(np.searchsorted(self.offsets, at, "right")) - 1
            key = "" if not self.names else f" of {name_of(self.keys[stream])}"
            return InputError(f"point {at - int(self.offsets[stream])}{key}: {message}; {hint}")
        row = at if self.rows is None else int(self.rows[at])
        line, place = self.table.place(row, column)
        return input_error(code, message, self.table.source, line, place, hint)


def name_of(key: Key) -> str:
    """A key as messages call it."""
    return "|".join(str(value) for value in key)


def points_of(source: object, time_unit: TimeUnit | None = None) -> Points:
    """The points of a list of probabilities, a dict of such lists, a table or a file; InputError says what is wrong.

    A table has the columns `time` and `probability`; all others together name the stream. Its rows may have any order.

    >>> points = points_of({"a": [0.5, 1.0], "b": [0.25]})
    >>> points.keys, points.offsets.tolist(), points.probs.tolist()
    ([('a',), ('b',)], [0, 2, 3], [0.5, 1.0, 0.25])
    """
    if isinstance(source, Points):
        return source
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if not path.endswith(ENDINGS):
            hint = f"known endings: {', '.join(ENDINGS)}"
            raise input_error("unknown-ending", "the ending does not say what the file is", path, hint=hint)
        return _of_table(file_table(path, {}), time_unit)
    table = memory_table(source, f"<{type(source).__name__}>")
    if table is not None:
        return _of_table(table, time_unit)
    if isinstance(source, Mapping):
        if any(name in source for name in PROBABILITY):
            return _of_table(arrow_table(pa.table(dict(source)), "<columns>"), time_unit)
        return _of_lists(("args",), [(key,) for key in source], list(source.values()))
    return _of_lists((), [()], [source])


def _of_lists(names: tuple[str, ...], keys: list[Key], lists: Sequence[Any]) -> Points:
    """Lists of probabilities without times."""
    columns = []
    for found in lists:
        try:
            column = np.asarray(found, np.float64)
        except (TypeError, ValueError):
            column = np.empty((0, 0))
        if column.ndim != 1:
            known = "a list of numbers, a dict of such lists, a path, or a pyarrow, pandas, polars or Spark table"
            raise InputError(f"cannot read probabilities from a {type(found).__name__}; expected {known}")
        columns.append(column)
    sizes = np.array([column.shape[0] for column in columns], np.int64)
    offsets = np.concatenate((np.zeros(1, np.int64), sizes.cumsum()))
    probs = columns[0] if len(columns) == 1 else np.concatenate(columns) if columns else np.empty(0)
    points = Points(names, keys, offsets, None, np.ascontiguousarray(probs))
    _check_probabilities(points)
    return points


def _of_table(table: Table, time_unit: TimeUnit | None) -> Points:
    if table.bad:
        problems = [row.diagnostic for _, row in table.bad]
        raise InputError("\n".join(problem.render() for problem in problems), problems)
    name = next((name for name in PROBABILITY if name in table.columns), None)
    for needed in ("time", name or PROBABILITY[0]):
        if needed not in table.columns:
            there = ", ".join(table.columns) or "none"
            raise input_error("missing-column", f"there is no column {needed}", table.source,
                              hint=f"needed are time and probability; there are: {there}")
    assert name is not None
    ticks = ticks_of(table.columns["time"], time_unit)
    for row in sorted({*ticks.wrong, *np.flatnonzero(ticks.missing).tolist()})[:1]:
        wrong = ticks.wrong.get(row)
        shown = "" if wrong is None else f"{_shown(table.columns['time'], row)} {wrong}"
        raise input_error("bad-time", shown or "the row has no time", table.source, *table.place(row, "time"),
                          hint=HINTS.get(wrong or "", "every row needs a time"))
    names = tuple(column for column in table.columns if column not in ("time", name))
    codes, keys = _streams(table, names)
    probs = _numbers(table, name)
    points = Points(names, keys, np.zeros(1, np.int64), ticks.values, probs, table)
    _check_probabilities(points, name)
    return _sorted(points, ticks.values, codes)


def _numbers(table: Table, name: str) -> Floats:
    """A column as doubles; NaN where it holds no number, which the check of probabilities reports."""
    raw = table.columns[name]
    if isinstance(raw, list):
        return np.array([value if isinstance(value, (int, float)) else np.nan for value in raw], np.float64)
    if pa.types.is_integer(raw.type) or pa.types.is_floating(raw.type):
        return np.ascontiguousarray(raw.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False))
    return np.array([_number(text) for text in raw.to_pylist()], np.float64)  # one wrong cell makes a column text


def _number(cell: object) -> float:
    try:
        return float(cell) if isinstance(cell, str) else np.nan
    except ValueError:
        return np.nan


def _check_probabilities(points: Points, column: str = PROBABILITY[0]) -> None:
    bad = first_improper(points.probs)
    if bad < 0:
        return
    found: object = float(points.probs[bad])
    if points.table is not None:
        found = _shown(points.table.columns[column], bad)
    message = "there is no probability" if found is None else f"{found} is no probability"
    raise points.problem("bad-probability", bad, column, message, RANGE)


def _shown(raw: Raw, row: int) -> object:
    return raw[row] if isinstance(raw, list) else raw[row].as_py()


def _streams(table: Table, names: tuple[str, ...]) -> tuple[Array, list[Key]]:
    """The stream of every row, in order of first occurrence, and the key of every stream."""
    codes = np.zeros(table.length, np.int64)
    for name in names:
        raw = table.columns[name]
        column = pa.array([None if v is None else str(v) for v in raw]) if isinstance(raw, list) else raw
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode("encode")
        own = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False).astype(np.int64)
        _, codes = np.unique(codes * (len(encoded.dictionary) + 1) + own, return_inverse=True)
    if not names:
        return codes, [()]
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(first.shape[0], np.int64)
    rank[np.argsort(first)] = np.arange(first.shape[0])
    rows = np.sort(first).tolist()
    return rank[inverse], [tuple(_shown(table.columns[name], row) for name in names) for row in rows]


def _sorted(points: Points, times: Array, codes: Array) -> Points:
    """The points by stream and time; two at one time are an error."""
    offsets = np.concatenate((np.zeros(1, np.int64), np.bincount(codes, minlength=len(points.keys)).cumsum()))
    same, later = codes[1:] == codes[:-1], times[1:] >= times[:-1]
    if np.all((codes[1:] > codes[:-1]) | (same & later)):
        found = Points(points.names, points.keys, offsets, times, points.probs, points.table)
    else:
        rows = _order(codes, times)
        times, codes = times[rows], codes[rows]
        found = Points(points.names, points.keys, offsets, times, points.probs[rows], points.table, rows)
    twice = np.flatnonzero((times[1:] == times[:-1]) & (codes[1:] == codes[:-1]))
    if twice.shape[0]:
        at = int(twice[0]) + 1
        where = f" of {name_of(points.keys[codes[at]])}" if points.names else ""
        message = f"time-point {times[at]}{where} has a probability already"
        raise found.problem("repeated-time", at, "time", message, "keep one row for each time-point of a stream")
    return found


def _order(codes: Array, times: Array) -> Array:
    low, high = int(times.min()), int(times.max())
    shift = max(1, (high - low).bit_length())
    if shift + int(codes.max()).bit_length() <= 62:
        return order((codes << shift) | (times - low))
    return np.lexsort((times, codes))
