"""Tables of points and intervals on dense time, from files or memory, to facts: which column means what. No rules.

A row is a point (`time`) or an interval (`start`, `end`, `left`, `right`); where `left` and `right` are not given it is
`[start, end)`, as everywhere. Its name is in `event` or `fluent`, unless the table has one; its arguments are the other
columns, or those of results: `args`, joined by `|`, and `value` where it is not empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from eventide.formats.expected import Expected, TimeUnit
from eventide.formats.facts import BadRow, Ints, Value
from eventide.formats.problems import diagnostic, input_error
from eventide.formats.sparse import Raw
from eventide.formats.tables import Table, table_facts
from eventide.formats.ticks import HINTS, ticks_of
from eventide.mtl.cells import DenseFacts, Ends, Mask, dense_facts
from eventide.mtl.fact_lines import FactProblem, bound_in, value_in

EXACT = ("time", "start", "end", "arrival", "left", "right", "args")
"""Columns of a CSV that are read as texts, so that no digit of them is lost."""
_SIDES = {"closed": False, "[": False, "]": False, "open": True, "(": True, ")": True}


def interval_facts(table: Table, name: str | None = None, unit: TimeUnit | None = None,
                   bad_limit: int | None = None) -> DenseFacts:
    """The facts of a table; without a `name` its column `event` or `fluent` names each row's. Datetimes need a unit."""
    rows = _Rows(table, unit)
    ends = rows.ends() if table.columns else None
    good = np.flatnonzero(rows.good)
    atoms = _without_times(table, name, good)
    expected = Expected(lambda _: "event", lambda _: range(len(atoms.columns)), time_unit=unit)
    facts = table_facts(atoms, expected, name, bad_limit)
    parts = [] if ends is None else [
        (replace(part, kind="interval", end=part.time, arrival=None), _taken(ends, good[part.time]))
        for part in facts.tables.values()]
    bad = sorted([*rows.bad, *facts.bad], key=lambda row: row.diagnostic.span.line if row.diagnostic.span else 0)
    dense = dense_facts(parts)
    whole = replace(dense.facts, bad=tuple(bad[:bad_limit]), bad_count=len(rows.bad) + facts.bad_count,
                    rows_read=len(rows.bad) + facts.rows_read)
    return replace(dense, facts=whole)


def _taken(ends: Ends, rows: Ints) -> Ends:
    taken: dict[str, Any] = {name: None if (column := getattr(ends, name)) is None else column[rows]
                             for name in Ends.__slots__}
    return Ends(**taken)


def _without_times(table: Table, name: str | None, good: Ints) -> Table:
    """The good rows with their number as time, for a reader of events: it knows names, arguments and `op`."""
    columns: dict[str, Raw] = {"time": pa.array(np.arange(good.shape[0]))} if table.columns else {}
    of_results = name is None and "fluent" in table.columns
    for column, values in table.columns.items():
        if of_results and column == "fluent":
            columns["event"] = _at(values, good)
        elif of_results and column == "args":
            columns |= _split(_listed(values, good), _listed(table.columns.get("value", [None] * table.length), good))
        elif column in ("event", "op") or (column not in EXACT and not (of_results and column == "value")):
            columns[column] = _at(values, good)
    return Table(table.source, columns, good.shape[0], lambda row, column: table.place(int(good[row]), column),
                 lambda row: table.text(int(good[row])), table.lines[good], table.bad)


def _at(values: Raw, rows: Ints) -> Raw:
    if rows.shape[0] == len(values):
        return values
    return [values[row] for row in rows.tolist()] if isinstance(values, list) else values.take(pa.array(rows))


def _listed(values: Raw, rows: Ints) -> list[object]:
    found = _at(values, rows)
    return found if isinstance(found, list) else found.to_pylist()


