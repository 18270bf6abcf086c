"""Facts in memory: typed columns, one table per name and number of arguments. Knows no files and no rules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Literal

import numpy as np
import numpy.typing as npt

from eventide.syntax.diagnostics import Diagnostic

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Value = int | float | str
Kind = Literal["event", "point", "interval"]


@dataclass(frozen=True, slots=True)
class Coded:
    """A dictionary column: `values[codes[i]]` is the value of row i.

    Values keep their type, so 1, 1.0 and "1" are three values; a `str` is a Prolog atom or the text of a compound
    term. Every value is used by some row, and none occurs twice.

    >>> Coded(np.array([0, 1, 0], np.int32), ("tug", 7))[2]
    'tug'
    """

    codes: npt.NDArray[np.int32]
    values: tuple[Value, ...]

    def __len__(self) -> int:
        return int(self.codes.shape[0])

    def __getitem__(self, row: int) -> Value:
        return self.values[int(self.codes[row])]


Column = Ints | Floats | Coded


def _identity(value: Value) -> tuple[type, Value]:
    """What makes two values the same: type and value, with -0.0 and 0.0 apart."""
    return type(value), value.hex() if isinstance(value, float) else value


def coded(codes: npt.NDArray[np.integer], values: Sequence[Value]) -> Coded:
    """A dictionary column from codes into `values`, with repeated and unused values taken out.

    >>> coded(np.array([2, 0]), ["a", "b", "c"])
    Coded(codes=array([1, 0], dtype=int32), values=('a', 'c'))
    """
    used = np.zeros(len(values), np.bool_)
    used[codes] = True
    places: dict[tuple[type, Value], int] = {}
    kept: list[Value] = []
    remap = np.zeros(len(values), np.int32)
    for old in np.flatnonzero(used).tolist():
        place = places.setdefault(_identity(values[old]), len(kept))
        if place == len(kept):
            kept.append(values[old])
        remap[old] = place
    return Coded(remap[codes], tuple(kept))


def column_of(values: Iterable[Value]) -> Column:
    """The narrowest exact column of Python values: int64, float64, else a dictionary column.

    >>> column_of([3, 4])
    array([3, 4])
    >>> column_of([3, "x", 3]).values
    (3, 'x')
    """
    rows = list(values)
    types = {type(v) for v in rows}
    if types == {int} and min(rows) >= -(2**63) and max(rows) < 2**63:  # type: ignore[type-var, operator]
        return np.array(rows, np.int64)
    if types == {float}:
        return np.array(rows, np.float64)
    places: dict[tuple[type, Value], int] = {}
    codes = np.empty(len(rows), np.int32)
    for i, value in enumerate(rows):
        codes[i] = places.setdefault(_identity(value), len(places))
    distinct: list[Value] = [0] * len(places)
    for code, value in zip(codes.tolist(), rows, strict=True):
        distinct[code] = value
    return Coded(codes, tuple(distinct))


def column_values(column: Column) -> list[Value]:
    """The column as Python values, in row order."""
    if isinstance(column, Coded):
        return [column.values[c] for c in column.codes.tolist()]
    values: list[Value] = column.tolist()
    return values


def take(column: Column, rows: npt.NDArray[np.integer] | npt.NDArray[np.bool_] | slice) -> Column:
    """The chosen rows of a column, by index or mask."""
    return _compact(column.codes[rows], column.values) if isinstance(column, Coded) else column[rows]


def _compact(codes: npt.NDArray[np.int32], values: tuple[Value, ...]) -> Coded:
    """A dictionary column without the values that no row uses."""
    used = np.zeros(len(values), np.bool_)
    used[codes] = True
    if used.all():
        return Coded(codes, values)
    places = (np.cumsum(used) - 1).astype(np.int32)
    return Coded(places[codes], tuple(compress(values, used.tolist())))


def concat_columns(columns: Sequence[Column], widen: bool = False) -> Column:
    """One column after the other. Integers and floats together stay exact, or become floats with `widen`."""
    if len(columns) == 1:
        return columns[0]
    plain = [c for c in columns if not isinstance(c, Coded)]
    if len(plain) == len(columns) and (widen or len({c.dtype for c in plain}) == 1):
        return np.concatenate(plain)  # type: ignore[return-value]
    values: list[Value] = []
    codes: list[npt.NDArray[np.int64]] = []
    for column in columns:
        part = column if isinstance(column, Coded) else _coded_numbers(column)
        codes.append(part.codes.astype(np.int64) + len(values))
        values.extend(part.values)
    return coded(np.concatenate(codes), values)


def _coded_numbers(column: Ints | Floats) -> Coded:
    # floats are told apart by their bits, so that -0.0 survives
    distinct, codes = np.unique(column.view(np.int64), return_inverse=True)
    return Coded(codes.astype(np.int32), tuple(distinct.view(column.dtype).tolist()))


@dataclass(frozen=True, slots=True)
class FactTable:
    """All facts of one name with one number of arguments, in the order they were read.

    `time` is the occurrence (of intervals: the start) and `end` the exclusive end of intervals. `value` is the value of
    an input fluent. `arrival`, `probability` and `op` (+1 insert, -1 retract) are None where the input has no such
    column: the fact arrives when it occurs, is certain, is inserted. `rows` are the row numbers in the source, for
    messages; `origins` lists each source with its first row here.
    """

    name: str
    kind: Kind
    time: Ints
    args: tuple[Column, ...] = ()
    end: Ints | None = None
    value: Column | None = None
    arrival: Ints | None = None
    probability: Floats | None = None
    op: npt.NDArray[np.int8] | None = None
    rows: Ints | None = None
    origins: tuple[tuple[str, int], ...] = ()
    by_column: bool = False

    def __len__(self) -> int:
        return int(self.time.shape[0])

    @property
    def source(self) -> str:
        """The files (or objects) the facts come from."""
        return ", ".join(name for name, _ in self.origins)

    def place(self, row: int) -> tuple[str, int]:
        """Source and row number of a fact; row number 0 where none is known."""
        number = 0 if self.rows is None else int(self.rows[row])
        if not self.origins:
            return "", number
        return self.origins[bisect_right([first for _, first in self.origins], row) - 1][0], number


def _joined(tables: Sequence[FactTable], exact: bool) -> FactTable:
    """Facts of one name and number of arguments from several sources."""
    first = tables[0]
    if len(tables) == 1:
        return first
    by_column = all(t.by_column for t in tables)
    widen = by_column and not exact
    lengths = np.cumsum([0, *(len(t) for t in tables)]).tolist()
    origins = tuple((name, at + base) for t, base in zip(tables, lengths, strict=False) for name, at in t.origins)
    args = tuple(concat_columns([t.args[j] for t in tables], widen) for j in range(len(first.args)))
    has_arrival = any(t.arrival is not None for t in tables)
    has_probability = any(t.probability is not None for t in tables)
    has_op = any(t.op is not None for t in tables)
    has_rows = all(t.rows is not None for t in tables)
    return FactTable(
        first.name,
        first.kind,
        np.concatenate([t.time for t in tables]),
        args,
        None if first.end is None else np.concatenate([t.end for t in tables if t.end is not None]),
        None if first.value is None else concat_columns([t.value for t in tables if t.value is not None], widen),
        np.concatenate([t.time if t.arrival is None else t.arrival for t in tables]) if has_arrival else None,
        np.concatenate([np.ones(len(t)) if t.probability is None else t.probability for t in tables])
        if has_probability
        else None,
        np.concatenate([np.ones(len(t), np.int8) if t.op is None else t.op for t in tables]) if has_op else None,
        np.concatenate([t.rows for t in tables if t.rows is not None]) if has_rows else None,
        origins,
        by_column,
    )


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that is no fact: where it is, what is wrong, and its text."""

    diagnostic: Diagnostic
    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What was read: the tables by (name, number of arguments), the rows left out, and notes for the user.

    `bad` may hold only the first of the `bad_count` bad rows. `rows_read` counts good and bad rows.
    """

    tables: dict[tuple[str, int], FactTable] = field(default_factory=dict)
    bad: tuple[BadRow, ...] = ()
    bad_count: int = 0
    rows_read: int = 0
    notes: tuple[Diagnostic, ...] = ()

    def __len__(self) -> int:
        return sum(map(len, self.tables.values()))

    def __iter__(self) -> Iterator[FactTable]:
        return iter(self.tables.values())

    def of(self, name: str) -> list[FactTable]:
        """The tables of a name, one per number of arguments."""
        return [t for t in self.tables.values() if t.name == name]


def merged(parts: Sequence[Facts], *, exact: bool = False) -> Facts:
    """Several inputs as one; rows keep the order in which the inputs are listed, and with `exact` all their types."""
    groups: dict[tuple[str, int], list[FactTable]] = {}
    for part in parts:
        for key, table in part.tables.items():
            groups.setdefault(key, []).append(table)
    return Facts(
        {key: _joined(tables, exact) for key, tables in groups.items()},
        tuple(row for part in parts for row in part.bad),
        sum(part.bad_count for part in parts),
        sum(part.rows_read for part in parts),
        tuple(note for part in parts for note in part.notes),
    )


def moved(facts: Facts, lines: int) -> Facts:
    """The facts of a text that stands so many lines further down than it was read."""
    def further(problem: Diagnostic) -> Diagnostic:
        span = problem.span
        return problem if span is None else replace(
            problem, span=replace(span, line=span.line + lines, end_line=span.end_line + lines))

    tables = {key: replace(table, rows=None if table.rows is None else table.rows + lines)
              for key, table in facts.tables.items()}
    return replace(facts, tables=tables, notes=(),
                   bad=tuple(replace(row, diagnostic=further(row.diagnostic)) for row in facts.bad))


def chosen(table: FactTable, rows: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> FactTable:
    """The chosen rows of a table, by ascending index or mask; the table must come from one source."""
    return replace(
        table,
        time=table.time[rows],
        args=tuple(take(a, rows) for a in table.args),
        end=None if table.end is None else table.end[rows],
        value=None if table.value is None else take(table.value, rows),
        arrival=None if table.arrival is None else table.arrival[rows],
        probability=None if table.probability is None else table.probability[rows],
        op=None if table.op is None else table.op[rows],
        rows=None if table.rows is None else table.rows[rows],
    )
