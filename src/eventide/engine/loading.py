"""Facts to rows and relations: arguments coded in their domains, sorted once by entity and time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.algebra.nodes import NUMBER, TIME, UNUSED, Field, Fields
from eventide.engine.domains import Domain
from eventide.engine.relation import Relation, Rows, Space, Values, from_unsorted, pack_with, runs_of
from eventide.engine.tuples import Domains
from eventide.formats.facts import Coded, Column, FactTable, chosen
from eventide.kernels.arrays import Array, Mask
from eventide.kernels.sorting import is_sorted, order

NEVER = np.iinfo(np.int64).max


@dataclass
class Stream:
    """The facts of one input: coded columns in order of (first coded column, time), and when each arrived."""

    name: str
    kind: str
    fields: Fields
    columns: dict[str, Values]
    time: Array
    end: Array | None
    arrival: Array | None
    removed: Array | None = None
    """When a retraction of the fact arrives (`NEVER` for most); None where nothing is retracted."""
    probability: npt.NDArray[np.float64] | None = None
    """How probable each fact is; None where all are certain."""

    def __len__(self) -> int:
        return int(self.time.shape[0])

    def last_news(self) -> int:
        """The last time at which a fact occurs, arrives or is retracted; the stream must not be empty."""
        times = [self.time, *([self.arrival] if self.arrival is not None else [])]
        if self.removed is not None:
            times.append(self.removed[self.removed < NEVER])
        return max(int(t.max()) for t in times if t.shape[0])


@dataclass
class Store:
    """Everything a run reads: domains, streams by name, background tables by name.

    `unmatched` counts retractions of facts that were not there.
    """

    domains: Domains = field(default_factory=Domains)
    streams: dict[str, Stream] = field(default_factory=dict)
    tables: dict[str, Rows] = field(default_factory=dict)
    unmatched: int = 0
    given: dict[str, Rows] = field(default_factory=dict)
    """Tables that whoever runs the program fills as it goes; they are not saved."""
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    rounds: dict[str, Array] = field(default_factory=dict)
    """Of relations that are defined through themselves: how many of their rows each round of derivation knew."""

    def domain(self, type_: str) -> Domain:
        """The domain of a type, made when it is first asked for."""
        return self.domains.setdefault(type_, Domain(type_))


def encode(column: Column, type_: str, store: Store) -> Values | None:
    """A column as codes of its domain, as plain numbers, or None if nothing reads it."""
    if type_ == UNUSED:
        return None
    if type_ == NUMBER:
        return _as_numbers(column)
    domain = store.domain(type_)
    if isinstance(column, Coded):
        return domain.codes(column.values, distinct=True)[column.codes]
    return domain.encode_numbers(column)


def _as_numbers(column: Column) -> Values:
    if not isinstance(column, Coded):
        return column
    if all(type(value) is int for value in column.values):
        return np.array(column.values, np.int64)[column.codes]
    values = [float(value) if isinstance(value, int | float) else np.nan for value in column.values]
    return np.array(values, np.float64)[column.codes]


def fields_of(name: str, types: Sequence[str]) -> Fields:
    """The columns of a table or an input: `name.0`, `name.1`, …"""
    return tuple(Field(f"{name}.{i}", type_) for i, type_ in enumerate(types))


def encode_all(store: Store, fields: Fields, columns: Sequence[Column]) -> dict[str, Values]:
    """The columns that something reads, each as `encode` has it."""
    return {f.name: values for f, column in zip(fields, columns, strict=True)
            if (values := encode(column, f.type, store)) is not None}


def columns_of(table: FactTable) -> list[Column]:
    """The arguments of facts, for fluents followed by the value."""
    return [*table.args, *([table.value] if table.value is not None else [])]


def no_columns(fields: Fields) -> dict[str, Values]:
    """The columns of an input without facts."""
    return {f.name: np.empty(0, np.int64) for f in fields if f.type != UNUSED}


def load_table(store: Store, name: str, types: Sequence[str], columns: Sequence[Column], length: int) -> None:
    """Add a background table."""
    fields = fields_of(name, types)
    store.tables[name] = Rows(fields, encode_all(store, fields, columns), length, timed=False)


def load_stream(store: Store, name: str, kind: str, types: Sequence[str], table: FactTable | None) -> None:
    """Add the facts of one input (none is an empty stream)."""
    fields = fields_of(name, types)
    if table is None:
        nothing = np.empty(0, np.int64)
        end = nothing if kind == "interval" else None
        store.streams[name] = Stream(name, kind, fields, no_columns(fields), nothing, end, None)
        return
    removed = None
    if table.op is not None:
        table, removed, unmatched = without_retractions(table)
        store.unmatched += unmatched
    columns = encode_all(store, fields, columns_of(table))
    stream = Stream(name, kind, fields, columns, table.time, table.end, table.arrival, removed, table.probability)
    store.streams[name] = _ordered(stream)


def side_by_side(columns: Sequence[Values], order: Array) -> tuple[Array, Mask]:
    """The rows with equal ones side by side, those in a given order, and which of them repeat the row before."""
    permutation = np.lexsort((order, *columns))
    repeated = np.ones(permutation.shape[0], np.bool_)
    repeated[:1] = False
    for column in columns:
        ordered = column[permutation]
        repeated[1:] &= ordered[1:] == ordered[:-1]
    return permutation, repeated


def _by_fact(table: FactTable) -> tuple[Array, Mask]:
    """The rows with equal facts side by side, in order of arrival, and which of them repeat the fact before."""
    columns: list[Values] = [table.time]
    columns += [column.codes if isinstance(column, Coded) else column for column in columns_of(table)]
    if table.end is not None:
        columns.append(table.end)
    return side_by_side(columns, table.time if table.arrival is None else table.arrival)


def distinct_facts(table: FactTable) -> FactTable:
    """The table without repetitions of a fact; the one that arrives first stays."""
    if table.op is not None:
        return table
    permutation, repeated = _by_fact(table)
    return table if not repeated.any() else chosen(table, np.sort(permutation[~repeated]))


def without_retractions(table: FactTable) -> tuple[FactTable, Array, int]:
    """The inserted facts, when each is retracted (or `NEVER`), and how many retractions found nothing.

    Equal facts are one: a retraction takes the fact away however often it was inserted; a later insertion brings it
    back. Operations that arrive together count in the order of the input.
    """
    assert table.op is not None
    permutation, repeated = _by_fact(table)
    inserts = table.op[permutation] > 0
    after_insert = np.zeros(len(table), np.bool_)
    after_insert[1:] = repeated[1:] & inserts[:-1]
    kept = inserts & ~after_insert
    arrival = (table.time if table.arrival is None else table.arrival)[permutation]
    positions = np.where(inserts, len(table), np.arange(len(table)))
    following = np.minimum.accumulate(positions[::-1])[::-1]  # the next retraction at or after each row
    group = np.cumsum(~repeated)
    at = np.minimum(following, max(len(table) - 1, 0))
    same = (following < len(table)) & (group[at] == group)
    removed = np.where(same, arrival[at], NEVER)[kept]
    rows = permutation[kept]
    back = np.argsort(rows, kind="stable")
    return chosen(table, rows[back]), removed[back], int((~inserts & ~after_insert).sum())


def key_of(fields: Fields) -> str | None:
    """The column that facts are sorted by: the first coded one."""
    return next((f.name for f in fields if f.type not in (NUMBER, UNUSED)), None)


def sorting(codes: Array | None, time: Array) -> Array | None:
    """The permutation that puts rows in order of their codes, if they have any, and time; None if they are so."""
    low = int(time.min()) if time.shape[0] else 0
    bits = (int(time.max()) - low).bit_length() if time.shape[0] else 0
    if bits + (int(codes.max()).bit_length() if codes is not None and codes.shape[0] else 0) > 62:
        return np.argsort(time, kind="stable") if codes is None else np.lexsort((time, codes))
    packed = time - low if codes is None else (codes << np.int64(bits)) | (time - low)
    return None if is_sorted(packed) else order(packed)


def _ordered(stream: Stream) -> Stream:
    """The stream in order of its first coded column and time: rules about that entity then need no sorting."""
    key = key_of(stream.fields)
    permutation = sorting(None if key is None else stream.columns[key], stream.time)
    return stream if permutation is None else take(stream, permutation)


def take(stream: Stream, index: Array | Mask) -> Stream:
    """Some rows of a stream."""
    return Stream(stream.name, stream.kind, stream.fields,
                  {name: values[index] for name, values in stream.columns.items()}, stream.time[index],
                  None if stream.end is None else stream.end[index],
                  None if stream.arrival is None else stream.arrival[index],
                  None if stream.removed is None else stream.removed[index],
                  None if stream.probability is None else stream.probability[index])


def time_range(streams: Iterable[Stream]) -> tuple[int, int] | None:
    """The first and last time-point of the facts (ends of intervals included)."""
    lows, highs = [], []
    for stream in streams:
        if len(stream):
            lows.append(int(stream.time.min()))
            highs.append(int(stream.time.max()))
            if stream.end is not None:
                highs.append(int(stream.end.max()))
    return (min(lows), max(highs)) if lows else None


def as_inputs(space: Space, streams: Mapping[str, Stream], built: frozenset[str]) -> dict[str, Rows | Relation]:
    """The facts within (start, until] as the executor reads them. `built` point fluents become intervals."""
    timeline = space.timeline
    result: dict[str, Rows | Relation] = {}
    for name, stream in streams.items():
        if stream.end is not None:
            begun = stream.time <= timeline.until
            chosen = stream if begun.all() else take(stream, begun)
            assert chosen.end is not None
            result[name] = intervals_of(space, stream.fields, chosen.columns, chosen.time, chosen.end)
            continue
        inside = (stream.time > timeline.start) & (stream.time <= timeline.until)
        chosen = stream if inside.all() else take(stream, inside)
        columns = dict(chosen.columns) | {TIME: chosen.time - timeline.origin}
        rows = Rows(stream.fields, columns, len(chosen), timed=True)
        result[name] = runs_of(space, rows) if name in built else rows
    return result


def intervals_of(space: Space, fields: Fields, columns: Mapping[str, Values], time: Array, end: Array) -> Relation:
    """Input intervals as a relation, from the first time-point of the run on; those that are over by then are none."""
    timeline = space.timeline
    first = timeline.start // timeline.tick * timeline.tick + timeline.tick
    inside = (end > first) & (end > time)
    if not inside.all():
        columns, time, end = {name: values[inside] for name, values in columns.items()}, time[inside], end[inside]
    rows = Rows(fields, columns, int(time.shape[0]), timed=False)
    starts = pack_with(space, rows, fields, np.maximum(time, first) - timeline.origin)
    ends = pack_with(space, rows, fields, np.minimum(end - timeline.origin, timeline.mask))
    return from_unsorted(space, fields, starts, ends)