def _split(args: list[object], values: list[object]) -> dict[str, Raw]:
    """The arguments of results, a column each, and the value of a fluent as the last; each is typed by itself."""
    known: dict[tuple[object, object], list[Value]] = {}
    pairs = list(zip(args, values, strict=True))
    for text, value in pairs:
        if (text, value) not in known:
            words = str(text).split("|") if text not in (None, "") else []
            words += [] if value in (None, "") else [str(value)]
            known[text, value] = [value_in(word) for word in words]
    most = max(map(len, known.values()), default=0)
    return {f"argument {at + 1}": [row[at] if at < len(row := known[pair]) else None for pair in pairs]
            for at in range(most)}


@dataclass(slots=True)
class _Times:
    """A column of times as fractions; some rows have none."""

    top: Ints
    under: Ints
    missing: Mask


@dataclass(slots=True)
class _Rows:
    """The rows of a table, of which some turn out to be bad; a row keeps its first problem."""

    table: Table
    unit: TimeUnit | None
    good: Mask = field(init=False)
    bad: list[BadRow] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.good = np.ones(self.table.length, np.bool_)

    def add(self, rows: Mask, column: str, problem: Callable[[int], FactProblem]) -> None:
        """Note a problem of rows that had none."""
        for row in np.flatnonzero(rows & self.good).tolist():
            self.good[row] = False
            found = problem(row)
            line, at = self.table.place(row, column)
            told = diagnostic(found.code, found.message, self.table.source, line, at, hint=found.hint)
            self.bad.append(BadRow(told, self.table.text(row)))

    def ends(self) -> Ends:
        """Where each row begins and ends, and when it becomes known."""
        columns = self.table.columns
        if "start" not in columns and "time" not in columns:
            message = f"no column time or start; the columns are {', '.join(columns)}"
            raise input_error("missing-column", message, self.table.source,
                              hint="a point has the column time, an interval start and end, with left and right")
        if "time" in columns and (other := [name for name in ("start", "end", "left", "right") if name in columns]):
            raise input_error("two-times", f"a column time and a column {other[0]}: is a row a point or an interval?",
                              self.table.source, hint=f"leave out time, or {', '.join(other)}; another name makes a "
                              "column an argument")
        if "start" in columns:
            found = self._intervals()
        else:
            time = self._times("time")
            self._require(time, "time")
            shut = np.zeros(self.table.length, np.bool_)
            found = Ends(time.top, time.under, shut, shut, time.top, time.under, shut, shut)
        if "arrival" not in columns:
            return found
        arrival = self._times("arrival")
        return replace(found, arrival=np.where(arrival.missing, found.left, arrival.top),
                       arrival_under=np.where(arrival.missing, found.left_under, arrival.under))

    def _intervals(self) -> Ends:
        left = self._times("start", low=True)
        if "end" not in self.table.columns:
            raise input_error("missing-column", "no column end", self.table.source, hint="it may be empty: still open")
        right = self._times("end")
        left_open, right_open = self._sides("left", False) | left.missing, self._sides("right", True) | right.missing
        finite = ~left.missing & ~right.missing
        order = _compared(left, right)
        empty = finite & ((order > 0) | (order == 0) & (left_open | right_open))
        self.add(empty, "end", self._empty)
        return Ends(left.top, left.under, left_open, left.missing, right.top, right.under, right_open, right.missing)

    def _empty(self, row: int) -> FactProblem:
        shown = [str(_value(self.table.columns[column], row)) for column in ("start", "end")]
        hint = "the end must be later; a point has left and right closed, or the column time instead"
        return FactProblem("empty-interval", f"no time lies between {shown[0]} and {shown[1]}", 1, hint=hint)

    def _require(self, times: _Times, column: str) -> None:
        self.add(times.missing, column,
                 lambda _: FactProblem("empty-field", f"{column} is empty", 1, hint="every row needs a value here"))

    def _sides(self, column: str, default: bool) -> Mask:
        """Which rows are open at a side."""
        if column not in self.table.columns:
            return np.full(self.table.length, default)
        codes, values = _distinct(self.table.columns[column])
        sides = [default if value in (None, "") else _SIDES.get(str(value).strip()) for value in values]
        wrong = np.array([side is None for side in sides], np.bool_)[codes]
        self.add(wrong, column, lambda row: FactProblem(
            "bad-side", f"{column} is {_value(self.table.columns[column], row)!r}, neither closed nor open", 1,
            hint="closed if the interval holds that instant, open if not"))
        return np.array([bool(side) for side in sides], np.bool_)[codes]

    def _times(self, column: str, *, low: bool = False) -> _Times:
        raw = self.table.columns[column]
        if not isinstance(raw, list) and (pa.types.is_integer(raw.type) or pa.types.is_temporal(raw.type)):
            ticks = ticks_of(raw, self.unit)
            wrong = np.zeros(len(raw), np.bool_)
            wrong[list(ticks.wrong)] = True
            self.add(wrong, column, lambda row: FactProblem(
                "bad-time", f"{column} is {raw[row]}, which {ticks.wrong[row]}", 1, hint=HINTS[ticks.wrong[row]]))
            return _Times(ticks.values, np.ones(len(raw), np.int64), ticks.missing)
        codes, values = _distinct(raw)
        found: list[Fraction | FactProblem | None] = [self._time(value, low) for value in values]
        problems = np.array([isinstance(time, FactProblem) for time in found], np.bool_)[codes]
        self.add(problems, column, lambda row: _of_column(column, found[codes[row]]))
        times = [time if isinstance(time, Fraction) else Fraction(0) for time in found]
        return _Times(np.array([time.numerator for time in times], np.int64)[codes],
                      np.array([time.denominator for time in times], np.int64)[codes],
                      np.array([time is None for time in found], np.bool_)[codes])

    def _time(self, value: object, low: bool) -> Fraction | FactProblem | None:
        text = "" if value is None or value != value else str(value).strip()
        if not text:
            return None
        if self.unit is not None and "-" in text[1:]:
            ticks = ticks_of([text], self.unit)
            if not ticks.wrong:
                return Fraction(int(ticks.values[0]))
        try:
            return bound_in(text, low=low)
        except FactProblem as problem:
            return problem


