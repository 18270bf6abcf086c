"""Results that one session keeps up to date for others: what came and what went at a query time, as facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eventide.algebra.nodes import TIME, UNUSED, Fields
from eventide.engine.loading import Store, encode_all
from eventide.engine.operators import Result
from eventide.engine.relation import Rows, Space, Values, from_unsorted, pack_with, unpack
from eventide.formats.facts import Coded, Column, Facts, FactTable, merged
from eventide.kernels.arrays import Array

OPEN = np.iinfo(np.int64).max
"""The end of an interval that has none yet."""


@dataclass(frozen=True)
class News:
    """What came and what went of a result at a query time, if anything did.

    Before `edge` the result can never change again; from the next query time on, before `settled`.
    """

    came: FactTable | None
    went: FactTable | None
    edge: int
    settled: int | None = None


def joined(tables: Sequence[FactTable]) -> FactTable:
    """The rows of one relation as one table."""
    if len(tables) == 1:
        return tables[0]
    key = (tables[0].name, len(tables[0].args))
    return merged([Facts({key: table}) for table in tables]).tables[key]


# -- to facts ----------------------------------------------------------------------------------------------------------


def as_facts(name: str, result: Result, space: Space) -> FactTable:
    """A result as facts; the value of a fluent is the last argument, an open end is `OPEN`."""
    timeline = space.timeline
    if isinstance(result, Rows):
        columns = {f.name: result.column(f.name) for f in result.fields if f.type != UNUSED}
        return FactTable(name, "event", result.time + timeline.origin, _values(space, result.fields, columns))
    starts, ends = result.intervals.starts, result.intervals.ends & timeline.mask
    return FactTable(name, "interval", (starts & timeline.mask) + timeline.origin,
                     _values(space, result.fields, unpack(space, result.fields, starts)),
                     np.where(ends == timeline.mask, OPEN, ends + timeline.origin))


def _values(space: Space, fields: Fields, columns: Mapping[str, Values]) -> tuple[Column, ...]:
    length = next((len(values) for values in columns.values()), 0)
    nothing = Coded(np.zeros(length, np.int32), ("_",))
    return tuple(nothing if f.type == UNUSED else _coded(columns[f.name], space.domains[f.type].values) for f in fields)


def _coded(codes: Array, values: Sequence[object]) -> Coded:
    used, places = np.unique(codes, return_inverse=True)
    return Coded(places.astype(np.int32), tuple(values[code] for code in used.tolist()))  # type: ignore[arg-type]


# -- from facts --------------------------------------------------------------------------------------------------------


Moved = tuple[dict[str, Values], Array, Array | None]
"""Coded columns with their time, and their end if they are intervals."""


@dataclass(frozen=True)
class Arrived:
    """News from several sessions, in the codes of the one that reads them."""

    fields: Fields
    came: Moved | None
    went: Moved | None
    edge: int

    @staticmethod
    def of(store: Store, fields: Fields, news: Sequence[News]) -> Arrived:
        """News, coded; the domains must be open."""
        came, went = (_moved(store, fields, [table for table in tables if table is not None])
                      for tables in ([found.came for found in news], [found.went for found in news]))
        return Arrived(fields, came, went, min(found.edge for found in news))

    @property
    def last(self) -> int | None:
        """The last time there is in it."""
        times = [t[t != OPEN] for moved in (self.came, self.went) if moved is not None for t in moved[1:]
                 if t is not None]
        return max((int(t.max()) for t in times if len(t)), default=None)

    def results(self, space: Space) -> tuple[Result | None, Result | None]:
        """What came and what went."""
        came, went = (None if moved is None else received(space, self.fields, *moved)
                      for moved in (self.came, self.went))
        return came, went


def _moved(store: Store, fields: Fields, tables: Sequence[FactTable]) -> Moved | None:
    if not tables:
        return None
    coded = [encode_all(store, fields, table.args) for table in tables]
    ends = [table.end for table in tables if table.end is not None]
    return ({name: np.concatenate([columns[name] for columns in coded]) for name in coded[0]},
            np.concatenate([table.time for table in tables]), np.concatenate(ends) if ends else None)


def received(space: Space, fields: Fields, columns: Mapping[str, Values], time: Array, end: Array | None) -> Result:
    """Facts of `as_facts`, coded, as the result that they were."""
    timeline, length = space.timeline, len(time)
    time = time - timeline.origin
    if end is None:
        return Rows(fields, {**columns, TIME: time}, length, timed=True)
    rows = Rows(fields, columns, length, timed=False)
    ends = np.where(end == OPEN, timeline.mask, end - timeline.origin)
    return from_unsorted(space, fields, pack_with(space, rows, fields, time), pack_with(space, rows, fields, ends))
