"""Rows of results as columns of numbers: stretches of time with a probability, and a book that says what a row is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.algebra.nodes import Fields, Output
from eventide.engine.answers import arguments
from eventide.engine.recognition import MOST_TIME
from eventide.engine.relation import Rows, Space, Timeline, pack_with
from eventide.engine.tuples import Domains
from eventide.kernels.arrays import Array, Mask
from eventide.probability.recognition import ROWS, Found

Floats = npt.NDArray[np.float64]
OPEN = MOST_TIME
"""The end of a stretch that has none yet."""
_SPARE = 1024  # rows that nothing is held of any more, before the book is written anew


@dataclass(frozen=True)
class Stretches:
    """Stretches by number of their row and start; those of one row have different starts."""

    number: Array
    start: Array
    end: Array
    probability: Floats

    def __len__(self) -> int:
        return int(self.number.shape[0])

    @staticmethod
    def nothing() -> Stretches:
        """No stretch at all."""
        none = np.empty(0, np.int64)
        return Stretches(none, none, none, np.empty(0))

    @staticmethod
    def of(number: Array, start: Array, end: Array, probability: Floats) -> Stretches:
        """Stretches in any order."""
        order = np.lexsort((start, number))
        return Stretches(number[order], start[order], end[order], probability[order])

    def take(self, rows: Array | Mask) -> Stretches:
        """Some of them, in their order."""
        return Stretches(self.number[rows], self.start[rows], self.end[rows], self.probability[rows])

    def beside(self, other: Stretches) -> Stretches:
        """These and others."""
        return Stretches.of(
            np.concatenate((self.number, other.number)), np.concatenate((self.start, other.start)),
            np.concatenate((self.end, other.end)), np.concatenate((self.probability, other.probability)))

    def closed(self, query: int) -> Stretches:
        """Those without an end until the query time; one that begins later has one time-point."""
        end = np.where(self.end == OPEN, np.maximum(query + 1, self.start + 1), self.end)
        return Stretches(self.number, self.start, end, self.probability)

    def changes_to(self, other: Stretches) -> tuple[Stretches, Stretches]:
        """What others have that these have not, or otherwise; and what these have that others have not."""
        number, start = (np.concatenate(pair) for pair in ((self.number, other.number), (self.start, other.start)))
        order = np.lexsort((start, number))
        number, start = number[order], start[order]
        twice = np.flatnonzero((number[1:] == number[:-1]) & (start[1:] == start[:-1]))
        mine, theirs = order[twice], order[twice + 1] - len(self)
        same = (self.end[mine] == other.end[theirs]) & (self.probability[mine] == other.probability[theirs])
        added, removed = np.ones(len(other), np.bool_), np.ones(len(self), np.bool_)
        added[theirs[same]] = removed[mine[same]] = False
        return other.take(added), self.take(removed)

    def followed_by(self, now: Stretches, edge: int | None, is_event: Mask) -> Stretches:
        """These up to an edge, and others from there on; one that goes on with the same probability is one."""
        if edge is None:
            return now
        now = now.take(now.start >= edge)
        before = self.take(self.start < edge)
        before = Stretches(before.number, before.start, np.minimum(before.end, edge), before.probability)
        ends = np.flatnonzero((before.end == edge) & ~is_event[before.number])
        begins = np.flatnonzero((now.start == edge) & ~is_event[now.number])
        _, one, other = np.intersect1d(before.number[ends], now.number[begins], assume_unique=True, return_indices=True)
        one, other = ends[one], begins[other]
        same = before.probability[one] == now.probability[other]
        start, kept = now.start.copy(), np.ones(len(before), np.bool_)
        start[other[same]] = before.start[one[same]]
        kept[one[same]] = False
        return before.take(kept).beside(Stretches(now.number, start, now.end, now.probability))


class Book:
    """A number for every row of every result that something is held of. Codes are those of the session's domains."""

    def __init__(self, wanted: Sequence[Output], fields: Sequence[Fields], events: Sequence[bool]) -> None:
        self.wanted, self.fields, self.events = wanted, fields, events
        none = np.empty(0, np.int64)
        self.codes: list[tuple[Array, ...]] = [tuple(none for _ in each) for each in fields]
        self.numbers: list[Array] = [none for _ in fields]
        """By result: the codes of its rows, and their numbers."""
        self.size = 0

    def numbered(self, space: Space, found: Sequence[Found | None]) -> Stretches:
        """The rows of an evaluation with their numbers; new rows get new ones."""
        parts = [self._numbered(space, at, rows) for at, rows in enumerate(found) if rows is not None]
        return Stretches.of(*(np.concatenate(columns) for columns in zip(*parts, strict=True))) if parts else (
            Stretches.nothing())

    def _numbered(self, space: Space, at: int, found: Found) -> tuple[Array, Array, Array, Floats]:
        fields = self.fields[at]
        theirs, first, row = np.unique(_packed(space, fields, found.codes, len(found.start)), return_index=True,
                                       return_inverse=True)
        ours = _packed(space, fields, self.codes[at], len(self.numbers[at]))
        order = np.argsort(ours)
        place = np.minimum(np.searchsorted(ours, theirs, sorter=order), max(len(ours) - 1, 0))
        known = ours[order[place]] == theirs if len(ours) else np.zeros(len(theirs), np.bool_)
        numbers = np.empty(len(theirs), np.int64)
        numbers[known] = self.numbers[at][order[place[known]]]
        new = first[~known]
        numbers[~known] = self.size + np.arange(len(new))
        if len(new):
            self.codes[at] = tuple(np.concatenate((column, codes[new]))
                                   for column, codes in zip(self.codes[at], found.codes, strict=True))
            self.numbers[at] = np.concatenate((self.numbers[at], numbers[~known]))
            self.size += len(new)
        return numbers[row], found.start, found.end, found.probability

    @property
    def is_event(self) -> Mask:
        """By number: whether it is of an event."""
        found = np.zeros(self.size, np.bool_)
        for numbers, event in zip(self.numbers, self.events, strict=True):
            found[numbers] = event
        return found

    def kept(self, *held: Stretches) -> tuple[Book, list[Stretches]]:
        """The book with the rows that something is held of, if it has many others; and what is held, numbered so."""
        used = np.unique(np.concatenate([each.number for each in held]))
        if self.size <= 2 * len(used) + _SPARE:
            return self, list(held)
        new = np.full(self.size, -1, np.int64)
        new[used] = np.arange(len(used))
        book = Book(self.wanted, self.fields, self.events)
        book.size = len(used)
        for at, numbers in enumerate(self.numbers):
            there = new[numbers] >= 0
            book.numbers[at] = new[numbers[there]]
            book.codes[at] = tuple(column[there] for column in self.codes[at])
        return book, [Stretches(new[each.number], each.start, each.end, each.probability) for each in held]

    def copy(self) -> Book:
        """Another of the same content."""
        found = Book(self.wanted, self.fields, self.events)
        found.codes, found.numbers, found.size = list(self.codes), list(self.numbers), self.size
        return found

    def table(self, domains: Domains, rows: Stretches) -> pa.Table:
        """Rows as they are reported."""
        place = np.empty(self.size, np.int64)
        result = np.full(self.size, -1, np.int64)
        for at, numbers in enumerate(self.numbers):
            place[numbers], result[numbers] = np.arange(len(numbers)), at
        tables = [ROWS.empty_table()]
        for at in np.unique(result[rows.number]).tolist():
            part = rows.take(result[rows.number] == at)
            tables.append(self._table(domains, at, place[part.number], part))
        return pa.concat_tables(tables).unify_dictionaries()

    def _table(self, domains: Domains, at: int, place: Array, rows: Stretches) -> pa.Table:
        wanted, fields = self.wanted[at], self.fields[at]
        columns = {field.name: codes[place] for field, codes in zip(fields, self.codes[at], strict=True)}
        keys = fields
        if self.events[at]:
            value = pa.repeat("", len(rows))
        elif wanted.value is not None:
            value = pa.repeat(str(wanted.value), len(rows))
        else:
            keys = fields[:-1]
            value = domains[fields[-1].type].column.take(pa.array(columns[fields[-1].name]))
        text = arguments(wanted.template, keys, columns, Space(domains, Timeline(0, 1, 1, 0, 0)), len(rows))
        name = pa.DictionaryArray.from_arrays(np.zeros(len(rows), np.int32),
                                              pa.array([wanted.template.partition("(")[0]]))
        return pa.table([name, text, value, pa.array(rows.start), pa.array(rows.end, mask=rows.end == OPEN),
                         pa.array(rows.probability)], schema=ROWS)


def _packed(space: Space, fields: Fields, codes: Sequence[Array], length: int) -> Array:
    """One number for each row, the same for the same codes."""
    columns = {field.name: column for field, column in zip(fields, codes, strict=True)}
    return pack_with(space, Rows(fields, columns, length, timed=False), fields, None)
