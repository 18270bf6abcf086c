"""RTEC's CSV form (no header, fields separated by |) to fact tables. The byte loops are in rtec_scan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from eventide.formats.expected import Expected
from eventide.formats.facts import BadRow, Column, Facts, FactTable, Ints, Kind
from eventide.formats.files import Text
from eventide.formats.rtec_cells import Cells, cell_column, group_rows, joined, resolve_long
from eventide.formats.rtec_problems import BadCells
from eventide.formats.rtec_scan import (
    EMPTY,
    FLOAT,
    INT,
    LONG_INT,
    POWERS,
    TEXT,
    TOO_LONG,
    count_marks,
    gather,
    tokenize,
)
from eventide.syntax.diagnostics import Diagnostic, Span

PIECE = 8 << 20
LEADING: Mapping[Kind, tuple[str, ...]] = {
    "event": ("name", "arrival", "occurrence"),
    "point": ("name", "arrival", "occurrence", "value"),
    "interval": ("name", "arrival", "start", "end", "value"),
}


@dataclass(slots=True)
class _Group:
    """The rows of one name with one number of fields, piece by piece; `columns[j]` is field j + 1."""

    name: str
    kind: Kind
    args: int
    lines: list[Ints] = field(default_factory=list)
    starts: list[Ints] = field(default_factory=list)
    columns: list[list[Cells]] = field(default_factory=list)

    def rows(self) -> int:
        return sum(map(len, self.lines))


def read_rtec(text: Text, expected: Expected, bad_limit: int | None = None) -> Facts:
    """The facts of a text in RTEC's form. At most `bad_limit` bad rows are kept, all are counted."""
    groups: dict[tuple[str, int], _Group] = {}
    kinds: dict[str, Kind | None] = {}
    bad = BadCells(text, expected)
    rows = len(text.broken)
    line = 1
    low = text.start
    note: Diagnostic | None = None
    latest = np.int64(-(2**63))
    while low < text.stop:
        high = _piece_end(text, low)
        found, line, arrivals = _read_piece(text, low, high, line, groups, kinds, expected, bad)
        rows += found
        low = high
        if note is None and arrivals is not None:
            note, latest = _order_note(text.source, *arrivals, latest)
    sizes: dict[str, dict[int, int]] = {}
    for group in groups.values():
        sizes.setdefault(group.name, {})[group.args] = group.rows()
    tables = {}
    for (name, args), group in groups.items():
        accepted = expected.accepted(name, sizes[name])
        if args in accepted:
            table = _table(text, group, expected, bad)
            if len(table):
                tables[name, args] = table
        else:
            bad.add(np.concatenate(group.lines), np.concatenate(group.starts), "arity", accepted=accepted)
    bad_rows = sorted((*text.broken, *bad.rows(bad_limit)), key=_line_of)[:bad_limit]
    return Facts(tables, tuple(bad_rows), bad.count + len(text.broken), rows, (note,) if note else ())


def _line_of(row: BadRow) -> int:
    return row.diagnostic.span.line if row.diagnostic.span else 0


def _piece_end(text: Text, low: int) -> int:
    """Where a piece of about PIECE bytes ends: after a line end."""
    high = min(low + PIECE, text.stop)
    while text.data[high - 1] != 10:
        step = text.data[high : high + 4096]
        ends = np.flatnonzero(step == 10)
        high += int(ends[0]) + 1 if ends.shape[0] else step.shape[0]
    return high


