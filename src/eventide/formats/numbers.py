"""Words in columns that the rules compute with: rows that have one are bad rows, with their exact place."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np

from eventide.errors import EventideError
from eventide.formats.facts import BadRow, Coded, Column, Facts, FactTable, Value, chosen
from eventide.formats.files import read_text
from eventide.formats.problems import bad_field, diagnostic
from eventide.syntax.diagnostics import Diagnostic

_FIRST = {"event": 3, "point": 4, "interval": 5}
_SPECIAL = ("time", "event", "arrival", "probability", "op")
HINT = "expected a number; or let the rules test it first, with number(X)"


def without_words(facts: Facts, wanted: Mapping[tuple[str, int], Collection[int]]) -> Facts:
    """The facts without rows that have a word where `wanted` (by name and arity) asks for a number.

    Arguments count from 0, the value of a fluent is behind the last.
    """
    tables = dict(facts.tables)
    bad: list[BadRow] = []
    texts = _Texts()
    for key, places in wanted.items():
        table = tables.get(key)
        if table is None:
            continue
        columns = [*table.args, *([table.value] if table.value is not None else [])]
        keep = np.ones(len(table), np.bool_)
        for place in places:
            words = _words(columns[place], table.by_column)
            if words is not None:
                bad.extend(_bad_row(table, row, place, str(columns[place][row]), texts)
                           for row in np.flatnonzero(words & keep).tolist())
                keep &= ~words
        if not keep.all():
            origins = tuple((source, int(keep[:first].sum())) for source, first in table.origins)
            table = tables[key] = replace(chosen(table, keep), origins=origins)
        if table.by_column:
            tables[key] = _as_numbers(table, places)
    if not bad:
        return replace(facts, tables=tables)
    bad.sort(key=lambda row: (row.diagnostic.span.source, row.diagnostic.span.line) if row.diagnostic.span else ("", 0))
    return replace(facts, tables=tables, bad=(*facts.bad, *bad), bad_count=facts.bad_count + len(bad))


def with_numbers(facts: Facts, wanted: Mapping[tuple[str, int], Collection[int]]) -> Facts:
    """The facts with numbers that one word beside them in a column has made texts of; words stay.

    A table is typed column by column. Where rules compute with a column, each value counts as what it is; if one of
    the numbers has decimals, all have.
    """
    tables = dict(facts.tables)
    for key, places in wanted.items():
        table = tables.get(key)
        if table is not None and table.by_column:
            tables[key] = _changed(table, places, _typed)
    return replace(facts, tables=tables)


def _typed(column: Column) -> Column:
    """The column with each text that reads as a number as that number; equal ones are one value."""
    if not isinstance(column, Coded) or not any(isinstance(value, str) for value in column.values):
        return column
    found: dict[tuple[type, Value], int] = {}
    codes = []
    numbers = [_number(value) if isinstance(value, str) else value for value in column.values]
    decimals = any(isinstance(number, float) for number in numbers)
    for value, number in zip(column.values, numbers, strict=True):
        typed = value if number is None else float(number) if decimals and isinstance(number, int) else number
        codes.append(found.setdefault((type(typed), typed), len(found)))
    return Coded(np.array(codes, np.int32)[column.codes], tuple(value for _, value in found))


def word_in(column: Column, source: str, place: int, name: str) -> Diagnostic | None:
    """The problem of the first word in a column of a background table, if it has one."""
    words = _words(column, True)
    if words is None:
        return None
    row = int(np.flatnonzero(words)[0])
    message = f"argument {place + 1} of {name} is {column[row]!r}, but the rules compute with it"
    text = _Texts().line(source, row + 2)
    if text is None or '"' in text:
        return diagnostic("not-a-number", message, source, row + 2, 1, hint=HINT)
    return bad_field("not-a-number", message, source, row + 2, text, place, HINT, ",").diagnostic


def _words(column: Column, by_column: bool) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
    """Which rows have a word; in a table typed by column one word makes texts of all the numbers beside it."""
    if not isinstance(column, Coded):
        return None
    texts = (isinstance(value, str) and not (by_column and _number(value) is not None) for value in column.values)
    flags = np.fromiter(texts, np.bool_, len(column.values))
    return flags[column.codes] if flags.any() else None


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if number == number else None
    return None


def _as_numbers(table: FactTable, places: Collection[int]) -> FactTable:
    """The table with texts of numbers read as numbers, in the columns that need them."""
    def numbers(column: Column) -> Column:
        if not isinstance(column, Coded) or not any(isinstance(value, str) for value in column.values):
            return column
        values = [_number(value) if isinstance(value, str) else value for value in column.values]
        kind = float if any(isinstance(value, float) for value in values) else int
        return np.array([kind(value) for value in values if value is not None])[column.codes]

    return _changed(table, places, numbers)


def _changed(table: FactTable, places: Collection[int], change: Callable[[Column], Column]) -> FactTable:
    """The table with some of its columns changed; the value comes after the arguments."""
    args = tuple(change(column) if i in places else column for i, column in enumerate(table.args))
    value = table.value if table.value is None or len(args) not in places else change(table.value)
    return replace(table, args=args, value=value)


def _bad_row(table: FactTable, row: int, place: int, word: str, texts: _Texts) -> BadRow:
    source, line = table.place(row)
    is_value = place == len(table.args)
    what = "the value" if is_value else f"argument {place + 1}"
    message = f"{what} of {table.name} is {word!r}, but the rules compute with it"
    text = texts.line(source, line)
    if text is None:
        return BadRow(diagnostic("not-a-number", message, source or "<table>", max(line, 1), 1, hint=HINT), "")
    if not table.by_column:
        field = _FIRST[table.kind] - 1 if is_value else _FIRST[table.kind] + place
        return bad_field("not-a-number", message, source, line, text, field, HINT)
    header = next(csv.reader([texts.line(source, 1) or ""]))
    special = (*_SPECIAL, *(("value", "end") if table.kind != "event" else ()))
    arguments = [name for name in header if name.strip() not in special]
    if '"' in text or (not is_value and place >= len(arguments)):
        return BadRow(diagnostic("not-a-number", message, source, line, 1, hint=HINT), text)
    field = header.index("value" if is_value else arguments[place])
    return bad_field("not-a-number", message, source, line, text, field, HINT, ",")


class _Texts:
    """The lines of text files of columns, read again only when something must be said about them."""

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}

    def line(self, source: str, number: int) -> str | None:
        """A line, where the source is such a file and has it."""
        if not source.removesuffix(".gz").endswith(".csv"):
            return None
        if source not in self._files:
            try:
                text = read_text(source, by_line=True)
                self._files[source] = text.piece(text.start, text.stop).split("\n")
            except EventideError:
                self._files[source] = []
        lines = self._files[source]
        return lines[number - 1].removesuffix("\r") if 0 < number <= len(lines) else None
