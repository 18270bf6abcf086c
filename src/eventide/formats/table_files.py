"""JSON lines, Parquet and Arrow files, and tables in memory, to columns by name. Knows no events."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from eventide.formats.expected import ColumnType
from eventide.formats.facts import BadRow
from eventide.formats.files import Text, missing, read_text
from eventide.formats.headed_csv import csv_table
from eventide.formats.problems import diagnostic, input_error
from eventide.formats.sparse import Raw, flat
from eventide.formats.tables import Table


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
    """One JSON object per line; values keep their own types."""
    lines: list[int] = []
    rows: list[dict[str, Any]] = []
    texts: list[str] = []
    bad: list[tuple[int, BadRow]] = []
    for line, row in enumerate(text.piece(text.start, text.stop).split("\n")[:-1], 1):
        if not row.strip():
            continue
        try:
            found = json.loads(row)
            if not isinstance(found, dict):
                raise ValueError("the line is no JSON object")
            nested = next((k for k, v in found.items() if isinstance(v, (list, dict))), None)
            if nested is not None:
                raise ValueError(f"{nested} is a list or an object, expected a number or text")
        except (ValueError, RecursionError) as error:
            column = error.colno if isinstance(error, json.JSONDecodeError) else 1
            message = f"no JSON: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
            hint = 'expected one object per line, such as {"time": 5, "event": "stop", "vessel": 7}'
            bad.append((line, BadRow(diagnostic("bad-json", message, text.source, line, column, hint=hint), row)))
            continue
        lines.append(line)
        rows.append(found)
        texts.append(row)
    ordered = dict.fromkeys(name for row in rows for name in row)  # in order of appearance
    columns: dict[str, Raw] = {name: [row.get(name) for row in rows] for name in ordered}

    def place(row: int, column: str) -> tuple[int, int]:
        return lines[row], max(0, texts[row].find(f'"{column}"')) + 1

    return Table(text.source, columns, len(rows), place, texts.__getitem__, np.array(lines, np.int64), bad)


def file_table(path: str, types: Mapping[str, ColumnType]) -> Table:
    """The table of a file with named columns, by its ending."""
    plain = path.removesuffix(".gz")
    if plain.endswith(".csv"):
        return csv_table(read_text(path), types)
    if plain.endswith(".jsonl"):
        return json_table(read_text(path))
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
    """A pyarrow, polars or pandas table; None for anything else. Imports neither polars nor pandas."""
    package = type(found).__module__.split(".")[0]
    if isinstance(found, (pa.Table, pa.RecordBatch)):
        return arrow_table(found if isinstance(found, pa.Table) else pa.Table.from_batches([found]), source)
    if package == "polars" and hasattr(found, "to_arrow"):
        return arrow_table(found.to_arrow(), source)
    if package == "pandas" and hasattr(found, "columns"):
        return _pandas_table(found, source)
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
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # a column of mixed types
            columns[str(name)] = frame[name].tolist()

    def text(row: int) -> str:
        return ", ".join(f"{n}={c[row]}" for n, c in columns.items())

    return _numbered(source, columns, len(frame), text)
