"""Results as coded columns, ready to be drawn: from files, tables and `Result`s. Recognises nothing, draws nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.errors import InputError
from eventide.formats.problems import input_error, suggestion
from eventide.formats.result_order import text_column
from eventide.formats.results import REQUIRED
from eventide.formats.table_files import file_table, memory_table
from eventide.formats.tables import Table

Codes: TypeAlias = npt.NDArray[np.int64]
Times: TypeAlias = npt.NDArray[np.float64]
ENDINGS = (".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet", ".arrow")
_TEXT = ("fluent", "args", "value", "change", "model")
_TIME = ("start", "end")


@dataclass(frozen=True)
class Coded:
    """Texts as codes into the sorted distinct ones."""

    codes: Codes
    names: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        """The text of each row."""
        return [self.names[code] for code in self.codes]

    def at(self, rows: npt.NDArray[Any]) -> Coded:
        """Some of the rows, with the names that they use."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        return Coded(codes.astype(np.int64), tuple(self.names[code] for code in used))


@dataclass(frozen=True)
class Situations:
    """Maximal intervals, sorted by fluent, arguments and start. Times count from `origin`; an infinite end is open."""

    fluent: Coded
    args: Coded
    value: Coded
    start: Times
    end: Times
    origin: int = 0

    def __len__(self) -> int:
        return int(self.start.shape[0])

    def chosen(self, rows: npt.NDArray[Any]) -> Situations:
        """Some of the intervals, as a mask or in a new order."""
        return Situations(self.fluent.at(rows), self.args.at(rows), self.value.at(rows), self.start[rows],
                          self.end[rows], self.origin)

    def known(self) -> tuple[float, float]:
        """The first and the last time that is named, counted from the origin."""
        named = np.concatenate([self.start, self.end])
        named = named[np.isfinite(named)]
        return (float(named.min()), float(named.max())) if named.shape[0] else (0.0, 0.0)


def read_situations(results: object, fluents: Sequence[str] = ()) -> Situations:
    """The intervals of one or several results: paths, tables in memory, or what a run gave back.

    The rows of `--emit windows` are united, those of `--emit changes` added up; `fluents` keeps only these.

    >>> found = read_situations(pa.table({"fluent": ["f"], "args": ["a"], "value": ["true"], "start": [6], "end": [9]}))
    >>> found.fluent.names, found.origin, found.start.tolist(), found.end.tolist()
    (('f',), 6, [0.0], [3.0])
    """
    many = isinstance(results, Iterable) and not isinstance(results, (str, os.PathLike)) and not _is_table(results)
    sources = list(results) if many else [results]  # type: ignore[call-overload]
    tables = [_table(source) for source in sources]
    columns = {name: [text for table in tables for text in _texts(table, name)] for name in ("fluent", "args", "value")}
    if any("model" in table.columns for table in tables):
        models = [text for table in tables for text in _texts(table, "model")]
        columns["args"] = [f"{args}|model {model}" if model else args
                           for args, model in zip(columns["args"], models, strict=True)]
    origin, times = _from_origin([_times(table, name) for name in _TIME for table in tables])
    start, end = np.split(np.concatenate(times) if times else np.empty(0), 2)
    found = Situations(_coded(columns["fluent"]), _coded(columns["args"]), _coded(columns["value"]),
                       np.where(np.isnan(start), -np.inf, start), np.where(np.isnan(end), np.inf, end), origin)
    if any("change" in table.columns for table in tables):
        signs = [-1 if sign == "-" else 1 for table in tables for sign in _texts(table, "change")]
        found = _added_up(found, np.array(signs, np.int64))
    elif any("query_time" in table.columns for table in tables):
        found = united(found)
    found = found.chosen(np.lexsort((found.end, found.start, found.value.codes, found.args.codes, found.fluent.codes)))
    return _only(found, fluents)


def _is_table(found: object) -> bool:
    return hasattr(found, "to_arrow") or hasattr(found, "column_names") or hasattr(found, "columns")


def _table(source: object) -> Table:
    table: Table | None
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if not path.endswith(ENDINGS):
            hint = f"known endings: {', '.join(ENDINGS)}; `eventide run … -o result.csv` writes one"
            raise input_error("unknown-ending", "the ending does not say how to read the result", path, hint=hint)
        table = file_table(path, dict.fromkeys(_TEXT, "text"))
    else:
        table = memory_table(source.to_arrow() if hasattr(source, "to_arrow") else source, "the result")
    if table is None:
        raise InputError(f"a result is a file, a table or what a run gave back, not a {type(source).__name__}")
    if table.bad:
        problems = [row.diagnostic for _, row in table.bad[:5]]
        raise InputError("\n".join(problem.render() for problem in problems), problems)
    for name in REQUIRED:
        if name not in table.columns and (table.columns or table.length):
            hint = suggestion(name, table.columns) or f"a result has the columns {', '.join(REQUIRED)}"
            raise input_error("missing-column", f"no column {name}", table.source, hint=hint)
    return table