def _of_column(column: str, problem: Any) -> FactProblem:
    assert isinstance(problem, FactProblem)
    return FactProblem(problem.code, f"{column}: {problem.message}", 1, hint=problem.hint)


def _compared(left: _Times, right: _Times) -> Ints:
    """The sign of left - right, row by row; exact."""
    wide = np.maximum.reduce([np.abs(left.top), left.under, np.abs(right.top), right.under]) >= 1 << 31
    tops, unders = left.top * np.where(wide, 1, right.under), right.top * np.where(wide, 1, left.under)
    signs: Ints = np.sign(tops - unders)
    for row in np.flatnonzero(wide).tolist():
        a, b = (Fraction(int(side.top[row]), int(side.under[row])) for side in (left, right))
        signs[row] = (a > b) - (a < b)
    return signs


def _distinct(raw: Raw) -> tuple[Ints, Sequence[object]]:
    """A column as codes into its distinct values."""
    if isinstance(raw, list):
        places: dict[tuple[type, object], int] = {}
        codes = [places.setdefault((type(value), value), len(places)) for value in raw]
        return np.array(codes, np.int64), [value for _, value in places]
    encoded = raw if pa.types.is_dictionary(raw.type) else raw.dictionary_encode(null_encoding="encode")
    if encoded.indices.null_count:
        values = encoded.dictionary.to_pylist()
        return encoded.indices.cast(pa.int64()).fill_null(len(values)).to_numpy(), [*values, None]
    return encoded.indices.cast(pa.int64()).to_numpy(), encoded.dictionary.to_pylist()


def _value(raw: Raw, row: int) -> object:
    return raw[row] if isinstance(raw, list) else raw[row].as_py()
