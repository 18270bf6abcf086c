"""What a session holds, counted: rows, bytes and the oldest time per input and result."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eventide.algebra.nodes import UNUSED
from eventide.engine.incremental import State
from eventide.engine.loading import Store
from eventide.engine.relation import Rows, Space, Values
from eventide.engine.retained import Batch
from eventide.engine.upkeep import Maintained

SCHEMA = pa.schema([("name", pa.string()), ("kind", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64()),
                    ("since", pa.int64())])


@dataclass(frozen=True)
class Memory:
    """What a session holds. `table` has the columns `name`, `kind`, `rows`, `bytes` and `since`, the oldest time.

    Kinds: `input`, `waiting` (facts that have not taken part yet), `fluent`, `event`, `parts` (what is held for the
    rules of a result besides it), `values` (the dictionaries of all values seen).
    """

    table: pa.Table

    @property
    def total(self) -> int:
        """The bytes of everything."""
        return sum(self.table["bytes"].to_pylist())

    def __str__(self) -> str:
        rows = [("name", "kind", "rows", "bytes", "since")]
        for row in self.table.to_pylist():
            since = "" if row["since"] is None else str(row["since"])
            rows.append((row["name"], row["kind"], f"{row['rows']:,}", f"{row['bytes']:,}", since))
        rows.append(("total", "", "", f"{self.total:,}", ""))
        name, kind, *numbers = (max(map(len, column)) for column in zip(*rows, strict=True))
        lines = (f"{row[0]:{name}}  {row[1]:{kind}}  "
                 + "  ".join(f"{cell:>{width}}" for cell, width in zip(row[2:], numbers, strict=True)) for row in rows)
        return "\n".join(line.rstrip() for line in lines)


@dataclass
class _Tally:
    """Sums of one line."""

    rows: int = 0
    bytes: int = 0
    since: int | None = None

    def add(self, rows: int, arrays: Iterable[Values | None], times: Values | None = None, origin: int = 0) -> None:
        self.rows += rows
        self.bytes += sum(array.nbytes for array in arrays if array is not None)
        if times is not None and times.shape[0]:
            first = int(times.min()) + origin
            self.since = first if self.since is None else min(self.since, first)


def owners(plan: Maintained) -> dict[str, tuple[str, ...]]:
    """For every hidden result (`#…`) the results with names that it is kept for."""
    readers: dict[str, set[str]] = {}
    for upkeep in plan.upkeep:
        for name in upkeep.reads | upkeep.tables:
            readers.setdefault(name.removeprefix("fired "), set()).update(upkeep.piece.names)
    found: dict[str, tuple[str, ...]] = {}
    for piece in reversed(plan.pieces):  # readers come later
        for name in piece.names:
            if name.startswith("#"):
                named = {owner for reader in readers.get(name, ()) for owner in found.get(reader, (reader,))}
                found[name] = tuple(sorted(named))
    return found


def _columns(rows: Rows) -> Iterator[Values]:
    yield from (rows.column(f.name) for f in rows.fields if f.type != UNUSED)
    if rows.timed:
        yield rows.time


def _arrays(batch: Batch) -> list[Values]:
    found: list[Values] = []
    batch.changed(found.append)
    return found


def memory_of(plan: Maintained, state: State, store: Store, space: Space | None) -> Memory:
    """What is held after a query time, by input and result."""
    tallies: dict[tuple[str, str], _Tally] = {}
    owned = owners(plan)

    def tally(name: str, kind: str) -> _Tally:
        if name.startswith("#"):
            name, kind = ", ".join(owned[name]), "parts"
        elif name in state.inputs and kind != "waiting":
            kind = "input"
        return tallies.setdefault((name, kind), _Tally())

    for name, kept in state.inputs.items():
        for facts in (kept.facts, kept.recent):
            if facts is not None:
                tally(name, "input").add(len(facts), _arrays(facts), facts.time)
        for batch in kept.waiting:
            tally(name, "waiting").add(len(batch), _arrays(batch), batch.time)
    if space is not None:
        mask, origin = space.timeline.mask, space.timeline.origin
        for name, relation in state.relations.items():
            intervals = relation.intervals
            rows = 0 if name in state.inputs else len(relation)  # the same facts, as intervals
            tally(name, "fluent").add(rows, (intervals.starts, intervals.ends), intervals.starts & mask, origin)
        for name, found in state.points.items():
            tally(name, "event").add(found.length, _columns(found), found.time, origin)
        for name, found in state.fired.items():
            tally(name, "fluent").add(0, _columns(found), found.time, origin)
        for part in (state.tables, state.settled):
            for name, found in part.items():
                tally(name, "parts").add(found.length, _columns(found))
        for name, saved in state.saved.items():
            carry, marks = saved.carry, saved.marks
            arrays = (carry.points, carry.codes, carry.quiet, carry.waiting, carry.rules, marks.points, marks.codes)
            tally(name, "fluent").add(0, arrays, np.concatenate((carry.points, marks.points)) & mask, origin)
    values = [value for domain in store.domains.values() for value in domain.values]
    lines = [(name, kind, t.rows, t.bytes, t.since) for (name, kind), t in tallies.items()]
    lines.append(("all values", "values", len(values), sum(map(sys.getsizeof, values)) + 100 * len(values), None))
    columns = list(zip(*lines, strict=True))
    return Memory(pa.table({f.name: pa.array(c, f.type) for f, c in zip(SCHEMA, columns, strict=True)}, schema=SCHEMA))
