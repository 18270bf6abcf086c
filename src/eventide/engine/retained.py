"""The facts of one input that a session holds: sorted once, merged with what is new, forgotten when settled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.algebra.nodes import NUMBER, TIME, UNUSED, Fields
from eventide.engine.loading import (
    Store,
    columns_of,
    encode_all,
    fields_of,
    intervals_of,
    key_of,
    no_columns,
    side_by_side,
    sorting,
)
from eventide.engine.relation import Relation, Rows, Space, Values, first_point, runs_of
from eventide.formats.facts import Coded, Column, FactTable
from eventide.kernels.arrays import Array, Mask
from eventide.kernels.merging import insert_at, positions_in, since

_ARRAYS = ("time", "end", "named", "named_end", "unread", "arrival", "retracts", "copies")
_FORGET = 4  # what is settled is forgotten when it is at least this part of what is held
_EXACT = 1 << 53  # whole numbers up to here are exact as floats
_FEW = 64  # below so many facts nothing is forgotten
_SAMPLE = 10_000  # how many facts are looked at to know how many are affected
_MERGE = 4  # new facts are merged with the others when they are at least this part of them


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
    copies: Mask | None = None
    """Which rows another session counts."""
    ordered: bool = False
    """Whether the rows are in order of the first coded column and time."""

    def __len__(self) -> int:
        return int(self.time.shape[0])

    @cached_property
    def ready(self) -> int:
        """The first query time at which all rows take part."""
        arrival = self.time if self.arrival is None else self.arrival
        return max(int(self.time.max()), int(arrival.max())) if len(self) else 0

    @property
    def last(self) -> Array:
        """The last time-point of every row."""
        return self.time if self.end is None else self.end - 1

    @cached_property
    def oldest(self) -> int:
        """The least of the rows' last time-points."""
        return int(self.last.min()) if len(self) else 0

    @cached_property
    def newest(self) -> int:
        """The greatest of the rows' last time-points."""
        return int(self.last.max()) if len(self) else 0

    def reaching(self, low: int, tick: int) -> Mask:
        """Which rows are about a time-point that is not before a time."""
        found: Mask = self.time >= low if self.end is None else self.end > first_point(low, tick)
        return found

    def counted(self, chosen: Mask | None = None) -> int:
        """How many of the chosen rows, or of all, this session counts."""
        if self.copies is not None:
            chosen = ~self.copies if chosen is None else chosen & ~self.copies
        return len(self) if chosen is None else int(np.count_nonzero(chosen))

    def take(self, index: Array | Mask | slice) -> Batch:
        """Some of the rows."""
        chosen = self.changed(lambda values: values[index])
        stays = isinstance(index, slice) or index.dtype == np.bool_
        return replace(chosen, ordered=True) if self.ordered and stays else chosen

    def since(self, before: int) -> Batch:
        """The rows without those that ended before a time."""
        if self.oldest >= before - (self.end is not None):
            return self
        if self.newest < before - (self.end is not None):
            return self.take(slice(0))
        return self.take((self.time if self.end is None else self.end) >= before)

    def changed(self, change: Callable[[Any], Any]) -> Batch:
        """The batch with a function applied to every one of its arrays."""
        arrays: dict[str, Any] = {name: None if (array := getattr(self, name)) is None else change(array)
                                  for name in _ARRAYS}
        return Batch({name: change(values) for name, values in self.columns.items()}, **arrays)

    def identity(self) -> list[Values]:
        """The columns that make two facts the same."""
        columns = [c.view(np.int64) if c.dtype.kind == "f" else c for c in self.columns.values()]
        parts = [self.time if self.named is None else self.named, *columns]
        return [*parts, *(p for p in (self.named_end, self.unread) if p is not None)]


def _alike(first: Batch, second: Batch) -> tuple[Batch, Batch]:
    """Two batches, both with `unread` or both without."""
    if (first.unread is None) == (second.unread is None):
        return first, second
    if first.unread is None:
        return replace(first, unread=np.zeros(len(first), np.int64)), second
    return first, replace(second, unread=np.zeros(len(second), np.int64))


def joined(first: Batch, second: Batch) -> Batch:
    """One batch after the other."""
    first, second = _alike(first, second)
    columns = {name: np.concatenate((values, second.columns[name])) for name, values in first.columns.items()}
    arrays: dict[str, Any] = {name: None if (array := getattr(first, name)) is None
                              else np.concatenate((array, getattr(second, name))) for name in _ARRAYS}
    return Batch(columns, **arrays)