def _texts(table: Table, name: str) -> list[str]:
    column = table.columns.get(name)
    if column is None:
        return [""] * table.length
    array = column if isinstance(column, pa.Array) else pa.array([None if v is None else str(v) for v in column])
    return [text or "" for text in text_column(pa.chunked_array([array])).to_pylist()]


def _times(table: Table, name: str) -> list[Fraction | int | float | None]:
    column = table.columns.get(name, [])
    values = column.to_pylist() if isinstance(column, pa.Array) else column
    return [_time(value, table, name, row) for row, value in enumerate(values)]


def _time(value: object, table: Table, name: str, row: int) -> Fraction | int | float | None:
    """A time as it is exactly; nothing, `inf` and `-inf` are no time."""
    if value is None or isinstance(value, (int, float)):
        return None if value is None or abs(value) == float("inf") or value != value else value
    text = str(value).strip()
    if text in ("", "inf", "-inf", "null"):
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        line, column = table.place(row, name)
        hint = "times are whole numbers, or exact fractions such as 7/3; an empty end is still open"
        raise input_error("bad-time", f"{name} is {text!r}, which is no time", table.source, line, column,
                          hint) from None


def _from_origin(columns: list[list[Fraction | int | float | None]]) -> tuple[int, list[Times]]:
    """Times counted from the first whole number at or below all of them, so that large ones keep their digits."""
    known = [value for column in columns for value in column if value is not None]
    origin = int(min(known) // 1) if known else 0
    return origin, [np.array([np.nan if v is None else float(v - origin) for v in column]) for column in columns]


def _coded(texts: list[str]) -> Coded:
    names = sorted(set(texts))
    place = {name: code for code, name in enumerate(names)}
    return Coded(np.array([place[text] for text in texts], np.int64), tuple(names))


def _only(found: Situations, fluents: Sequence[str]) -> Situations:
    if not fluents:
        return found
    for name in fluents:
        if name not in found.fluent.names:
            known = ", ".join(found.fluent.names) or "none"
            raise InputError(f"the result has no fluent {name!r}; "
                             f"{suggestion(name, found.fluent.names) or f'it has {known}'}")
    keep = [code for code, name in enumerate(found.fluent.names) if name in fluents]
    return found.chosen(np.isin(found.fluent.codes, keep))


def _keys(found: Situations) -> Codes:
    """A number for each fluent, arguments and value."""
    return (found.fluent.codes * len(found.args.names) + found.args.codes) * len(found.value.names) + found.value.codes


def _added_up(found: Situations, signs: Codes) -> Situations:
    """What changes leave: rows that came and did not go."""
    key = np.stack([_keys(found).astype(np.float64), found.start, found.end], axis=1)
    _, first, which = np.unique(key, axis=0, return_index=True, return_inverse=True)
    total = np.bincount(which.ravel(), signs, first.shape[0])
    return found.chosen(first[total > 0])


def united(found: Situations) -> Situations:
    """Intervals of the same fluent, arguments and value that overlap or touch, as one."""
    key = _keys(found)
    order = np.lexsort((found.start, key))
    found, key = found.chosen(order), key[order]
    begins = np.flatnonzero(found.start > _covered(key, found.end) + 0.0) if len(found) else np.empty(0, np.int64)
    ends = np.maximum.reduceat(found.end, begins) if len(found) else found.end
    return replace(found.chosen(begins), end=ends)


def overlapping(key: Codes, start: Times, end: Times) -> npt.NDArray[np.bool_]:
    """Which intervals begin before an earlier one of the same key has ended; sorted by key and start."""
    return start < _covered(key, end)


def _covered(key: Codes, end: Times) -> Times:
    """How far the earlier intervals of the same key reach; minus infinity where there are none."""
    if not key.shape[0]:
        return end
    distinct, rank = np.unique(end, return_inverse=True)
    group = np.cumsum(np.concatenate([[0], np.diff(key) != 0]))
    highest = np.maximum.accumulate(group * distinct.shape[0] + rank)
    before = np.concatenate([[-1], highest[:-1]])
    same = before >= group * distinct.shape[0]
    return np.where(same, distinct[before % distinct.shape[0]], -np.inf)
