"""A session by its definition: at every query time the one-window answer, from scratch, over the facts so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
from tests.engine.running import facts_of

import eventide as ev
from eventide.engine.answers import SCHEMA
from eventide.engine.recognition import Counts
from eventide.formats.facts import Facts, FactTable, column_values

from .store import Fact

Row = tuple[str, str, str, int, int | None]


class Operation(NamedTuple):
    """A fact that is inserted (+1) or retracted (-1) from `arrival` on."""

    fact: Fact
    arrival: int
    sign: int


class SlowChanges(NamedTuple):
    """What an advance reports."""

    query_time: int
    added: pa.Table
    removed: pa.Table
    late: pa.Table


class SlowSession:
    """The methods of a session. A fact is held as the set of its time-points: one of an event, some of an interval."""

    def __init__(self, program: ev.Program, *, start: int, window: int | None = None, tick: int = 1,
                 **options: Any) -> None:
        self.program, self.start, self.window, self.tick, self.options = program, start, window, tick, options
        self.counts = Counts()
        self.query = start
        self._waiting: list[Operation] = []
        self._held: dict[Fact, set[int]] = defaultdict(set)
        self._rows: set[Row] = set()

    def insert(self, batch: Facts) -> None:
        self._waiting += operations_in(batch)

    def retract(self, batch: Facts) -> None:
        self._waiting += [operation._replace(sign=-1) for operation in operations_in(batch)]

    def advance(self, to: int) -> SlowChanges:
        if to < self.query:
            raise ev.EventideError(f"the session is at {self.query}, after {to}")
        self.query = to
        self.counts.queries += 1
        ready = [o for o in self._waiting if o.arrival <= to and self._begin(o.fact) <= to]
        self._waiting = [o for o in self._waiting if o not in ready]
        late = [o.fact for o in sorted(ready, key=lambda o: o.arrival) if not self._apply(o)]
        before, self._rows = self._rows, self._evaluated()
        return SlowChanges(to, table_of(self._rows - before), table_of(before - self._rows),
                           pa.table({"fact": [str(fact) for fact in late]}))

    def answer(self) -> pa.Table:
        return table_of(self._rows)

    def window_answer(self) -> pa.Table:
        low, high = (self.start if self.window is None else self.query - self.window) + 1, self.query + 1
        cut = {(*row[:3], max(row[3], low), high if row[4] is None else min(row[4], high)) for row in self._rows}
        return table_of({row for row in cut if row[3] < row[4]})

    def _apply(self, operation: Operation) -> bool:
        """Insert or retract the part of a fact inside the window; False if there is none."""
        fact, points = operation.fact, time_points(operation.fact)
        inside = {t for t in points if self.window is None or t >= self._first(fact)}
        if max(points) <= self.start:
            self.counts.before_start += 1
        elif not inside:
            name = f"{fact[1]}({','.join('_' * len(fact[2]))})"
            self.counts.too_late += 1
            self.counts.late_by_name[name] = self.counts.late_by_name.get(name, 0) + 1
            return False
        elif operation.sign > 0:
            self._held[fact] |= inside
        elif self._held[fact] & inside:
            self._held[fact] -= inside
        else:
            self.counts.unmatched += 1
        return True

    def _begin(self, fact: Fact) -> int:
        """The first time-point of a fact; of a period, the first inside the window, for which it may have to wait."""
        points = time_points(fact)
        forgotten = self.start if self.window is None else max(self.start, self.query - self.window)
        first = -(-(forgotten + 1) // self.tick) * self.tick
        return first if fact[0] == "interval" and first in points else points[0]

    def _first(self, fact: Fact) -> int:
        """The first time of the window; of a period, the first time-point."""
        assert self.window is not None
        first = self.query - self.window + 1
        return first if fact[0] != "interval" else -(-first // self.tick) * self.tick

    def _evaluated(self) -> set[Row]:
        pieces = [(piece, None) for fact, points in self._held.items() for piece in pieces_of(fact, points)]
        result = self.program.run(facts_of(pieces), start=self.start, end=self.query, tick=self.tick, **self.options)
        return set(rows_of(result.to_arrow()))


def time_points(fact: Fact) -> range:
    """The time-points a fact is about."""
    if fact[0] == "interval":
        assert fact[5] is not None
        return range(fact[4], fact[5])
    time = fact[3] if fact[0] == "event" else fact[4]
    return range(time, time + 1)


def pieces_of(fact: Fact, points: set[int]) -> Iterator[Fact]:
    """What is left of a fact: intervals that cover these time-points, or the event or point itself."""
    if fact[0] != "interval":
        yield from [fact] if points else []
        return
    ends = (t + 1 for t in sorted(points) if t + 1 not in points)
    for first in (t for t in sorted(points) if t - 1 not in points):
        yield (*fact[:4], first, next(ends))


def operations_in(batch: Facts) -> list[Operation]:
    """The rows of fact tables; without an arrival a fact arrives when it occurs."""
    return [operation for table in batch for operation in _operations(table)]


def _operations(table: FactTable) -> Iterator[Operation]:
    values = [] if table.value is None else [column_values(table.value)]
    times = [table.time.tolist(), *([] if table.end is None else [table.end.tolist()])]
    arrivals = table.time if table.arrival is None else table.arrival
    for row in range(len(table)):
        args = tuple(column_values(column)[row] for column in table.args)
        fact = (table.kind, table.name, args, *(column[row] for column in values), *(column[row] for column in times))
        yield Operation(fact, int(arrivals[row]), 1 if table.op is None else int(table.op[row]))  # type: ignore[arg-type]


def rows_of(table: pa.Table) -> list[Row]:
    """The rows of an answer as tuples."""
    return [tuple(row[name] for name in SCHEMA.names) for row in table.to_pylist()]


def table_of(rows: set[Row]) -> pa.Table:
    """The answer that has these rows."""
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)