def batch_of(store: Store, fields: Fields, kind: str, table: FactTable, *, retract: bool = False) -> Batch:
    """The rows of a fact table, coded; the value of a fluent is the last column."""
    given = columns_of(table)
    columns = encode_all(store, fields, given)
    unread = [(place, column if f.type == UNUSED else exact_part(column))
              for place, (f, column) in enumerate(zip(fields, given, strict=True))
              if f.type == UNUSED or (f.type == NUMBER and not _is_plain(column))]
    retracts = None if table.op is None else table.op < 0
    if retract:
        retracts = np.ones(len(table), np.bool_)
    interval = kind == "interval"
    return Batch(columns, table.time, table.end, table.time if interval else None, table.end if interval else None,
                 unread_digest(unread, len(table)), table.arrival, retracts)


def _is_plain(column: Column) -> bool:
    """Whether a column of numbers stays exact as floats."""
    if isinstance(column, Coded):
        return False
    return column.dtype.kind == "f" or not column.shape[0] or -_EXACT <= column.min() <= column.max() <= _EXACT


def exact_part(column: Column) -> Column:
    """What a column of numbers has that a column of floats would not keep apart: words and large whole numbers."""
    if isinstance(column, Coded):
        exact = (isinstance(v, str) or (isinstance(v, int) and abs(v) > _EXACT) for v in column.values)
        return Coded(column.codes, tuple(v if keep else 0 for v, keep in zip(column.values, exact, strict=True)))
    return np.where(np.abs(column) > _EXACT, column, 0)


def unread_digest(columns: Sequence[tuple[int, Column]], length: int) -> Array | None:
    """A number that tells rows apart: equal rows have the same, others (in practice) never. None if all are 0.

    Columns come with their place among the arguments.
    """
    if not columns:
        return None
    result = np.zeros(length, np.uint64)
    for place, column in columns:
        if not isinstance(column, Coded) and not column.any():
            continue
        if isinstance(column, Coded):
            bits = np.array([_bits(value) for value in column.values], np.uint64)[column.codes]
        else:
            bits = np.where(column == 0, 0, column).astype(column.dtype).view(np.uint64)
            if column.dtype.kind == "f":
                bits = np.where(column == 0, 0, bits ^ _FLOAT)
        result ^= _mixed(bits, place)
    return result.view(np.int64) if result.any() else None


def _mixed(bits: npt.NDArray[np.uint64], place: int) -> npt.NDArray[np.uint64]:
    """Bits spread over the word, 0 staying 0; otherwise for every place."""
    spread = bits * (np.uint64(0xBF58476D1CE4E5B9) + np.uint64(2 * place))
    spread ^= spread >> np.uint64(29)
    return spread * np.uint64(0x94D049BB133111EB)


def _bits(value: int | float | str) -> int:
    """The bits that stand for a value, as those of a whole column do."""
    if isinstance(value, str):
        return int.from_bytes(hashlib.blake2b(value.encode(), digest_size=8).digest(), "big")
    if isinstance(value, float):
        return int(np.float64(value).view(np.uint64) ^ _FLOAT) if value else 0
    return value % (1 << 64)


_FLOAT = np.uint64(0x9E3779B97F4A7C15)  # 1 and 1.0 are two values (0 and 0.0 are taken for one)


@dataclass(frozen=True)
class Delta:
    """Where a result differs from what it was: codes of its columns by position, and the time from which on."""

    columns: tuple[Array | None, ...]
    time: Array

    def __len__(self) -> int:
        return int(self.time.shape[0])


