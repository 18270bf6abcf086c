"""Tables with named columns to fact tables: which column means what. Knows no file formats."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eventide.formats.expected import Expected, arguments, either
from eventide.formats.facts import BadRow, Coded, Facts, FactTable, Ints, Kind, chosen, column_values, take
from eventide.formats.problems import diagnostic, input_error, printable
from eventide.formats.sparse import Mask, Raw, Sparse, UnsupportedType, retyped, sparse_of
from eventide.formats.ticks import HINTS, Ticks, ticks_of
from eventide.formats.unreadable import unreadable_rows
from eventide.syntax.diagnostics import Diagnostic, Span

SPECIAL = ("time", "event", "arrival", "probability", "op", "end", "value")
_MARKS = {";": "';'", "\t": "tabs", "|": "'|'"}  # of other forms than CSV with commas
OPS = {"+": 1, "-": -1, 1: 1, -1: -1, "+1": 1, "-1": -1, "1": 1}


@dataclass(slots=True)
class Table:
    """Columns by name, and how to speak about a row: its line, the place of a column in it, its text."""

    source: str
    columns: dict[str, Raw]
    length: int
    place: Callable[[int, str], tuple[int, int]]
    text: Callable[[int], str]
    lines: Ints
    bad: list[tuple[int, BadRow]] = field(default_factory=list)


@dataclass(slots=True)
class _Problems:
    """The bad rows of a table; a row keeps its first problem."""

    table: Table
    good: Mask
    rows: list[tuple[int, str, str, str, str | None]] = field(default_factory=list)

    def add(self, row: int, code: str, column: str, message: str, hint: str | None = None) -> None:
        if self.good[row]:
            self.good[row] = False
            self.rows.append((row, code, column, message, hint))

    def bad_rows(self, limit: int | None) -> tuple[BadRow, ...]:
        found = list(self.table.bad[:limit])
        for row, code, column, message, hint in sorted(self.rows)[:limit]:
            line, at = self.table.place(row, column)
            problem = diagnostic(code, message, self.table.source, line, at, hint=hint)
            found.append((line, BadRow(problem, printable(self.table.text(row)))))
        return tuple(row for _, row in sorted(found, key=lambda pair: pair[0])[:limit])


def table_facts(table: Table, expected: Expected, name: str | None = None, bad_limit: int | None = None) -> Facts:
    """The facts of a table; without a `name` its column `event` names each row's."""
    expected.columns.update(table.columns)
    problems = _Problems(table, np.ones(table.length, np.bool_))
    if not table.columns:  # an empty file, or one without a single readable row
        return Facts({}, problems.bad_rows(bad_limit), len(table.bad), len(table.bad))
    _require(table, ("time",) if name else ("time", "event"))
    names, owner = _names(table, name, problems)
    kinds = {n: expected.declared(n) for n in names}
    for row in np.flatnonzero(problems.good & np.array([kinds[n] is None for n in names] or [False])[owner]).tolist():
        unknown = names[owner[row]]
        message, hint = expected.unknown(unknown)
        problems.add(row, "unknown-name", "event", message, hint)
    present = set(kinds.values())
    special = {"time", "arrival", "probability", "op"} | (set() if name else {"event"})
    special |= {"end"} if "interval" in present else set()
    special |= {"value"} if present & {"interval", "point"} else set()
    times = {c: _ticks(table, c, expected, problems) for c in ("time", "arrival", "end")
             if c in table.columns and c in special}
    _reject_missing(problems, "time", times["time"].missing)
    whole = FactTable(
        "", "event", times["time"].values, rows=table.lines, origins=((table.source, 0),), by_column=True,
        arrival=_or_time(times.get("arrival"), times["time"]), probability=_probabilities(table, problems),
        op=_ops(table, problems), end=times["end"].values if "end" in times else None,
    )
    fluents = {c: _column(table, c, expected, problems) for c in ("value",) if c in table.columns and c in special}
    args = [(c, _column(table, c, expected, problems)) for c in table.columns if c not in special]
    counts = _argument_counts(args, problems)
    tables: dict[tuple[str, int], FactTable] = {}
    for code, each in enumerate(names):
        kind = kinds[each]
        rows = (owner == code) & problems.good
        if kind is None or not rows.any():
            continue
        _check_kind(each, kind, rows, fluents.get("value"), times.get("end"), times["time"], problems)
        rows &= problems.good
        if not rows.any():
            continue
        numbers, firsts, sizes = np.unique(counts[rows], return_index=True, return_counts=True)
        in_order = np.argsort(firsts)
        accepted = expected.accepted(each, dict(zip(numbers[in_order].tolist(), sizes[in_order].tolist(), strict=True)))
        for count in numbers[in_order].tolist():
            group = rows & (counts == count)
            if count in accepted:
                tables[each, count] = _group(whole, each, kind, group, fluents.get("value"), args[:count])
                continue
            message = f"{each} has {arguments(count)} here, expected {either(accepted)}"
            at = args[min(count, len(args) - 1)][0] if args else "event"
            for row in np.flatnonzero(group).tolist():
                problems.add(row, "wrong-arity", at, message, "compare with the other rows of this name")
    bad_count = len(problems.rows) + len(table.bad)
    notes = _order_note(chosen(whole, problems.good))
    return Facts(tables, problems.bad_rows(bad_limit), bad_count, table.length + len(table.bad), notes)


