"""Maximal intervals of rows as they come: points that are settled are taken for good, those of the window for now.

This is oPIEC (Mantenoglou's thesis, chapter 6) over stretches of constant probability, row by row, many rows at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from eventide.errors import InputError
from eventide.kernels.arrays import Array, Mask
from eventide.probability.intervals import Recogniser
from eventide.probability.points import Points
from eventide.probability.ragged import spans
from eventide.probability.results import MaximalIntervals
from eventide.probability.stretches import OPEN, Stretches

NAMES = ("row",)


class Online:
    """The recogniser of a session; its streams are rows by their numbers."""

    def __init__(self, recogniser: Recogniser) -> None:
        self.recogniser = recogniser
        self.origins = np.empty(0, np.int64)
        """By number of a row: its first time-point, OPEN before it has one."""
        self.whole = True
        """Whether nothing was interrupted half-way."""

    @contextmanager
    def _changing(self) -> Iterator[None]:
        self.whole = False
        try:
            yield
        except InputError:
            self.whole = True  # points are refused before anything is done with them
            raise
        self.whole = True

    def shown(self, stretches: Stretches, is_event: Mask, first: int | None, query: int, least: float) -> Stretches:
        """The rows at a query time; points before `first` were taken for good already."""
        event = is_event[stretches.number]
        fluents, likely = stretches.take(~event), stretches.take(event & (stretches.probability >= least))
        origins = self._origins(fluents, len(is_event), first)
        points = self._points(fluents.closed(query), origins, first, OPEN)
        with self._changing():
            found = self.recogniser.intervals() if points is None else self.recogniser.peek(points)
        return likely.beside(_intervals(found, fluents, query, len(is_event)))

    def take(self, stretches: Stretches, is_event: Mask, first: int | None, last: int | None) -> None:
        """Take the points before `last` for good; those before `first` were taken already."""
        if last is None:
            return
        fluents = stretches.take(~is_event[stretches.number])
        inside = fluents.take(fluents.start < last)
        origins = self._origins(inside, len(is_event), first)
        points = self._points(inside, origins, first, last)
        with self._changing():
            if points is not None:
                self.recogniser.take(points)
            self.origins = origins

    def _origins(self, fluents: Stretches, size: int, first: int | None) -> Array:
        """The first time-points of rows, also of those that begin with these stretches."""
        origins = np.concatenate((self.origins, np.full(size - len(self.origins), OPEN)))
        begin = fluents.start if first is None else np.maximum(fluents.start, first)
        there = begin < fluents.end
        new = there & (origins[fluents.number] == OPEN)
        np.minimum.at(origins, fluents.number[new], begin[new])
        return origins

    def _points(self, fluents: Stretches, origins: Array, first: int | None, last: int) -> Points | None:
        """The points of stretches within `[first, last)`, if there are any."""
        tick = self.recogniser.step
        begin = fluents.start if first is None else np.maximum(fluents.start, first)
        end = np.minimum(fluents.end, last)
        begin = begin + (origins[fluents.number] - begin) % tick
        counts = np.maximum(-((begin - end) // tick), 0)
        owner = np.repeat(np.arange(len(fluents)), counts)
        if not len(owner):
            return None
        times = begin[owner] + spans(np.zeros(len(fluents), np.int64), counts) * tick
        streams, offsets = np.unique(fluents.number[owner], return_index=True)
        return Points(NAMES, [(row,) for row in streams.tolist()], np.append(offsets, len(times)), times,
                      fluents.probability[owner])

    def held(self, shown: Stretches, edge: int | None, is_event: Mask) -> Stretches:
        """The rows that may still change: not those of settled points that are forgotten."""
        if edge is None:
            return shown
        event = is_event[shown.number]
        kept = np.where(event, shown.end >= edge, shown.end > edge)
        mine = _intervals(self.recogniser.intervals(), Stretches.nothing(), edge, len(is_event))
        kept |= ~event & _among(shown, mine)
        return shown.take(kept)


def _intervals(found: MaximalIntervals, fluents: Stretches, query: int, size: int) -> Stretches:
    """Recognised intervals as rows; one that lasts while its row goes on is open."""
    numbers = np.array([row for row, in found.keys], np.int64)
    number = numbers[found.stream] if len(numbers) else numbers
    until = np.full(size, OPEN)
    going = fluents.take(fluents.end == OPEN)
    until[going.number] = going.closed(query).end
    end = np.where(found.end >= until[number], OPEN, found.end)
    positive = found.probability > 0
    return Stretches.of(number[positive], found.start[positive], end[positive],
                        np.round(found.probability[positive], 15))


def _among(rows: Stretches, others: Stretches) -> Mask:
    """Which rows are among others, whatever their probability."""
    columns = [np.concatenate(pair) for pair in ((rows.number, others.number), (rows.start, others.start),
                                                 (rows.end, others.end))]
    order = np.lexsort((np.arange(len(columns[0])), *columns))
    same = np.ones(max(len(order) - 1, 0), np.bool_)
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    found = np.zeros(len(order), np.bool_)
    found[order[:-1][same]] = True
    return found[:len(rows)]