@dataclass
class Retained:
    """What a session holds of one input. Times are absolute; rows are in order of the first coded column and time.

    Facts that came lately are kept apart (`recent`, in the same order) until they are many.
    """

    name: str
    kind: str
    fields: Fields
    facts: Batch
    counted: bool = False
    """Whether rules count these facts: then equal ones must be one row."""
    waiting: list[Batch] = field(default_factory=list)
    recent: Batch | None = None
    size: int = 0
    """How many facts there were when it was last forgotten what is settled."""
    shared: Rows | None = None
    """The facts as the operators read them, until they change."""

    def __len__(self) -> int:
        return len(self.facts) + (0 if self.recent is None else len(self.recent))

    @staticmethod
    def nothing(name: str, kind: str, types: Sequence[str], *, counted: bool = False) -> Retained:
        """An input without facts."""
        fields = fields_of(name, types)
        none = np.empty(0, np.int64)
        interval = none if kind == "interval" else None
        facts = Batch(no_columns(fields), none, interval, interval, interval, None)
        return Retained(name, kind, fields, facts, counted)

    @property
    def key(self) -> str | None:
        """The column that rows are sorted by."""
        return key_of(self.fields)

    def _key(self, batch: Batch) -> Array:
        """What rows are sorted by before their time."""
        if self.key is None:
            return batch.time
        codes: Array = batch.columns[self.key]
        return codes

    def in_order(self, batch: Batch) -> Batch:
        """The rows in order of the first coded column and time."""
        if batch.ordered:
            return batch
        permutation = sorting(None if self.key is None else batch.columns[self.key], batch.time)
        return replace(batch if permutation is None else batch.take(permutation), ordered=True)

    def hand_in(self, batch: Batch) -> None:
        """Let rows wait for their time; those that need not keep the order they came in are sorted now."""
        self.waiting.append(batch if batch.retracts is not None else self.in_order(batch))

    def due(self, query: int) -> Batch | None:
        """Take out the operations that take part at a query time, in order of arrival."""
        taken: list[Batch] = []
        left: list[Batch] = []
        for batch in self.waiting:
            if batch.ready <= query:
                taken.append(batch)
                continue
            here = batch.time <= query
            if batch.arrival is not None:
                here = here & (batch.arrival <= query)
            left.append(batch.take(~here))
            if here.any():
                taken.append(batch.take(here))
        self.waiting = left
        return _in_order(taken) if taken else None

    def apply(self, operations: Batch, low: int) -> tuple[Retained, Batch, Batch, int]:
        """The facts after operations on them, none too late: what came, what went, and retractions that found nothing.

        Of an interval that reaches back before `low`, only the part from there on is retracted.
        """
        if operations.retracts is None or not operations.retracts.any():
            added = self._new(replace(operations, arrival=None, retracts=None))
            return self._with(added), added, added.take(np.empty(0, np.int64)), 0
        group, first = _groups(operations)
        retracts = operations.retracts
        last = np.zeros(first.shape[0], np.int64)
        last[group] = np.arange(len(operations))  # the last operation on each fact decides
        added = operations.take(last[~retracts[last]])
        added = replace(added, arrival=None, retracts=None)
        touched = np.zeros(first.shape[0], np.bool_)
        touched[group[retracts]] = True  # facts that were taken away, even if they are back at the end
        gone = operations.take(first[touched])
        whole = self.merged()
        dead, found = whole._matching(gone)
        unmatched = self._unmatched(group, first, retracts, touched, found)
        removed = whole.facts.take(dead)
        facts = whole.facts
        if removed.end is not None and dead.any():
            cut = dead & (facts.time < low)
            removed = replace(removed, time=np.maximum(removed.time, low))
            assert facts.end is not None and facts.named is not None and facts.named_end is not None
            # what is left of a fact that was taken away is no longer the fact itself
            facts = replace(facts, end=np.where(cut, np.minimum(facts.end, low), facts.end),
                            named=np.where(cut, facts.time, facts.named), named_end=np.where(cut, -1, facts.named_end))
            dead = dead & ~cut
        if dead.any():
            facts = facts.take(~dead)
        kept = replace(whole, facts=facts, shared=None)
        added = kept._new(added)
        return kept._with(added), added, removed, unmatched

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
        return added.take(~self.merged()._matching(added)[1])

    def once(self) -> Batch:
        """The facts that are in one list, each once."""
        _, first = _groups(self.facts)
        return self.facts.take(np.sort(first))

    def _with(self, added: Batch) -> Retained:
        """The facts with more facts."""
        if not len(added):
            return self
        added = self.in_order(added)
        if self.recent is not None:
            added = self._merged(self.recent, added)
        grown = replace(self, recent=added, shared=None)
        small = len(added) * _MERGE < len(self.facts) and self.kind != "interval"
        return grown if small else grown.merged()

    def merged(self) -> Retained:
        """The same facts in one list."""
        if self.recent is None:
            return self
        facts = self._merged(self.facts, self.recent) if len(self.facts) else self.recent
        return replace(self, facts=facts, recent=None, shared=None)

    def _merged(self, old: Batch, new: Batch) -> Batch:
        """Two batches in order as one."""
        old, new = _alike(old, new)
        positions = positions_in(self._key(old), old.time, self._key(new), new.time)
        columns = {name: _inserted(values, new.columns[name], positions) for name, values in old.columns.items()}
        others: dict[str, Any] = {
            name: None if (array := getattr(old, name)) is None
            else insert_at(array, getattr(new, name), positions, trusted=True) for name in _ARRAYS[:5]}
        return Batch(columns, **others, ordered=True)

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
        """The facts without those that ended before a time, if there may be many."""
        if len(self) * _FORGET <= self.size * (_FORGET + 1):
            return self
        facts, recent = self.facts.since(before), None if self.recent is None else self.recent.since(before)
        same = facts is self.facts and recent is self.recent
        if recent is not None and len(recent) * _MERGE >= len(facts):
            merged = replace(self, facts=facts, recent=recent).merged()
            return replace(merged, size=max(len(merged), _FEW))
        kept = replace(self, facts=facts, recent=recent, shared=self.shared if same else None)
        return replace(kept, size=max(len(kept), _FEW))

    def rows(self, space: Space) -> Rows:
        """The facts as points, in one list."""
        if self.shared is None:
            whole = self.merged()
            self.facts, self.recent = whole.facts, None
            columns = dict(self.facts.columns) | {TIME: self.facts.time - space.timeline.origin}
            self.shared = Rows(self.fields, columns, len(self.facts), timed=True)
        return self.shared

    def affected(self, space: Space, column: str, front: Array) -> Rows:
        """The facts as points, of each entity from its front on."""
        limits = front + space.timeline.origin
        parts = [part.take(since(part.time, part.columns[column], limits, trusted=True))
                 for part in (self.facts, self.recent) if part is not None]
        chosen = parts[0]
        if len(parts) > 1 and len(parts[1]):
            chosen = self._merged(*parts) if len(chosen) else parts[1]
        columns = dict(chosen.columns) | {TIME: chosen.time - space.timeline.origin}
        return Rows(self.fields, columns, len(chosen), timed=True)

    def share(self, space: Space, column: str, front: Array) -> tuple[int, int]:
        """How many facts are affected, about, and how many there are."""
        limits = front + space.timeline.origin
        number = 0
        for part in (self.facts, self.recent):
            if part is not None:
                every = max(1, len(part) // _SAMPLE)
                times, codes = (np.ascontiguousarray(a[::every]) for a in (part.time, part.columns[column]))
                number += every * since(times, codes, limits, trusted=True).shape[0]
        return number, len(self)

    def relation(self, space: Space) -> Relation:
        """The facts as intervals: input intervals as they are, points of a point fluent as runs."""
        if self.facts.end is None:
            return runs_of(space, self.rows(space))
        facts = self.facts  # those of intervals are in one list
        assert facts.end is not None
        return intervals_of(space, self.fields, facts.columns, facts.time, facts.end)


def delta_of(fields: Fields, batches: Sequence[Batch], origin: int) -> Delta:
    """Where facts came or went."""
    columns = tuple(
        None if f.type in (NUMBER, UNUSED) else np.concatenate([b.columns[f.name] for b in batches]) for f in fields)
    return Delta(columns, np.concatenate([b.time for b in batches]) - origin)


def _inserted(old: Values, new: Values, positions: Array) -> Values:
    if old.dtype != new.dtype:
        old, new = old.astype(np.float64), new.astype(np.float64)
    return insert_at(old, new, positions, trusted=True)


def _in_order(batches: Sequence[Batch]) -> Batch:
    """Operations of several batches in order of arrival; those that arrive together, as they were handed in."""
    timed = any(batch.arrival is not None for batch in batches)
    marked = any(batch.retracts is not None for batch in batches)
    copied = any(batch.copies is not None for batch in batches)
    whole: Batch | None = None
    for batch in batches:
        none = np.zeros(len(batch) if marked or copied else 0, np.bool_)
        full = replace(
            batch, arrival=(batch.time if batch.arrival is None else batch.arrival) if timed else None,
            retracts=(none if batch.retracts is None else batch.retracts) if marked else None,
            copies=(none if batch.copies is None else batch.copies) if copied else None)
        whole = full if whole is None else joined(whole, full)
    assert whole is not None
    if whole.arrival is None or whole.retracts is None:
        return whole
    return whole.take(np.argsort(whole.arrival, kind="stable"))


def _groups(batch: Batch) -> tuple[Array, Array]:
    """The number of the fact of every row, and the first row of every fact."""
    permutation, repeated = side_by_side(batch.identity(), np.arange(len(batch)))
    group = np.empty(len(batch), np.int64)
    group[permutation] = np.cumsum(~repeated) - 1
    return group, permutation[~repeated]
