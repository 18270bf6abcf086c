"""A stream on Spark without Spark: units of facts in batches through the buckets of a flow; and the local engine."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

import eventide as ev
from eventide.formats.facts import Facts, chosen
from eventide.results import emitted, listed
from eventide.spark.buckets import Bucket
from eventide.spark.flow import Flow
from eventide.spark.units import CHANGES, COUNTS, LATE, Unit, table_of

Row = tuple[object, ...]
Given = tuple[Unit, Facts]


def rows_of(tables: Iterable[pa.Table]) -> list[Row]:
    """The rows of tables, in an order of their own."""
    return sorted((tuple(row.values()) for table in tables for row in table.to_pylist()), key=repr)


def units_of(parts: Sequence[Facts]) -> list[Given]:
    """Facts as units, in this order."""
    found = []
    for number, facts in enumerate(parts):
        times = [table.time if table.arrival is None else table.arrival for table in facts if len(table)]
        first = min((int(t.min()) for t in times), default=None)
        found.append((Unit(f"{number:06}", first, max((int(t.max()) for t in times), default=None)), facts))
    return found


@dataclass
class Outcome:
    """What a stream gave: rows, late facts, and sums of the counts."""

    rows: list[Row] = field(default_factory=list)
    late: list[Row] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    state: dict[tuple[int, int], int] = field(default_factory=dict)
    """How many rows each bucket held after the last batch."""


def streamed(flow: Flow, batches: Iterable[Sequence[Given]], restart: Callable[[], bool] = lambda: False,
             order: random.Random | None = None, after: Callable[[Outcome], None] = lambda outcome: None) -> Outcome:
    """Run batches of units through all buckets; some of these are saved and restored in between."""
    buckets: dict[tuple[int, int], Bucket] = {}
    outcome = Outcome()
    tables: dict[int, list[pa.Table]] = {CHANGES: [], LATE: [], COUNTS: []}
    for batch in batches:
        rows = [row for unit, facts in batch for row in flow.read(facts, unit)]
        for stage in range(1, flow.last + 1):
            (order or random.Random(0)).shuffle(rows)
            for number in range(flow.buckets):
                place = stage, number
                bucket = buckets.get(place) or flow.bucket(*place)
                if restart():
                    bucket = flow.restored(*place, bucket.save())
                buckets[place] = bucket
                rows.extend(bucket.process([part for *to, part in rows if tuple(to) == place]))
            rows = [row for row in rows if row[0] > stage]
        for stage, kind, part in rows:
            assert stage == flow.last + 1
            tables[kind].append(table_of(part))
        for row in (row for table in tables[COUNTS] for row in table.to_pylist()):
            outcome.counts.update({name: row[name] for name in ("events", "late", "before_start", "changes")})
            outcome.state[row["stage"], row["bucket"]] = row["state_rows"]
        tables[COUNTS] = []
        after(outcome)
    outcome.rows, outcome.late = rows_of(tables[CHANGES]), rows_of(tables[LATE])
    return outcome


class Local:
    """The same stream through one session of the local engine."""

    def __init__(self, program: ev.Program, *, step: int, delay: int = 0, start: int | None = None, tick: int = 1,
                 fluents: list[str] | None = None, **options: Any) -> None:
        self.session = program.session(start=start, tick=tick, fluents=fluents, **options)
        self.step, self.delay, self.tick = step, delay, tick

    def queries(self, units: Iterable[Given]) -> Iterator[tuple[int, Any]]:
        """The changes at every query time that the clock passes."""
        clock, query = None, None
        for unit, facts in units:
            self.session.insert(facts)
            if unit.first is None or unit.last is None:
                continue
            clock = unit.last if clock is None else max(clock, unit.last)
            if query is None:
                start = self.session.settings.start
                query = self.step + (unit.first - self.tick - self.delay if start is None else start)
            while clock > query + self.delay:
                yield query, self.session.advance(query)
                query += self.step

    def changes(self, units: Iterable[Given]) -> Outcome:
        """Everything that a flow gives with `emit="changes"`."""
        rows, late = [], []
        for query, changes in self.queries(units):
            rows.append(emitted(self.session, changes, "changes"))
            late.append(listed(changes.late, query))
        counts = self.session.counts
        return Outcome(rows_of(rows), rows_of(late), Counter(
            events=counts.facts, late=counts.too_late, before_start=counts.before_start,
            changes=sum(table.num_rows for table in rows)))

    def timelines(self, units: Iterable[Given]) -> Iterator[tuple[int, set[Row]]]:
        """All rows that there are at each query time, also those that the session has forgotten."""
        held: set[Row] = set()
        for query, changes in self.queries(units):
            held = (held - set(rows_of([changes.removed]))) | set(rows_of([changes.added]))
            yield query, held


def span(facts: Facts) -> tuple[int, int]:
    """The first and the last time of facts."""
    return min(int(table.time.min()) for table in facts), max(int(table.time.max()) for table in facts)


def cut(facts: Facts, edges: Sequence[int]) -> list[Facts]:
    """Facts in pieces by the time at which they arrive."""
    parts: list[Facts] = []
    for low, high in zip([None, *edges], [*edges, None], strict=True):
        tables = {}
        for key, table in facts.tables.items():
            time = table.time if table.arrival is None else table.arrival
            inside = np.ones(len(table), np.bool_)
            if low is not None:
                inside &= time >= low
            if high is not None:
                inside &= time < high
            if inside.any():
                tables[key] = chosen(table, np.flatnonzero(inside))
        parts.append(Facts(tables))
    return parts
