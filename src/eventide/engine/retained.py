"""The facts of one input that a session holds: sorted once, merged with what is new, forgotten when settled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eventide.algebra.nodes import NUMBER, TIME, UNUSED, Field, Fields
from eventide.engine.loading import Store, encode
from eventide.engine.relation import Relation, Rows, Space, Values, from_unsorted, pack_with, runs_of
from eventide.formats.facts import Coded, Column, FactTable
from eventide.kernels.arrays import Array, Mask
from eventide.kernels.merging import insert_at
from eventide.kernels.sorting import order

_ARRAYS = ("time", "end", "named", "named_end", "unread", "arrival", "retracts")
_FORGET = 8  # a piece of what is held is forgotten when it is at least this part of it


@dataclass(frozen=True)
class Batch:
    """Operations on the facts of one input, in the order in which they were handed in.

    `time` and `end` say when a fact holds for the session, `named` and `named_end` what the fact itself says: of an
    interval that came late, only the part inside the window counts. `unread` tells facts apart that differ only in
    arguments that no rule reads.
    """

    columns: dict[str, Values]
    time: Array
    end: Array | None
    named: Array | None
    named_end: Array | None
    unread: Array | None
    arrival: Array | None = None
    retracts: Mask | None = None

    def __len__(self) -> int:
        return int(self.time.shape[0])

    def take(self, index: Array | Mask) -> Batch:
        """Some of the rows."""
        return self.changed(lambda values: values[index])

    def changed(self, change: Callable[[Any], Any]) -> Batch:
        """The batch with a function applied to every one of its arrays."""
        arrays: dict[str, Any] = {name: None if (array := getattr(self, name)) is None else change(array)
                                  for name in _ARRAYS}
        return Batch({name: change(values) for name, values in self.columns.items()}, **arrays)

    def identity(self) -> list[Values]:
        """The columns that make two facts the same."""
        parts = [self.time if self.named is None else self.named, *self.columns.values()]
        return [*parts, *(p for p in (self.named_end, self.unread) if p is not None)]


def joined(first: Batch, second: Batch) -> Batch:
    """One batch after the other."""
    columns = {name: np.concatenate((values, second.columns[name])) for name, values in first.columns.items()}
    arrays: dict[str, Any] = {name: None if (array := getattr(first, name)) is None
                              else np.concatenate((array, getattr(second, name))) for name in _ARRAYS}
    return Batch(columns, **arrays)


def batch_of(store: Store, fields: Fields, kind: str, table: FactTable, *, retract: bool = False) -> Batch:
    """The rows of a fact table, coded; the value of a fluent is the last column."""
    given = [*table.args, *([table.value] if table.value is not None else [])]
    columns = {f.name: values for f, column in zip(fields, given, strict=True)
               if (values := encode(column, f.type, store)) is not None}
    unread = [column for f, column in zip(fields, given, strict=True) if f.type == UNUSED]
    retracts = None if table.op is None else table.op < 0
    if retract:
        retracts = np.ones(len(table), np.bool_)
    interval = kind == "interval"
    return Batch(columns, table.time, table.end, table.time if interval else None, table.end if interval else None,
                 _digest(unread, len(table)) if unread else None, table.arrival, retracts)


def _digest(columns: Sequence[Column], length: int) -> Array:
    """A number that tells rows apart: equal rows have the same, others (in practice) never."""
    result = np.zeros(length, np.uint64)
    for column in columns:
        if isinstance(column, Coded):
            words = [int.from_bytes(hashlib.blake2b(f"{type(v).__name__} {v}".encode(), digest_size=8).digest(), "big")
                     for v in column.values]
            bits = np.array(words, np.uint64)[column.codes] if words else np.zeros(length, np.uint64)
        else:
            kind = np.uint64(0x9E3779B97F4A7C15 if column.dtype.kind == "f" else 0)
            bits = np.where(column == 0, 0, column).astype(column.dtype).view(np.uint64) ^ kind
        result = (result ^ bits) * np.uint64(0xBF58476D1CE4E5B9)
        result ^= result >> np.uint64(29)
    return result.view(np.int64)


@dataclass(frozen=True)
class Delta:
    """Where a result differs from what it was: codes of its columns by position, and the time from which on."""

    columns: tuple[Array | None, ...]
    time: Array

    def __len__(self) -> int:
        return int(self.time.shape[0])


@dataclass
class Retained:
    """What a session holds of one input. Times are absolute; rows are in order of the first coded column and time."""

    name: str
    kind: str
    fields: Fields
    facts: Batch
    counted: bool = False
    """Whether rules count these facts: then equal ones must be one row."""
    waiting: list[Batch] = field(default_factory=list)
    shared: Rows | None = None
    """The facts as the operators read them, until they change."""

    @staticmethod
    def nothing(name: str, kind: str, types: Sequence[str], *, counted: bool = False) -> Retained:
        """An input without facts."""
        fields = tuple(Field(f"{name}.{i}", type_) for i, type_ in enumerate(types))
        none = np.empty(0, np.int64)
        interval = none if kind == "interval" else None
        columns: dict[str, Values] = {f.name: none for f in fields if f.type != UNUSED}
        unread = none if any(f.type == UNUSED for f in fields) else None
        return Retained(name, kind, fields, Batch(columns, none, interval, interval, interval, unread),
                        counted)

    @property
    def key(self) -> str | None:
        """The column that rows are sorted by."""
        return next((f.name for f in self.fields if f.type not in (NUMBER, UNUSED)), None)

    def places(self, space: Space, batch: Batch) -> Array:
        """Where rows stand in the order."""
        time = batch.time - space.timeline.origin
        if self.key is None:
            return time
        space.shifts(tuple(f for f in self.fields if f.name == self.key))
        return (batch.columns[self.key] << np.int64(space.timeline.shift)) | time

    def due(self, query: int) -> Batch | None:
        """Take out the operations that take part at a query time, in order of arrival."""
        taken: list[Batch] = []
        left: list[Batch] = []
        for batch in self.waiting:
            here = batch.time <= query
            if batch.arrival is not None:
                here = here & (batch.arrival <= query)
            if here.all():
                taken.append(batch)
                continue
            left.append(batch.take(~here))
            if here.any():
                taken.append(batch.take(here))
        self.waiting = left
        return _in_order(taken) if taken else None

    def apply(self, space: Space, operations: Batch, low: int) -> tuple[Retained, Batch, Batch, int]:
        """The facts after operations on them, none too late: what came, what went, and retractions that found nothing.

        Of an interval that reaches back before `low`, only the part from there on is retracted.
        """
        if operations.retracts is None or not operations.retracts.any():
            added = self._new(replace(operations, arrival=None, retracts=None))
            return self._with(space, added), added, added.take(np.empty(0, np.int64)), 0
        group, first = _groups(operations)
        retracts = operations.retracts
        last = np.zeros(first.shape[0], np.int64)
        last[group] = np.arange(len(operations))  # the last operation on each fact decides
        added = operations.take(last[~retracts[last]])
        added = replace(added, arrival=None, retracts=None)
        touched = np.zeros(first.shape[0], np.bool_)
        touched[group[retracts]] = True  # facts that were taken away, even if they are back at the end
        gone = operations.take(first[touched])
        dead, found = self._matching(gone)
        unmatched = self._unmatched(group, first, retracts, touched, found)
        removed = self.facts.take(dead)
        facts = self.facts
        if removed.end is not None and dead.any():
            cut = dead & (facts.time < low)
            removed = replace(removed, time=np.maximum(removed.time, low))
            assert facts.end is not None and facts.named is not None and facts.named_end is not None
            # what is left of a fact that was taken away is no longer the fact itself
            facts = replace(facts, end=np.where(cut, np.minimum(facts.end, low), facts.end),
                            named=np.where(cut, facts.time, facts.named), named_end=np.where(cut, -1, facts.named_end))
            dead = dead & ~cut
        kept = replace(self, facts=facts.take(~dead) if dead.any() else facts)
        added = kept._new(added)
        return kept._with(space, added), added, removed, unmatched

    @staticmethod
    def _unmatched(group: Array, first: Array, retracts: Mask, touched: Mask, found: Mask) -> int:
        """How many retractions found nothing: their fact was not there, or was taken away just before."""
        ordered = np.argsort(group, kind="stable")
        there = np.zeros(first.shape[0], np.bool_)
        there[np.flatnonzero(touched)[found]] = True
        begins = np.ones(group.shape[0], np.bool_)
        begins[1:] = group[ordered][1:] != group[ordered][:-1]
        inserts = ~retracts[ordered]
        present = np.where(begins, there[group[ordered]], np.roll(inserts, 1))
        return int((retracts[ordered] & ~present).sum())

    def _new(self, added: Batch) -> Batch:
        """Of facts that are counted, only those that are not there yet, each once."""
        if not self.counted or not len(added):
            return added
        _, first = _groups(added)
        added = added.take(np.sort(first))
        return added.take(~self._matching(added)[1])

    def _with(self, space: Space, added: Batch) -> Retained:
        """The facts with more facts in their places."""
        if not len(added):
            return replace(self, shared=None)
        places = self.places(space, added)
        sorting = order(places)
        added = added.take(sorting)
        positions = np.searchsorted(self.places(space, self.facts), places[sorting], side="right")
        facts = self.facts
        columns = {name: _inserted(values, added.columns[name], positions) for name, values in facts.columns.items()}
        others: dict[str, Any] = {name: None if (array := getattr(facts, name)) is None
                                  else insert_at(array, getattr(added, name), positions) for name in _ARRAYS[:5]}
        return replace(self, facts=Batch(columns, **others), shared=None)

    def _matching(self, wanted: Batch) -> tuple[Mask, Mask]:
        """Which facts are among those wanted, and which of the wanted are there."""
        dead, found = np.zeros(len(self.facts), np.bool_), np.zeros(len(wanted), np.bool_)
        keys = [self._word(batch) for batch in (self.facts, wanted)]
        near = np.isin(keys[0], keys[1])
        rows = np.flatnonzero(near)
        ours = self.facts.take(rows)
        group, _ = _groups(joined(replace(wanted, arrival=None, retracts=None), ours))
        mine, theirs = group[len(wanted):], group[:len(wanted)]
        dead[rows] = np.isin(mine, theirs)
        found[:] = np.isin(theirs, mine)
        return dead, found

    def _word(self, batch: Batch) -> Array:
        """A number per fact that is equal for equal facts."""
        time = batch.time if batch.named is None else batch.named
        if self.key is None:
            return time
        return time * np.int64(1_000_003) ^ batch.columns[self.key]

    def without(self, before: int) -> Retained:
        """The facts without those that ended before a time, if they are many."""
        last = self.facts.time if self.facts.end is None else self.facts.end
        old = last < before
        if int(np.count_nonzero(old)) * _FORGET < len(self.facts) or not old.any():
            return self
        return replace(self, facts=self.facts.take(~old), shared=None)

    def rows(self, space: Space) -> Rows:
        """The facts as points."""
        if self.shared is None:
            columns = dict(self.facts.columns) | {TIME: self.facts.time - space.timeline.origin}
            self.shared = Rows(self.fields, columns, len(self.facts), timed=True)
        return self.shared

    def relation(self, space: Space) -> Relation:
        """The facts as intervals: input intervals as they are, points of a point fluent as runs."""
        if self.facts.end is None:
            return runs_of(space, self.rows(space))
        timeline = space.timeline
        first = timeline.start // timeline.tick * timeline.tick + timeline.tick
        facts = self.facts
        inside = (self.facts.end > first) & (facts.end > facts.time)  # type: ignore[operator]
        if not inside.all():
            facts = facts.take(inside)
        assert facts.end is not None
        rows = Rows(self.fields, facts.columns, len(facts), timed=False)
        starts = pack_with(space, rows, self.fields, np.maximum(facts.time, first) - timeline.origin)
        ends = pack_with(space, rows, self.fields, np.minimum(facts.end - timeline.origin, timeline.mask))
        return from_unsorted(space, self.fields, starts, ends)


def delta_of(fields: Fields, batches: Sequence[Batch], origin: int) -> Delta:
    """Where facts came or went."""
    columns = tuple(
        None if f.type in (NUMBER, UNUSED) else np.concatenate([b.columns[f.name] for b in batches]) for f in fields)
    return Delta(columns, np.concatenate([b.time for b in batches]) - origin)


def _inserted(old: Values, new: Values, positions: Array) -> Values:
    if old.dtype != new.dtype:
        old, new = old.astype(np.float64), new.astype(np.float64)
    return insert_at(old, new, positions)


def _in_order(batches: Sequence[Batch]) -> Batch:
    """Operations of several batches in order of arrival; those that arrive together, as they were handed in."""
    timed = any(batch.arrival is not None for batch in batches)
    marked = any(batch.retracts is not None for batch in batches)
    whole: Batch | None = None
    for batch in batches:
        full = replace(
            batch, arrival=(batch.time if batch.arrival is None else batch.arrival) if timed else None,
            retracts=(np.zeros(len(batch), np.bool_) if batch.retracts is None else batch.retracts) if marked else None)
        whole = full if whole is None else joined(whole, full)
    assert whole is not None
    if whole.arrival is None or whole.retracts is None:
        return whole
    return whole.take(np.argsort(whole.arrival, kind="stable"))


def _groups(batch: Batch) -> tuple[Array, Array]:
    """The number of the fact of every row, and the first row of every fact."""
    columns = batch.identity()
    permutation = np.lexsort((np.arange(len(batch)), *columns))
    new = np.ones(len(batch), np.bool_)
    new[1:] = False
    for column in columns:
        ordered = column[permutation]
        new[1:] |= ordered[1:] != ordered[:-1]
    group = np.empty(len(batch), np.int64)
    group[permutation] = np.cumsum(new) - 1
    return group, permutation[new]