def _read_piece(
    text: Text, low: int, high: int, line: int, groups: dict[tuple[str, int], _Group], kinds: dict[str, Kind | None],
    expected: Expected, bad: BadCells,
) -> tuple[int, int, tuple[Ints, Ints] | None]:
    """Add the rows of a piece to the groups; returns their number, the next line, and lines and arrivals in order."""
    lines, bars = count_marks(text.data, low, high)
    cell_kinds, values = np.empty(lines + bars, np.uint8), np.empty(lines + bars, np.int64)
    row_cell, row_flags = np.empty(lines + 1, np.int64), np.empty(lines, np.uint8)
    row_start, row_line = np.empty(lines, np.int64), np.empty(lines, np.int64)
    found, line = tokenize(
        text.data, low, high, line, POWERS, cell_kinds, values, values.view(np.float64), row_cell, row_start, row_line,
        row_flags,
    )
    if not found:
        return 0, line, None
    sizes = np.diff(row_cell[: found + 1])
    first = row_cell[:found]
    order, offsets, names, widths = group_rows(text.data, values[first], cell_kinds[first], sizes)
    arrivals: tuple[Ints, Ints] | None = None
    if min(widths) > 1 and (cell_kinds[first + 1] == INT).all():
        arrivals = row_line[:found], values[first + 1]
    for g, (name, width) in enumerate(zip(names, widths, strict=True)):
        rows = order[offsets[g] : offsets[g + 1]]
        broken = (row_flags[rows] & (EMPTY | TOO_LONG)) != 0
        if broken.any():
            bad.add(row_line[rows[broken]], row_start[rows[broken]], "empty")
            rows = rows[~broken]
        if not rows.shape[0]:
            continue
        if name not in kinds:
            kinds[name] = expected.declared(name) if name else None
        kind = kinds[name]
        if kind is None or width < len(LEADING[kind]):
            bad.add(row_line[rows], row_start[rows], "unknown" if kind is None else "short", layout=kind)
            continue
        args = width - len(LEADING[kind])
        group = groups.get((name, args))
        if group is None:
            group = groups[name, args] = _Group(name, kind, args, columns=[[] for _ in range(width - 1)])
        group.lines.append(row_line[rows])
        group.starts.append(row_start[rows])
        cells_of_rows = row_cell[rows]
        for j, column in enumerate(group.columns):
            out = Cells(np.empty(rows.shape[0], np.uint8), np.empty(rows.shape[0], np.int64), 0)
            out.seen = gather(cells_of_rows, j + 1, cell_kinds, values, out.kinds, out.values)
            column.append(out)
    return found, line, arrivals


def _order_note(source: str, lines: Ints, arrivals: Ints, latest: np.int64) -> tuple[Diagnostic | None, np.int64]:
    """A note on the first row that arrives before the row above it, and the latest arrival."""
    drops = np.flatnonzero(np.diff(arrivals, prepend=max(latest, arrivals[0])) < 0)
    if arrivals[0] < latest:
        drops = np.array([0])
    if not drops.shape[0]:
        return None, arrivals[-1]
    line = int(lines[drops[0]])
    message = f"rows are not in order of arrival, first in line {line}; they need not be"
    return Diagnostic("info", "unsorted-file", message, Span(source, line, 1, line, 2)), arrivals[-1]


def _table(text: Text, group: _Group, expected: Expected, bad: BadCells) -> FactTable:
    """The table of a group; rows whose times or typed columns are wrong go to `bad`."""
    lines, starts = np.concatenate(group.lines), np.concatenate(group.starts)
    columns = [joined(parts) for parts in group.columns]
    group.columns.clear()
    good = np.ones(lines.shape[0], np.bool_)
    leading = LEADING[group.kind][1:]
    for j, cells in enumerate(columns):
        resolve_long(text.data, cells)
        wanted = "int" if j < len(leading) and leading[j] != "value" else None
        at = j - len(leading) + 1
        problem = "time"
        if at > 0:
            wanted, problem = expected.column_types.get(f"{group.name}/{at}"), "type"
        if wanted == "float" and cells.seen & INT:
            whole = cells.kinds == INT
            cells.values[whole] = cells.values[whole].astype(np.float64).view(np.int64)
            cells.kinds[whole] = FLOAT
            cells.seen = cells.seen & ~INT | FLOAT
        if wanted == "text" and cells.seen & LONG_INT:
            cells.kinds[cells.kinds == LONG_INT] = TEXT
            cells.seen = cells.seen & ~LONG_INT | TEXT
        bits = {"int": INT, "float": FLOAT}.get(wanted or "", 255 - LONG_INT)
        if cells.seen & ~bits:
            wrong = (cells.kinds & ~np.uint8(bits)) != 0
            fresh = wrong & good
            over = fresh & (cells.kinds == LONG_INT)
            bad.add(lines[over], starts[over], "overflow", j + 1,
                    layout=group.kind if at <= 0 and wanted is not None else None)
            fresh &= ~over
            bad.add(lines[fresh], starts[fresh], problem, j + 1, layout=group.kind, wanted=wanted)
            good &= ~wrong
    if group.kind == "interval":
        backward = good & (columns[2].values <= columns[1].values)
        bad.add(lines[backward], starts[backward], "backward", 3)
        good &= ~backward
    if not good.all():
        lines = lines[good]
        columns = [cells.taken(good) for cells in columns]
    typed: list[Column] = [cell_column(text.data, cells) for cells in columns[len(leading) :]]
    times = [cells.values for cells in columns]
    interval = group.kind == "interval"
    return FactTable(
        group.name, group.kind, times[1], tuple(typed), end=times[2] if interval else None,
        value=cell_column(text.data, columns[len(leading) - 1]) if leading[-1] == "value" else None,
        arrival=times[0], rows=lines, origins=((text.source, 0),),
    )