def _require(table: Table, needed: tuple[str, ...]) -> None:
    for column in needed:
        if column not in table.columns:
            listed = ", ".join(table.columns) or "none"
            message = f"no column {column}; the columns are {listed}"
            raise input_error("missing-column", message, table.source, hint=missing_column_hint(column, table.columns))


def missing_column_hint(column: str, columns: Iterable[str]) -> str:
    """What to try where a table has no column of that name.

    >>> missing_column_hint("time", ["Timestamp", "who"]), missing_column_hint("time", ["time;who"])
    ('rename the column Timestamp to time', "separate the fields by commas, not by ';'")
    """
    names = {name.lower(): name for name in columns}
    only = next(iter(names)) if len(names) == 1 else ""
    mark = next((mark for mark in _MARKS if mark in only), None)
    if mark is not None:
        return f"separate the fields by commas, not by {_MARKS[mark]}"
    close = difflib.get_close_matches(column, names, 1)
    if close:
        return f"rename the column {names[close[0]]} to {column}"
    return "rename the column with the times" if column == "time" else "or give the table as NAME=FILE"


def _names(table: Table, name: str | None, problems: _Problems) -> tuple[list[str], Ints]:
    if name is not None:
        return [name], np.zeros(table.length, np.int64)
    events = _as_sparse(table, "event", None)
    _reject_missing(problems, "event", events.missing)
    if not isinstance(events.column, Coded):
        distinct, codes = np.unique(events.column, return_inverse=True)
        return [str(v) for v in distinct.tolist()], codes.astype(np.int64)
    return [str(v) for v in events.column.values], events.column.codes.astype(np.int64)


def _as_sparse(table: Table, column: str, expected: Expected | None) -> Sparse:
    try:
        return sparse_of(table.columns[column], expected.time_unit if expected else None)
    except UnsupportedType as error:
        place = list(table.columns).index(column) + 1
        raise input_error("unsupported-type", f"column {column} has {error}", table.source, 1, place) from error


def _column(table: Table, column: str, expected: Expected, problems: _Problems) -> Sparse:
    typed = sparse = _as_sparse(table, column, expected)
    wanted = expected.column_types.get(column)
    if wanted is not None:
        typed, wrong = retyped(sparse, wanted)
        for row in np.flatnonzero(wrong).tolist():
            value = column_values(take(sparse.column, np.array([row])))[0]
            problems.add(row, "wrong-type", column, f"{column} is {value!r}, which is no {wanted}")
    for row, found in unreadable_rows(typed.column):
        if not typed.missing[row]:
            problems.add(row, found.code, column, f"{column} is {found.message}", found.hint)
    return typed


def _ticks(table: Table, column: str, expected: Expected, problems: _Problems) -> Ticks:
    raw = table.columns[column]
    ticks = ticks_of(raw, expected.time_unit)
    for row, problem in ticks.wrong.items():
        value = raw[row] if isinstance(raw, list) else raw[row].as_py()
        code = "time-overflow" if "64 bits" in problem else "bad-time"
        problems.add(row, code, column, f"{column} is {str(value)!r}, which {problem}", HINTS[problem])
    return ticks


def _reject_missing(problems: _Problems, column: str, missing: Mask) -> None:
    for row in np.flatnonzero(missing).tolist():
        problems.add(row, "empty-field", column, f"{column} is empty", "every row needs a value here")


def _or_time(arrival: Ticks | None, time: Ticks) -> Ints | None:
    return None if arrival is None else np.where(arrival.missing, time.values, arrival.values)


