"""Background relations from tables: `NAME=FILE.csv|parquet` or a table in memory. Clauses are told apart, not read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eventide.errors import InputError
from eventide.formats.events import split_name
from eventide.formats.expected import ColumnType, TimeUnit
from eventide.formats.facts import Column
from eventide.formats.files import rule_text
from eventide.formats.problems import diagnostic, input_error
from eventide.formats.sparse import UnsupportedType, retyped, sparse_of
from eventide.formats.table_files import file_table, memory_table
from eventide.formats.tables import Table
from eventide.formats.unreadable import unreadable_rows

ENDINGS = (".csv", ".csv.gz", ".parquet", ".jsonl", ".jsonl.gz", ".arrow", ".feather")


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of the background knowledge: its columns are the arguments, in order."""

    name: str
    columns: tuple[Column, ...]
    column_names: tuple[str, ...]
    source: str

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0


@dataclass(frozen=True, slots=True)
class Clauses:
    """Facts and clauses that are no file of their own: their text, and where it stands."""

    source: str
    text: str


def read_background(
    spec: object, *, column_types: Mapping[str, ColumnType] | None = None, time_unit: TimeUnit | None = None
) -> list[Relation]:
    """The relations of `NAME=FILE`, of a bare file (named after it), or of a dict of tables in memory by name.

    >>> import pyarrow as pa
    >>> ports, = read_background({"port": pa.table({"id": [1, 2], "name": ["Brest", "Roscoff"]})})
    >>> ports.name, ports.columns[1].values
    ('port', ('Brest', 'Roscoff'))
    """
    types = column_types or {}
    if isinstance(spec, Mapping):
        return [_relation(str(name), _table(found, str(name), types), types, time_unit) for name, found in spec.items()]
    if not isinstance(spec, (str, os.PathLike)):
        raise InputError(f"cannot read background from a {type(spec).__name__}; expected NAME=FILE or a dict of tables")
    name, path = split_name(os.fspath(spec))
    return [_relation(name or Path(path).name.split(".")[0], _table(path, name or "", types), types, time_unit)]


def rules_and_tables(
    background: Iterable[object], endings: tuple[str, ...]
) -> tuple[list[tuple[str, str]], list[Relation]]:
    """What a program is given besides its own text: files with these endings, or clauses, by name; and
    relations.

    >>> import pyarrow as pa
    >>> texts, tables = rules_and_tables({"port": pa.table({"id": [1, 2]})}, (".ec",))
    >>> texts, [table.name for table in tables]
    ([], ['port'])
    """
    texts: list[tuple[str, str]] = []
    tables: list[Relation] = []
    for item in [background] if isinstance(background, str | os.PathLike | Mapping) else background:
        path = os.fspath(item) if isinstance(item, str | os.PathLike) else ""
        if path.endswith(endings) and "=" not in path:
            texts.append((path, rule_text(path)))
        elif isinstance(item, Clauses):
            texts.append((item.source, item.text))
        else:
            tables.extend(read_background(item))
    return texts, tables


def _table(found: object, name: str, types: Mapping[str, ColumnType]) -> Table:
    if isinstance(found, (str, os.PathLike)):
        path = os.fspath(found)
        if not path.endswith(ENDINGS):
            hint = f"known endings of tables: {', '.join(ENDINGS)}"
            raise input_error("unknown-ending", "the ending does not say what the file is", path, hint=hint)
        return file_table(path, types)
    table = memory_table(found, f"<{name}>")
    if table is None:
        known = "a path or a pyarrow, pandas, polars or Spark table"
        raise InputError(f"background {name} is a {type(found).__name__}; expected {known}")
    return table


def _relation(name: str, table: Table, types: Mapping[str, ColumnType], unit: TimeUnit | None) -> Relation:
    problems = [row.diagnostic for _, row in table.bad]
    marks = {";": "semicolons", "\t": "tabs", "|": "bars"}
    mark = next((mark for mark in marks if [mark in column for column in table.columns] == [True]), None)
    if mark is not None and table.source.removesuffix(".gz").endswith(".csv"):
        raise input_error("unknown-form", f"the fields are separated by {marks[mark]}", table.source,
                          hint="expected commas")
    columns: list[Column] = []
    for at, (column, raw) in enumerate(table.columns.items()):
        try:
            sparse = sparse_of(raw, unit)
        except UnsupportedType as error:
            raise input_error("unsupported-type", f"column {column} has {error}", table.source, 1, at + 1) from error
        wrong = np.zeros(table.length, np.bool_)
        if column in types:
            sparse, wrong = retyped(sparse, types[column])
        for row in np.flatnonzero(sparse.missing | wrong).tolist():
            line, place = table.place(row, column)
            message = f"{column} is empty" if sparse.missing[row] else f"{column} is no {types[column]}"
            code = "empty-field" if sparse.missing[row] else "wrong-type"
            hint = "every row of a relation needs all its arguments"
            problems.append(diagnostic(code, message, table.source, line, place, hint=hint))
        for row, found in unreadable_rows(sparse.column):
            line, place = table.place(row, column)
            problems.append(diagnostic(found.code, f"{column} is {found.message}", table.source, line, place,
                                       hint=found.hint))
        columns.append(sparse.column)
    if problems:
        shown = problems[:20]
        raise InputError("\n".join(p.render() for p in shown), shown)
    return Relation(name, tuple(columns), tuple(table.columns), table.source)
