"""What all sources give: pieces of many records in one row, and how pieces become facts. Knows no source.

A source never gives one row per record. A *piece* is a row with a block of records as they came: lines of text, or a
whole Parquet or Arrow file. The task that gets it reads the block with the readers of `eventide.formats`, so that
values keep their exact types and Spark's cost per record is next to nothing. A record that cannot be read becomes a
problem with its source, its number there and its text; the others are facts.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from eventide.errors import InputError
from eventide.formats.events import is_headed
from eventide.formats.facts import BadRow, Coded, Column, Facts, FactTable, Value, merged
from eventide.formats.files import Form, text_of
from eventide.formats.problems import diagnostic

PIECES = "data binary, form string, source string, first long, rank string"
"""`form` says how to read `data` (null: the ending of `source` does); its first record has the number `first`. Pieces
come in the order of `rank`; null: in that of `source` and `first`."""

RECORDS = ("name string, time long, end long, arrival long, probability double, op int, value string, "
           "args array<string>, source string, line long, problem string, text string")
"""One row per record, for people and for what cannot be read: of those `problem` and `text` are not null."""

LINES: Literal["lines"] = "lines"
PIECE_BYTES = 4 << 20
ENDINGS = (".csv", ".jsonl", ".parquet", ".arrow", ".feather")

PIECE_SCHEMA = pa.schema([("data", pa.binary()), ("form", pa.string()), ("source", pa.string()), ("first", pa.int64()),
                          ("rank", pa.string())])
RECORD_SCHEMA = pa.schema([
    ("name", pa.string()), ("time", pa.int64()), ("end", pa.int64()), ("arrival", pa.int64()),
    ("probability", pa.float64()), ("op", pa.int32()), ("value", pa.string()), ("args", pa.list_(pa.string())),
    ("source", pa.string()), ("line", pa.int64()), ("problem", pa.string()), ("text", pa.string()),
])

Read = Callable[[object], Facts]
"""Reads a text or a table as the program understands it, skipping bad rows: `program.read(…, bad_rows="skip")`."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Records as they came, and where from."""

    data: bytes
    form: str | None
    source: str
    first: int = 1
    rank: str | None = None


def pieces_of(batch: pa.RecordBatch) -> Iterator[Piece]:
    """The pieces in a batch of rows."""
    for row in batch.to_pylist():
        yield Piece(**row)


def piece_batch(pieces: Iterable[Piece]) -> pa.RecordBatch:
    """Pieces as rows."""
    listed = list(pieces)
    columns = [[getattr(piece, name) for piece in listed] for name in PIECE_SCHEMA.names]
    return pa.RecordBatch.from_arrays([pa.array(c, f.type) for c, f in zip(columns, PIECE_SCHEMA, strict=True)],
                                      schema=PIECE_SCHEMA)


def one_line(message: bytes) -> bytes:
    """A message as one line of text.

    >>> one_line(b'{"a": 1,\\n "b": 2}\\n')
    b'{"a": 1,  "b": 2}'
    """
    message = message.rstrip(b"\r\n")
    return message.replace(b"\n", b" ") if b"\n" in message else message


def line_pieces(lines: bytes, form: str, source: str, first: int, header: str = "") -> Iterator[Piece]:
    """Complete lines as pieces of a moderate size; each piece of a headed CSV begins with the header."""
    low = 0
    while low < len(lines):
        high = lines.find(b"\n", min(low + PIECE_BYTES, len(lines)) - 1) + 1 or len(lines)
        data = lines[low:high]
        count = data.count(b"\n")
        yield Piece(f"{header}\n".encode() + data, form, source, first - 1) if header else Piece(
            data, form, source, first)
        low, first = high, first + count


def piece_facts(piece: Piece, read: Read) -> Facts:
    """The facts of a piece; what cannot be read is among its bad rows, and never stops the rest."""
    try:
        data, form = _content(piece)
        if isinstance(data, pa.Table):
            return _from(piece.source, read(data))
        if form is None:
            form = "headed" if is_headed(text_of(piece.source, data, by_line=True)) else "rtec"
    except InputError as error:
        return _unreadable(piece, error, piece.first, "")
    return _text_facts(replace(piece, data=data), form, read)


def _content(piece: Piece) -> tuple[bytes | pa.Table, Form | None]:
    """The plain content and its form; for a CSV file the first line will say which form."""
    if piece.form == LINES:
        raise InputError("the lines of this source are no events; name their format in the configuration")
    if piece.form is not None:
        return piece.data, piece.form  # type: ignore[return-value]
    data, ending = piece.data, piece.source
    try:
        if ending.endswith(".gz"):
            data, ending = gzip.decompress(data), ending.removesuffix(".gz")
        if ending.endswith(".parquet"):
            return pq.read_table(pa.BufferReader(data), use_threads=False), None
        if ending.endswith((".arrow", ".feather")):
            return _arrow(data), None
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise InputError(f"the file is damaged or incomplete: {error}") from error
    if ending.endswith(".jsonl"):
        return data, "json"
    if ending.endswith(".csv"):
        return data, None
    raise InputError(f"the ending does not say what the file is; known are {', '.join(ENDINGS)}")