def _probabilities(table: Table, problems: _Problems) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    if "probability" not in table.columns:
        return None
    typed, wrong = retyped(_as_sparse(table, "probability", None), "float")
    numbers = np.asarray(typed.column, np.float64) if not isinstance(typed.column, Coded) else np.zeros(table.length)
    undefined = _undefined(table.columns["probability"])
    for row in np.flatnonzero(wrong | undefined | ~typed.missing & ~((numbers >= 0) & (numbers <= 1))).tolist():
        hint = "leave it empty for a certain fact"
        problems.add(row, "bad-probability", "probability", "probability is not a number from 0 to 1", hint)
    return np.where(typed.missing, 1.0, numbers)


def _undefined(raw: Raw) -> Mask:
    """Which cells are not-a-number: elsewhere that is a missing value, but no probability."""
    if isinstance(raw, list):
        return np.array([isinstance(value, float) and value != value for value in raw], np.bool_)
    if not pa.types.is_floating(raw.type):
        return np.zeros(len(raw), np.bool_)
    found: Mask = pc.is_nan(raw).fill_null(False).to_numpy(zero_copy_only=False)
    return found


def _ops(table: Table, problems: _Problems) -> np.ndarray[tuple[int], np.dtype[np.int8]] | None:
    if "op" not in table.columns:
        return None
    sparse = _as_sparse(table, "op", None)
    ops = np.array([OPS.get(v, 0) for v in column_values(sparse.column)], np.int8)
    ops[sparse.missing] = 1
    for row in np.flatnonzero(ops == 0).tolist():
        problems.add(row, "bad-op", "op", "op is neither + nor -", "+ inserts the fact, - retracts it")
    return ops


def _argument_counts(args: list[tuple[str, Sparse]], problems: _Problems) -> Ints:
    """How many arguments each row has: empty columns at its end do not count, a gap before them is a problem."""
    counts = np.zeros(problems.table.length, np.int64)
    for j, (_, sparse) in enumerate(args):
        counts[~sparse.missing] = j + 1
    for j, (column, sparse) in enumerate(args):
        for row in np.flatnonzero(sparse.missing & (counts > j)).tolist():
            hint = "only the last arguments of a row may be empty; give events of other shapes as NAME=FILE"
            problems.add(row, "empty-field", column, f"argument {column} is empty", hint)
    return counts


def _check_kind(
    name: str, kind: Kind, rows: Mask, value: Sparse | None, end: Ticks | None, time: Ticks, problems: _Problems
) -> None:
    """An event has neither end nor value, a point fluent a value, an interval both, and ends after its start."""
    given = {"end": None if end is None else ~end.missing, "value": None if value is None else ~value.missing}
    needed = {"event": (), "point": ("value",), "interval": ("end", "value")}[kind]
    shape = {"event": "an event", "point": "a fluent given by points", "interval": "a fluent given by intervals"}[kind]
    for column, has in given.items():
        if column in needed and has is None:
            hint = f"add a column {column}, or declare {name} otherwise in the program"
            message = f"{name} is {shape}, but there is no column {column}"
            raise input_error("missing-column", message, problems.table.source, hint=hint)
        if has is None:
            continue
        for row in np.flatnonzero(rows & (has != (column in needed))).tolist():
            word = "is empty" if column in needed else "is not empty"
            problems.add(row, "wrong-kind", column, f"{column} {word}, but {name} is {shape}")
    if kind == "interval" and end is not None:
        for row in np.flatnonzero(rows & problems.good & (end.values <= time.values)).tolist():
            message = f"the interval ends at {end.values[row]}, not after its start {time.values[row]}"
            problems.add(row, "empty-interval", "end", message, "intervals are [start, end)")


def _group(
    whole: FactTable, name: str, kind: Kind, rows: Mask, value: Sparse | None, args: list[tuple[str, Sparse]]
) -> FactTable:
    part = FactTable(
        name, kind, whole.time, tuple(s.column for _, s in args), whole.end if kind == "interval" else None,
        None if kind == "event" or value is None else value.column, whole.arrival, whole.probability, whole.op,
        whole.rows, whole.origins, True,
    )
    return part if rows.all() else chosen(part, np.flatnonzero(rows))


def _order_note(table: FactTable) -> tuple[Diagnostic, ...]:
    order = table.time if table.arrival is None else table.arrival
    drops = np.flatnonzero(order[1:] < order[:-1])
    if not drops.shape[0]:
        return ()
    source, line = table.place(int(drops[0]) + 1)
    message = f"rows are not in order of arrival, first in row {line}; they need not be"
    return (Diagnostic("info", "unsorted-file", message, Span(source, line, 1, line, 2)),)


