"""The facts that a question about a DatalogMTL program is answered from: each by its table and row, on one grid."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np

from eventide.engine.domains import Value
from eventide.explanation.metric_time import Clock, Stretch
from eventide.explanation.proof import Fact
from eventide.explanation.worlds import cell
from eventide.formats.facts import Coded, Column, FactTable, chosen
from eventide.kernels.arrays import Array, Mask

FactId = tuple[tuple[str, int], int]
Args = tuple[Value, ...]
Tables = dict[tuple[str, int], FactTable]


class FactRows:
    """Tables of facts on dense time, and which rows are about what."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self.tables, self.clock = tables, clock
        self._columns = {key: tuple(map(_Finder, table.args)) for key, table in tables.items()}
        self._like: dict[tuple[str, Args], list[tuple[Stretch, FactId]]] = {}

    @cached_property
    def ids(self) -> list[FactId]:
        """All facts."""
        return [(key, row) for key, table in self.tables.items() for row in range(len(table))]

    def like(self, name: str, args: Args) -> list[tuple[Stretch, FactId]]:
        """The facts about an atom, in order of time."""
        known = self._like.get((name, args))
        if known is None:
            key = (name, len(args))
            rows = np.ones(len(self.tables[key]) if key in self.tables else 0, np.bool_)
            for column, value in zip(self._columns.get(key, ()), args, strict=False):
                rows &= column.equal(value)
            ids: list[FactId] = [(key, row) for row in np.flatnonzero(rows).tolist()]
            known = self._like[name, args] = sorted((self.span_of(id_), id_) for id_ in ids)
        return known

    def among(self, key: tuple[str, int], values: Collection[tuple[type, Value]]) -> FactTable | None:
        """The facts of a table all of whose arguments are among some values (with their types)."""
        rows = np.ones(len(self.tables[key]), np.bool_)
        for column in self._columns[key]:
            rows &= column.among(values)
        return chosen(self.tables[key], rows) if rows.any() else None

    def some(self, ids: Iterable[FactId]) -> Tables:
        """Tables of some facts alone; where they stand is not told."""
        rows: dict[tuple[str, int], list[int]] = {}
        for key, row in ids:
            rows.setdefault(key, []).append(row)
        return {key: replace(chosen(self.tables[key], np.array(sorted(found), np.int64)), origins=(), rows=None)
                for key, found in rows.items()}

    def span_of(self, id_: FactId) -> Stretch:
        """When a fact holds."""
        table = self.tables[id_[0]]
        assert table.end is not None
        return Stretch(int(table.time[id_[1]]), int(table.end[id_[1]]))

    def fact(self, id_: FactId) -> Fact:
        """A fact as it stands in the input, with its place there."""
        table, row = self.tables[id_[0]], id_[1]
        stretch = self.span_of(id_)
        low, high = self.clock.bounds(stretch)
        args = tuple(cell(column, row) for column in table.args)
        source, number = table.place(row)
        if low == high:
            return Fact(table.name, args, None, low, None, source, number)
        return Fact(table.name, args, None, low, high, source, number, sides=self.clock.sides(stretch))


def values_in(tables: Tables) -> set[tuple[type, Value]]:
    """The arguments of facts, with their types: 1 and 1.0 are equal in Python, but different constants."""
    return {(type(value), value) for table in tables.values() for column in table.args
            for value in (column.values if isinstance(column, Coded) else np.unique(column).tolist())}


class _Finder:
    """Which rows of a column have a value."""

    def __init__(self, column: Column) -> None:
        self._column = column

    @cached_property
    def _codes(self) -> tuple[Array, dict[tuple[type, Value], int]]:
        if isinstance(self._column, Coded):
            codes, values = self._column.codes.astype(np.int64), list(self._column.values)
        else:
            distinct, codes = np.unique(self._column, return_inverse=True)
            values = distinct.tolist()
        return codes, {(type(value), value): code for code, value in enumerate(values)}

    def equal(self, value: Value) -> Mask:
        """The rows with a value."""
        codes, places = self._codes
        found: Mask = codes == places.get((type(value), value), -1)
        return found

    def among(self, values: Collection[tuple[type, Value]]) -> Mask:
        """The rows with one of some values."""
        codes, places = self._codes
        has = np.zeros(len(places), np.bool_)
        has[[places[value] for value in values if value in places]] = True
        found: Mask = has[codes]
        return found
