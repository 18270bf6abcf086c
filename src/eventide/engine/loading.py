"""Facts to rows and relations: arguments coded in their domains, sorted once by entity and time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from eventide.algebra.nodes import NUMBER, TIME, UNUSED, Field, Fields
from eventide.engine.domains import Domain
from eventide.engine.relation import Relation, Rows, Space, from_unsorted, pack_with, runs_of
from eventide.formats.facts import Coded, Column, FactTable, chosen
from eventide.kernels.arrays import Array, Mask
from eventide.kernels.sorting import is_sorted, order


@dataclass
class Stream:
    """The facts of one input: coded columns in order of (first coded column, time), and when each arrived."""

    name: str
    kind: str
    fields: Fields
    columns: dict[str, npt.NDArray[np.generic]]
    time: Array
    end: Array | None
    arrival: Array | None

    def __len__(self) -> int:
        return int(self.time.shape[0])


@dataclass
class Store:
    """Everything a run reads: domains, streams by name, background tables by name."""

    domains: dict[str, Domain] = field(default_factory=dict)
    streams: dict[str, Stream] = field(default_factory=dict)
    tables: dict[str, Rows] = field(default_factory=dict)

    def domain(self, type_: str) -> Domain:
        """The domain of a type, made when it is first asked for."""
        return self.domains.setdefault(type_, Domain(type_))


def encode(column: Column, type_: str, store: Store) -> npt.NDArray[np.generic] | None:
    """A column as codes of its domain, as plain numbers, or None if nothing reads it."""
    if type_ == UNUSED:
        return None
    if type_ == NUMBER:
        return _as_numbers(column)
    domain = store.domain(type_)
    if isinstance(column, Coded):
        return domain.codes(column.values)[column.codes]
    return domain.encode_numbers(column)


def _as_numbers(column: Column) -> npt.NDArray[np.generic]:
    if not isinstance(column, Coded):
        return column
    if all(type(value) is int for value in column.values):
        return np.array(column.values, np.int64)[column.codes]
    values = [float(value) if isinstance(value, int | float) else np.nan for value in column.values]
    return np.array(values, np.float64)[column.codes]


def load_table(store: Store, name: str, types: Sequence[str], columns: Sequence[Column], length: int) -> None:
    """Add a background table; its columns are called `name.0`, `name.1`, …"""
    fields = tuple(Field(f"{name}.{i}", type_) for i, type_ in enumerate(types))
    coded = {f.name: values for f, column in zip(fields, columns, strict=True)
             if (values := encode(column, f.type, store)) is not None}
    store.tables[name] = Rows(fields, coded, length, timed=False)


def load_stream(store: Store, name: str, kind: str, types: Sequence[str], table: FactTable | None) -> None:
    """Add the facts of one input (none is an empty stream); for fluents the value is the last column."""
    fields = tuple(Field(f"{name}.{i}", type_) for i, type_ in enumerate(types))
    if table is None:
        nothing = np.empty(0, np.int64)
        columns: dict[str, npt.NDArray[np.generic]] = {f.name: nothing for f in fields if f.type != UNUSED}
        store.streams[name] = Stream(name, kind, fields, columns, nothing, nothing if kind == "interval" else None, None)
        return
    given = [*table.args, *([table.value] if table.value is not None else [])]
    columns = {f.name: values for f, column in zip(fields, given, strict=True)
               if (values := encode(column, f.type, store)) is not None}
    stream = Stream(name, kind, fields, columns, table.time, table.end, table.arrival)
    store.streams[name] = _ordered(stream)


def distinct_facts(table: FactTable) -> FactTable:
    """The table without repetitions of a fact; the one that arrives first stays."""
    columns = [column.codes if isinstance(column, Coded) else column for column in table.args]
    arrival = table.time if table.arrival is None else table.arrival
    permutation = np.lexsort((arrival, *columns, table.time))
    repeated = np.ones(len(table), np.bool_)
    repeated[:1] = False
    for column in (table.time, *columns):
        ordered = column[permutation]
        repeated[1:] &= ordered[1:] == ordered[:-1]
    return table if not repeated.any() else chosen(table, np.sort(permutation[~repeated]))


def _ordered(stream: Stream) -> Stream:
    """The stream in order of its first coded column and time: rules about that entity then need no sorting."""
    key = next((f.name for f in stream.fields if f.type not in (NUMBER, UNUSED)), None)
    low = int(stream.time.min()) if len(stream) else 0
    span = int(stream.time.max()) - low if len(stream) else 0
    if span.bit_length() > 40:
        permutation = np.lexsort((stream.time, stream.columns[key])) if key else np.argsort(stream.time, kind="stable")
    else:
        packed = stream.time - low
        if key is not None:
            packed = packed | (stream.columns[key] << np.int64(span.bit_length()))
        if is_sorted(packed):
            return stream
        permutation = order(packed)
    return take(stream, permutation)


def take(stream: Stream, index: Array | Mask) -> Stream:
    """Some rows of a stream."""
    return Stream(stream.name, stream.kind, stream.fields,
                  {name: values[index] for name, values in stream.columns.items()}, stream.time[index],
                  None if stream.end is None else stream.end[index],
                  None if stream.arrival is None else stream.arrival[index])


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
        if stream.kind == "interval":
            result[name] = _intervals(space, stream)
            continue
        inside = (stream.time > timeline.start) & (stream.time <= timeline.until)
        chosen = stream if inside.all() else take(stream, inside)
        columns = dict(chosen.columns) | {TIME: chosen.time - timeline.origin}
        rows = Rows(stream.fields, columns, len(chosen), timed=True)
        result[name] = runs_of(space, rows) if name in built else rows
    return result


def _intervals(space: Space, stream: Stream) -> Relation:
    timeline = space.timeline
    assert stream.end is not None
    first = timeline.start // timeline.tick * timeline.tick + timeline.tick
    inside = (stream.end > first) & (stream.time <= timeline.until) & (stream.end > stream.time)
    chosen = stream if inside.all() else take(stream, inside)
    rows = Rows(stream.fields, chosen.columns, len(chosen), timed=False)
    assert chosen.end is not None
    starts = pack_with(space, rows, stream.fields, np.maximum(chosen.time, first) - timeline.origin)
    ends = pack_with(space, rows, stream.fields, np.minimum(chosen.end - timeline.origin, timeline.mask))
    return from_unsorted(space, stream.fields, starts, ends)
