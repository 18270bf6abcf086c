"""JSON lines, Parquet and Arrow files, and tables in memory, to columns by name. Knows no events."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from eventide.errors import InputError
from eventide.formats.expected import ColumnType
from eventide.formats.facts import BadRow
from eventide.formats.files import Text, missing, read_text
from eventide.formats.headed_csv import csv_table
from eventide.formats.problems import diagnostic, input_error, lines_of
from eventide.formats.sparse import Raw, flat
from eventide.formats.tables import Table

_NO_ARGUMENTS = frozenset({"time", "event", "arrival", "probability", "op"})
_ARRAYS: dict[type, pa.DataType] = {int: pa.int64(), float: pa.float64(), str: pa.string()}
_JsonRow: TypeAlias = "tuple[int, dict[str, Any], str]"  # its line, what it says, its text


def arrow_table(table: pa.Table, source: str) -> Table:
    """An Arrow table, wherever it came from; rows count from 1."""
    names = table.column_names
    for at, name in enumerate(names):
        if name in names[:at]:
            raise input_error("repeated-column", f"two columns are called {name!r}", source, 1, at + 1)
    columns: dict[str, Raw] = {}
    for name in names:
        columns[name] = flat(table[name])

    def text(row: int) -> str:
        return ", ".join(f"{n}={columns[n][row]}" for n in names)

    return _numbered(source, columns, table.num_rows, text)


def _numbered(source: str, columns: dict[str, Raw], length: int, text: Callable[[int], str]) -> Table:
    names = list(columns)

    def place(row: int, column: str) -> tuple[int, int]:
        return row + 1, names.index(column) + 1 if column in columns else 1

    return Table(source, columns, length, place, text, np.arange(1, length + 1, dtype=np.int64))


def json_table(text: Text) -> Table:
    """One JSON object per line; values keep their own types, columns are in the order in which names first occur."""
    rows, bad = _json_rows(text)
    return _json_table(text.source, rows, bad)


def json_tables(text: Text) -> list[Table]:
    """One JSON object per line, those with the same names in one table: what else is read with it moves no column."""
    rows, bad = _json_rows(text)
    shapes: dict[tuple[str, ...], list[_JsonRow]] = {(): []}
    by_names: dict[tuple[str, ...], list[_JsonRow]] = {}
    for row in rows:
        by_names.setdefault(tuple(row[1]), []).append(row)
    for names, group in by_names.items():
        absent = next((name for name in ("time", "event") if name not in names), None)
        if absent is None:
            shapes.setdefault(tuple(name for name in names if name not in _NO_ARGUMENTS), []).extend(group)
            continue
        for line, _, content in group:
            problem = diagnostic("missing-column", f"no {absent}", text.source, line, hint="every object needs one")
            bad.append((line, BadRow(problem, content)))
    tables = [_json_table(text.source, sorted(group, key=lambda row: row[0]), [])
              for group in shapes.values() if group]
    return [*tables, _json_table(text.source, [], bad)] if bad or not tables else tables


def _json_rows(text: Text) -> tuple[list[_JsonRow], list[tuple[int, BadRow]]]:
    rows: list[_JsonRow] = []
    bad = lines_of(text.broken)
    given = [(line, row) for line, row in enumerate(text.piece(text.start, text.stop).split("\n")[:-1], 1)
             if row and not row.isspace()]
    objects = _plain_objects([row for _, row in given])
    if objects is not None:
        return [(line, found, row) for (line, row), found in zip(given, objects, strict=True)], bad
    for line, row in given:
        try:
            found = json.loads(row)
            if not isinstance(found, dict):
                raise ValueError("the line is no JSON object")
            for name, value in found.items():
                if isinstance(value, (list, dict)):
                    raise ValueError(f"{name} is a list or an object, expected a number or text")
        except (ValueError, RecursionError) as error:
            column = error.colno if isinstance(error, json.JSONDecodeError) else 1
            message = f"no JSON: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
            hint = 'expected one object per line, such as {"time": 5, "event": "stop", "vessel": 7}'
            bad.append((line, BadRow(diagnostic("bad-json", message, text.source, line, column, hint=hint), row)))
            continue
        rows.append((line, found, row))
    return rows, bad


def _plain_objects(lines: list[str]) -> list[dict[str, Any]] | None:
    """The objects of lines that have one each, read at once; None if some line must be looked at more closely."""
    joined = ",".join(lines)
    # One brace per line and no bracket: no line has two objects, none goes over two lines, none has parts.
    if joined.count("{") != len(lines) or "[" in joined or not all(line.lstrip()[:1] == "{" for line in lines):
        return None
    try:
        found: list[dict[str, Any]] = json.loads(f"[{joined}]")
    except (ValueError, RecursionError):
        return None
    return found


def _json_table(source: str, rows: list[_JsonRow], bad: list[tuple[int, BadRow]]) -> Table:
    ordered = dict.fromkeys(name for _, found, _ in rows for name in found)
    columns = {name: _of_one_type([found.get(name) for _, found, _ in rows]) for name in ordered}

    def place(row: int, column: str) -> tuple[int, int]:
        line, _, text = rows[row]
        return line, max(0, text.find(f'"{column}"')) + 1

    def text(row: int) -> str:
        return rows[row][2]

    return Table(source, columns, len(rows), place, text, np.array([line for line, _, _ in rows], np.int64), bad)


def _of_one_type(values: list[object]) -> Raw:
    """Values as an array where all are integers, all floats or all texts; otherwise as they are, each of its type."""
    kinds = set(map(type, values)) - {type(None)}
    if len(kinds) != 1 or not (kinds <= _ARRAYS.keys()):
        return values
    try:
        return pa.array(values, _ARRAYS[kinds.pop()])
    except (OverflowError, UnicodeEncodeError, pa.ArrowInvalid):  # more than 64 bits; half a character
        return values


def file_table(path: str, types: Mapping[str, ColumnType]) -> Table:
    """The table of a file with named columns, by its ending."""
    plain = path.removesuffix(".gz")
    if plain.endswith(".csv"):
        return csv_table(read_text(path, by_line=True), types)
    if plain.endswith(".jsonl"):
        return json_table(read_text(path, by_line=True))
    return arrow_table(_binary(path), path)


def _binary(path: str) -> pa.Table:
    try:
        if path.endswith(".parquet"):
            return pq.read_table(path, use_threads=False)
        with pa.memory_map(path) as file:
            try:
                return pa.ipc.open_file(file).read_all()
            except pa.ArrowInvalid:
                file.seek(0)
                return pa.ipc.open_stream(file).read_all()
    except pa.ArrowException as error:
        kind = "Parquet" if path.endswith(".parquet") else "Arrow"
        hint = "is the file complete, and does its ending say what it is?"
        raise input_error("broken-file", f"no {kind} file: {error}", path, hint=hint) from error
    except OSError as error:
        raise missing(path, error) from error


def memory_table(found: object, source: str) -> Table | None:
    """A pyarrow, polars, pandas or Spark table; None for anything else. Imports none of these but pyarrow."""
    package = type(found).__module__.split(".")[0]
    if isinstance(found, (pa.Table, pa.RecordBatch)):
        return arrow_table(found if isinstance(found, pa.Table) else pa.Table.from_batches([found]), source)
    if package == "polars" and hasattr(found, "to_arrow"):
        return arrow_table(found.to_arrow(), source)
    if package == "pandas" and hasattr(found, "columns"):
        return _pandas_table(found, source)
    if package == "pyspark" and hasattr(found, "toArrow"):
        if getattr(found, "isStreaming", False):
            raise InputError("a streaming DataFrame has no end; ev.spark.stream recognises over it")
        return arrow_table(found.toArrow(), source)
    return None


def _pandas_table(frame: Any, source: str) -> Table:
    columns: dict[str, Raw] = {}
    names = [str(name) for name in frame.columns]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise input_error("repeated-column", f"two columns are called {name!r}", source, 1, place + 1)
    for name in frame.columns:
        try:
            array = pa.array(frame[name], from_pandas=True)
            columns[str(name)] = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError, OverflowError):  # mixed types, broken values
            columns[str(name)] = frame[name].tolist()

    def text(row: int) -> str:
        return ", ".join(f"{n}={c[row]}" for n, c in columns.items())

    return _numbered(source, columns, len(frame), text)
