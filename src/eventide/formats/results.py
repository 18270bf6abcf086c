"""Recognised intervals to files: columns, order and text as the interface fixes them. Recognises nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from eventide.errors import InputError
from eventide.formats.problems import input_error
from eventide.formats.result_order import TEXTS, row_order, text_column
from eventide.formats.sparse import flat

ORDER = ("query_time", "change", "fluent", "args", "value", "start", "end")
REQUIRED = ("fluent", "args", "value", "start", "end")
_PIECE = 1 << 18
Columns = dict[str, pa.Array]
Writer = Callable[[Iterable[Columns], BinaryIO], None]


def write_intervals(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write results as `.csv`, `.parquet` or `.jsonl`, by the ending of `path`.

    The table has the columns fluent, args, value, start, end, and where asked for query_time and change; a null end is
    an open interval; other columns follow. The file appears whole or not at all.

    >>> import tempfile
    >>> table = pa.table({"fluent": ["f"], "args": ["a|b"], "value": ["true"], "start": [6], "end": [None]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_intervals(table, Path(folder) / "out.csv")
    ...     print((Path(folder) / "out.csv").read_text(), end="")
    fluent,args,value,start,end
    f,a|b,true,6,
    """
    target = Path(path)
    write = writer_for(target)
    columns = sorted_columns(table)
    with whole_file(target) as out:
        write([columns], out)


def writer_for(path: Path) -> Writer:
    """The writer of an ending, for tables that follow one another; InputError without one, or without the folder."""
    if path.suffix not in WRITERS:
        hint = f"known endings: {', '.join(WRITERS)}"
        raise input_error("unknown-ending", "the ending does not say how to write the result", str(path), hint=hint)
    if not path.parent.is_dir():
        message = f"the folder {path.parent} does not exist"
        raise input_error("missing-folder", message, str(path), hint=f"create it: mkdir -p {path.parent}")
    if path.is_dir():
        raise input_error("cannot-write", "this is a folder", str(path), hint="give the name of a file")
    return WRITERS[path.suffix]


def sorted_columns(table: pa.Table) -> Columns:
    """The columns in the order of the interface, with their rows sorted; texts have a dictionary."""
    absent = [name for name in REQUIRED if name not in table.column_names]
    if absent:
        raise InputError(f"a result needs the columns {', '.join(REQUIRED)}; {', '.join(absent)} is missing")
    names = [n for n in ORDER if n in table.column_names] + [n for n in table.column_names if n not in ORDER]
    columns = text_columns(table.select(names))
    order = row_order(columns)
    return columns if order is None else {n: c.take(pa.array(order)) for n, c in columns.items()}


def text_columns(table: pa.Table) -> Columns:
    """The columns as they are; texts get a dictionary."""
    return {n: text_column(table[n]) if n in TEXTS or _is_text(table[n].type) else flat(table[n])
            for n in table.column_names}


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind))


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that takes its name only when all is written; otherwise nothing of it stays."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as out:
            yield out
        os.replace(part, path)
    except OSError as error:
        raise input_error("cannot-write", f"cannot write the file: {error.strerror or error}", str(path)) from error
    finally:
        part.unlink(missing_ok=True)


def _write_csv(pieces: Iterable[Columns], out: BinaryIO) -> None:
    style = _Style({}, r'[,"\n\r]', csv_field, "", "", ",", "\n")
    for number, columns in enumerate(pieces):
        if number == 0:
            out.write((",".join(map(csv_field, columns)) + "\n").encode())
        _write_lines(columns, out, style)


def _write_json(pieces: Iterable[Columns], out: BinaryIO) -> None:
    for columns in pieces:
        labels = {name: f"{json.dumps(name)}: " for name in columns}
        labels[next(iter(columns))] = "{" + labels[next(iter(columns))]
        _write_lines(columns, out, _Style(labels, r'["\\\x00-\x1f\x7f]', _json_field, '"', "null", ", ", "}\n"))


def _write_parquet(pieces: Iterable[Columns], out: BinaryIO) -> None:
    """Small pieces are written together: each row group has its own cost."""
    waiting: list[pa.Table] = []
    writer: pq.ParquetWriter | None = None
    for columns in pieces:
        plain = {n: c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for n, c in columns.items()}
        waiting.append(pa.table(plain))
        writer = writer or pq.ParquetWriter(out, waiting[0].schema)
        if sum(len(table) for table in waiting) >= _PIECE:
            writer.write_table(pa.concat_tables(waiting))
            waiting = []
    if writer is not None:
        if waiting:
            writer.write_table(pa.concat_tables(waiting))
        writer.close()


WRITERS: dict[str, Writer] = {".csv": _write_csv, ".parquet": _write_parquet, ".jsonl": _write_json}


def csv_field(text: str) -> str:
    """A field of a CSV, quoted only where it must be.

    >>> print(csv_field('say "a,b"'))
    "say ""a,b""\"
    """
    if any(mark in text for mark in ',"\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _json_field(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _Style:
    """How a row is written: what stands before a field, which texts need `quote`, and the marks around the others."""

    labels: dict[str, str]
    special: str
    quote: Callable[[str], str]
    mark: str
    null: str
    between: str
    end: str


def _write_lines(columns: Columns, out: BinaryIO, style: _Style) -> None:
    """Rows as lines of text: each distinct text is rendered once, then Arrow joins the columns."""
    rendered = {name: _rendered(column, style.labels.get(name, ""), style) for name, column in columns.items()}
    for low in range(0, len(next(iter(columns.values()))), _PIECE):
        fields = [_piece(column, low, style.labels.get(name, ""), style.null) for name, column in rendered.items()]
        lines = _joined([_joined(fields, style.between), ""], style.end)
        out.write(lines.buffers()[2])


def _joined(fields: list[pa.Array | str], between: str) -> pa.Array:
    return pc.binary_join_element_wise(*(_large(f) if isinstance(f, str) else f for f in fields), _large(between))


def _large(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())


def _rendered(column: pa.Array, label: str, style: _Style) -> pa.Array:
    """Texts and floats as dictionaries of finished fields; integers stay as they are."""
    if pa.types.is_integer(column.type):
        return column
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
        fields = pa.array([repr(v) for v in column.dictionary.to_pylist()], pa.large_string())
    else:
        fields = _quoted(column.dictionary.cast(pa.large_string()), style)
    fields = pa.concat_arrays([fields.fill_null(style.null), pa.array([style.null], pa.large_string())])
    indices = column.indices.cast(pa.int64()).fill_null(len(fields) - 1)
    return pa.DictionaryArray.from_arrays(indices, _joined([label, fields], "") if label else fields)


def _quoted(texts: pa.Array, style: _Style) -> pa.Array:
    if pc.any(pc.match_substring_regex(texts, style.special)).as_py():
        return pa.array([None if t is None else style.quote(t) for t in texts.to_pylist()], pa.large_string())
    return _joined([style.mark, texts, style.mark], "") if style.mark else texts


def _piece(column: pa.Array, low: int, label: str, null: str) -> pa.Array:
    part = column.slice(low, _PIECE)
    if pa.types.is_dictionary(part.type):
        return part.dictionary_decode()
    numbers = part.cast(pa.large_string()).fill_null(null)
    return _joined([label, numbers], "") if label else numbers
