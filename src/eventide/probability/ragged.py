"""Lists of different lengths side by side in flat columns, each with room to grow. Knows nothing of what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import Array

_FEW, _LONG = 32, 16  # so few lists, or such long ones, are copied one by one: to find every place would cost more


def spans(starts: Array, lengths: Array) -> Array:
    """The numbers of several stretches, one behind the other.

    >>> spans(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = lengths.cumsum() - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def _copy(target: npt.NDArray[Any], places: Array, source: npt.NDArray[Any], starts: Array, lengths: Array) -> None:
    """Copy stretches of one column to places of another."""
    if lengths.shape[0] > _FEW and int(lengths.sum()) < _LONG * lengths.shape[0]:
        target[spans(places, lengths)] = source[spans(starts, lengths)]
        return
    for place, start, length in zip(places.tolist(), starts.tolist(), lengths.tolist(), strict=True):
        target[place : place + length] = source[start : start + length]


def stretches(column: npt.NDArray[Any], starts: Array, lengths: Array) -> npt.NDArray[Any]:
    """The elements of several stretches of a column, one stretch behind the other.

    >>> stretches(np.arange(9), np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    found = np.empty((int(lengths.sum()), *column.shape[1:]), column.dtype)
    _copy(found, lengths.cumsum() - lengths, column, starts, lengths)
    return found


class Mark(NamedTuple):
    """Where lists were at a moment."""

    columns: dict[str, npt.NDArray[Any]]
    base: Array
    size: Array
    room: Array
    used: int
    moves: int


class Ragged:
    """List r is at `base[r] .. base[r] + size[r]` of every column; behind it `room[r] - size[r]` places are free.

    >>> lists = Ragged({"value": np.empty(0, np.int64)})
    >>> lists.add(2)
    >>> lists.append(np.array([1, 0]), np.array([1, 2]), {"value": np.array([7, 3, 4])})
    >>> lists.append(np.array([1]), np.array([1]), {"value": np.array([8])})
    >>> lists.of(np.array([0, 1]))["value"].tolist()
    [3, 4, 7, 8]
    """

    def __init__(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self.columns = dict(columns)
        self.base, self.size, self.room = (np.zeros(0, np.int64) for _ in range(3))
        self._used = self._moves = 0

    def copy(self) -> Ragged:
        """Another of the same content, without free places."""
        found = Ragged(self.of(np.arange(self.size.shape[0])))
        found.base, found.size, found.room = self.size.cumsum() - self.size, self.size.copy(), self.size.copy()
        found._used = int(self.size.sum())
        return found

    def trim(self, lists: Array) -> None:
        """Give up free places of some lists; they keep room to double, so that growing stays cheap."""
        self.room[lists] = np.minimum(self.room[lists], 2 * self.size[lists])
        self._used = int((self.base + self.room).max(initial=0))

    def mark(self) -> Mark:
        """What `back` needs to undo everything that is added from now on; it is small."""
        return Mark(dict(self.columns), self.base.copy(), self.size.copy(), self.room.copy(), self._used, self._moves)

    def back(self, mark: Mark) -> None:
        """Undo what was added since a mark; nothing may have been taken away since then."""
        if self._moves != mark.moves:  # everything is at other places: take the columns as they were
            self.columns = mark.columns
        self.base, self.size, self.room, self._used = mark.base, mark.size, mark.room, mark.used

    def add(self, count: int) -> None:
        """Add empty lists."""
        zeros = np.zeros(count, np.int64)
        self.base, self.size, self.room = (np.concatenate((a, zeros)) for a in (self.base, self.size, self.room))

    def reserve(self, lists: Array, more: Array) -> None:
        """Make room for more elements in some lists; those without are moved, to twice the room."""
        need = self.size[lists] + more
        lacking = need > self.room[lists]
        moved = lists[lacking]
        if not moved.shape[0]:
            return
        last = int(moved[-1])
        if moved.shape[0] == 1 and self.base[last] + self.room[last] == self._used:  # nothing behind it: it stays
            room = max(int(need[lacking][0]), 2 * int(self.room[last]))
            self._grow(int(self.base[last]) + room)
            self.room[last], self._used = room, int(self.base[last]) + room
            return
        room = np.maximum(need[lacking], 2 * self.room[moved])
        base = self._used + room.cumsum() - room
        self._grow(self._used + int(room.sum()))
        for column in self.columns.values():
            _copy(column, base, column, self.base[moved], self.size[moved])
        self.base[moved], self.room[moved] = base, room
        self._used += int(room.sum())
        if self._used > 2 * int(self.room.sum()) + 1024:
            self._compact()

    def _grow(self, used: int) -> None:
        for name, column in self.columns.items():
            if column.shape[0] < used:
                larger = np.empty((max(used, 2 * self._used), *column.shape[1:]), column.dtype)
                larger[: self._used] = column[: self._used]
                self.columns[name] = larger

    def _compact(self) -> None:
        """Give back what moved lists have left."""
        base = self.room.cumsum() - self.room
        for name, column in self.columns.items():
            self.columns[name] = np.empty((int(self.room.sum()), *column.shape[1:]), column.dtype)
            _copy(self.columns[name], base, column, self.base, self.size)
        self.base, self._used = base, int(self.room.sum())
        self._moves += 1

    def append(self, lists: Array, counts: Array, values: Mapping[str, npt.NDArray[Any]]) -> None:
        """Add elements behind those of some lists, `counts` of each."""
        self.reserve(lists, counts)
        for name, column in self.columns.items():
            _copy(column, self.base[lists] + self.size[lists], values[name], counts.cumsum() - counts, counts)
        self.size[lists] += counts

    def drop_first(self, lists: Array, counts: Array) -> None:
        """Take elements from the front of some lists."""
        self.base[lists] += counts
        self.size[lists] -= counts
        self.room[lists] -= counts

    def of(self, lists: Array) -> dict[str, npt.NDArray[Any]]:
        """The elements of some lists, one list behind the other."""
        return {name: stretches(column, self.base[lists], self.size[lists]) for name, column in self.columns.items()}
