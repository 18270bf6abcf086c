"""CSV with a header to columns by name, each typed as a whole. Knows no events."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from eventide.errors import InputError
from eventide.formats.expected import ColumnType
from eventide.formats.facts import BadRow
from eventide.formats.files import Text
from eventide.formats.problems import diagnostic, input_error, lines_of
from eventide.formats.sparse import Raw, flat
from eventide.formats.tables import Table

TIMES = ("time", "arrival", "end")
_NUMBER = re.compile(r"-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def csv_table(text: Text, types: Mapping[str, ColumnType], *, by_value: bool = False) -> Table:
    """A CSV with a header: each column all integers, else all numbers, else text; or each value `by_value`."""
    records = _Records(text)
    _check_quotes(text)
    try:
        header = next(csv.reader(io.StringIO(text.first_line(), newline="")), [])
    except csv.Error as error:
        raise _unreadable(text.source, 1, text.first_line(), error) from error
    header = [name.strip() for name in header]
    for at, name in enumerate(header):
        if name in header[:at]:
            raise input_error("repeated-column", f"two columns are called {name!r}", text.source, 1, at + 1)
    single = [name for name in header if by_value and name not in (*TIMES, "event", *types)]
    forced = {name: pa.string() for name in header if types.get(name) == "text" or name in ("event", *single)}
    table = _parsed_csv(text, header, forced)
    vague = {name: pa.string() for name in header if _read_as_text(name, table[name])}
    if vague:
        table = _parsed_csv(text, header, forced | vague)
    columns = {name: _all_integers(name, flat(table[name]), name in vague) for name in header}
    columns |= {name: [_typed(value) for value in flat(table[name]).to_pylist()] for name in single}
    lines = np.arange(2, table.num_rows + 2, dtype=np.int64)
    regular = text.count(b"\n") == table.num_rows + 1
    bad = lines_of(text.broken)
    if not regular or text.count(b'"') % 2:
        records.check_closed()
        lines = np.array([line for line, _, fields in records.all() if len(fields) == len(header)], np.int64)
        if lines.shape[0] != table.num_rows:
            lines = np.arange(2, table.num_rows + 2, dtype=np.int64)
        for line, row, fields in records.all():
            if len(fields) != len(header):
                message = f"the row has {len(fields)} fields, the header {len(header)}"
                hint = "write empty fields for missing arguments; quote fields that contain a comma"
                bad.append((line, BadRow(diagnostic("ragged-row", message, text.source, line, 1, hint=hint), row)))

    def place(row: int, column: str) -> tuple[int, int]:
        line = int(lines[row])
        return line, _field_start(records.at(line), header.index(column) if column in header else 0)

    return Table(text.source, columns, table.num_rows, place, lambda row: records.at(int(lines[row])), lines, bad)


def _check_quotes(text: Text) -> None:
    """InputError if a line that is no text belongs to a record of several lines: the others would stand alone."""
    for line, row in lines_of(text.broken) if text.count(b'"') else ():
        above = text.piece(text.start, text.stop).split("\n")[:line - 1]
        if (row.text.count('"') or "\n".join(above).count('"')) % 2:
            raise InputError(row.diagnostic.render(), [row.diagnostic])


def _unreadable(source: str, line: int, row: str, error: csv.Error) -> InputError:
    column = row.rstrip("\r").find("\r") + 1
    message = "a carriage return inside a row" if column else f"the row cannot be read: {error}"
    return input_error("bad-csv", message, source, line, max(1, column), "rows end with a line feed; quote fields that "
                       "contain line ends")


class _Records:
    """The records of a CSV with their lines, read again only when something must be said about them."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self._all: list[tuple[int, str, list[str]]] | None = None

    def all(self) -> list[tuple[int, str, list[str]]]:
        """Line, text and fields of each record below the header."""
        if self._all is None:
            self._all = []
            rows = self.text.piece(self.text.start, self.text.stop).split("\n")
            reader = csv.reader(row + "\n" for row in rows)
            line = 0
            try:
                for fields in reader:
                    begin, line = line + 1, reader.line_num
                    if fields:
                        self._all.append((begin, "\n".join(rows[begin - 1 : line]).rstrip("\r"), fields))
            except csv.Error as error:
                raise _unreadable(self.text.source, line + 1, rows[line], error) from error
            self._all = self._all[1:]
            self._by_line = {line: row for line, row, _ in self._all}
        return self._all

    def check_closed(self) -> None:
        """InputError if the last record has a quotation mark that is never closed: it swallows all rows below."""
        line, row, _ = self.all()[-1] if self.all() else (1, "", [])
        try:
            list(csv.reader(io.StringIO(row, newline=""), strict=True))
        except csv.Error as error:
            if "unexpected end" in str(error):
                message = "the quotation mark is never closed"
                hint = 'close the field with ", and write "" for a quotation mark inside it'
                raise input_error("bad-csv", message, self.text.source, line, _open_mark(row), hint) from error

    def at(self, line: int) -> str:
        """The text of the record that begins in a line."""
        self.all()
        return self._by_line.get(line, "")