def _arrow(data: bytes) -> pa.Table:
    try:
        return pa.ipc.open_file(pa.BufferReader(data)).read_all()
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(pa.BufferReader(data)).read_all()


def _text_facts(piece: Piece, form: Form, read: Read) -> Facts:
    """The facts of lines. A line that the reader cannot even pass over is found by halving."""
    try:
        return read(replace(text_of(piece.source, piece.data, by_line=True), form=form, above=piece.first - 1))
    except InputError as error:
        lines = [line + b"\n" for line in piece.data.removesuffix(b"\n").split(b"\n")]
        above = 1 if form == "headed" else 0
        if len(lines) - above <= 1:
            return _unreadable(piece, error, piece.first + above, lines[-1].decode("utf-8", "replace").rstrip("\r\n"))
        middle = (len(lines) + above) // 2
        header = b"".join(lines[:above])
        parts = (lines[above:middle], piece.first), (lines[middle:], piece.first + middle - above)
        return merged([_text_facts(replace(piece, data=header + b"".join(part), first=first), form, read)
                       for part, first in parts], exact=True)


def _unreadable(piece: Piece, error: InputError, line: int, text: str) -> Facts:
    """No fact, and one problem for the piece as a whole."""
    problem = error.diagnostics[0] if error.diagnostics else None
    message = problem.message if problem else str(error)
    found = diagnostic(problem.code if problem else "unreadable", message, piece.source, line)
    return Facts(bad=(BadRow(found, text),), bad_count=1, rows_read=1)


def _from(source: str, facts: Facts) -> Facts:
    """The facts of a table in memory, with the name of the file it was in."""
    def named(row: BadRow) -> BadRow:
        span = row.diagnostic.span
        return row if span is None else replace(
            row, diagnostic=replace(row.diagnostic, span=replace(span, source=source)))

    tables = {key: replace(table, origins=((source, 0),)) for key, table in facts.tables.items()}
    return replace(facts, tables=tables, bad=tuple(map(named, facts.bad)))


# -- one row per record -----------------------------------------------------------------------------------------------

def as_records(read: Read) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Pieces to one row per record, good and bad: for `mapInArrow(as_records(read), RECORDS)`."""
    def step(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for piece in pieces_of(batch):
                facts = piece_facts(piece, read)
                yield from pa.concat_tables([*map(_good, facts), bad_records(facts)]).to_batches()
    return step


def bad_records(facts: Facts) -> pa.Table:
    """The bad rows as records: where each is, what is wrong, and its text."""
    spans = [row.diagnostic.span for row in facts.bad]
    columns = {
        "source": [span.source if span else None for span in spans],
        "line": [span.line if span else None for span in spans],
        "problem": [f"{row.diagnostic.message} [{row.diagnostic.code}]" for row in facts.bad],
        "text": [row.text for row in facts.bad],
    }
    return _records({name: pa.array(values, RECORD_SCHEMA.field(name).type) for name, values in columns.items()},
                    len(facts.bad))


def _good(table: FactTable) -> pa.Table:
    length = len(table)
    texts = [_spelled(column) for column in table.args]
    offsets = pa.array(np.arange(length + 1, dtype=np.int32) * len(texts))
    order = (np.arange(length)[:, None] + length * np.arange(len(texts))[None, :]).ravel()
    flat = pa.concat_arrays(texts).take(pa.array(order)) if texts else pa.array([], pa.string())
    ends = [first for _, first in table.origins[1:]] + [length]
    sources = [name for (name, first), end in zip(table.origins, ends, strict=True) for _ in range(first, end)]
    return _records({
        "name": pa.repeat(table.name, length), "time": pa.array(table.time),
        "end": None if table.end is None else pa.array(table.end),
        "arrival": None if table.arrival is None else pa.array(table.arrival),
        "probability": None if table.probability is None else pa.array(table.probability),
        "op": None if table.op is None else pa.array(table.op.astype(np.int32)),
        "value": None if table.value is None else _spelled(table.value),
        "args": pa.ListArray.from_arrays(offsets, flat),
        "source": pa.array(sources, pa.string()) if sources else None,
        "line": None if table.rows is None else pa.array(table.rows),
    }, length)


def _records(columns: dict[str, pa.Array | None], length: int) -> pa.Table:
    filled = [columns.get(f.name) for f in RECORD_SCHEMA]
    return pa.table([pa.nulls(length, f.type) if column is None else column
                     for column, f in zip(filled, RECORD_SCHEMA, strict=True)], schema=RECORD_SCHEMA)


def spelled(value: Value) -> str:
    """A value as text from which it can be read again: a text that looks like a number is quoted.

    >>> [spelled(value) for value in (7, 7.0, "tug", "7")]
    ['7', '7.0', 'tug', "'7'"]
    """
    if not isinstance(value, str):
        return repr(value)
    try:
        float(value)
    except ValueError:
        return value
    return f"'{value}'"


def _spelled(column: Column) -> pa.Array:
    if isinstance(column, Coded):
        texts = pa.array([spelled(value) for value in column.values], pa.string())
        return texts.take(pa.array(column.codes))
    if column.dtype == np.int64:
        return pa.array(column).cast(pa.string())
    return pa.array([spelled(value) for value in column.tolist()], pa.string())