def _parsed_csv(text: Text, header: list[str], forced: Mapping[str, pa.DataType]) -> pa.Table:
    body = pa.py_buffer(text.data[text.start : text.stop])
    quoted = text.count(b'"') > 0
    try:
        return pacsv.read_csv(
            pa.BufferReader(body),
            pacsv.ReadOptions(use_threads=False, column_names=header, skip_rows=_lines_to_header(text) + 1,
                              block_size=max(1 << 22, min(text.stop + 1, 1 << 30) if quoted else 0)),
            pacsv.ParseOptions(newlines_in_values=quoted, invalid_row_handler=lambda row: "skip"),
            pacsv.ConvertOptions(column_types=dict(forced), null_values=[""], strings_can_be_null=True,
                                 quoted_strings_can_be_null=False, true_values=[], false_values=[],
                                 timestamp_parsers=["%Y"]),
        )
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            return pa.table({name: pa.nulls(0) for name in header})
        hint = "is a quotation mark not closed?"
        raise input_error("bad-csv", f"the table cannot be read: {error}", text.source, hint=hint) from error


def _lines_to_header(text: Text) -> int:
    """Blank lines above the header."""
    body = text.piece(text.start, min(text.stop, text.start + (1 << 16)))
    return next((i for i, line in enumerate(body.split("\n")) if line.strip()), 0)


def _read_as_text(name: str, column: pa.ChunkedArray) -> bool:
    """Whether Arrow's guess loses the text: times that are no integers, dates, integers beyond int64, and `nan`."""
    kind = column.type
    if pa.types.is_floating(kind) and name not in TIMES:
        numbers = column.to_numpy()
        absent = np.asarray(flat(column).is_null())
        return bool(((np.abs(numbers) >= 2.0**53) | np.isnan(numbers) & ~absent).any())
    if pa.types.is_string(kind) or pa.types.is_null(kind):
        return False
    return (name in TIMES and not pa.types.is_integer(kind)) or pa.types.is_temporal(kind) or pa.types.is_boolean(kind)


def _all_integers(name: str, column: pa.Array, vague: bool) -> Raw:
    """A column that Arrow rounded, with its integers exact; any other column as it is."""
    if not vague or name in TIMES or not pa.types.is_string(column.type):
        return column
    values = column.to_pylist()
    for convert in (int, float):
        try:
            numbers = [None if v is None else convert(v) for v in values]
        except ValueError:
            continue
        if all(number == number for number in numbers):  # a column with nan is one of texts
            return numbers
    return column


def _typed(text: str | None) -> object:
    """An integer, else a number, else text."""
    if text is None or _NUMBER.fullmatch(text) is None:
        return text
    return float(text) if any(mark in text for mark in ".eE") else int(text)


def _open_mark(row: str) -> int:
    """The column, from 1, of the quotation mark that stays open."""
    return max(row.find(',"') + 2, 1)


def _field_start(row: str, field: int) -> int:
    """The column, from 1, where a field of a CSV record begins."""
    quoted = False
    for at, char in enumerate(row):
        if field == 0:
            return at + 1
        quoted ^= char == '"'
        field -= char == "," and not quoted
    return len(row) + 1
