"""Lists of different lengths side by side in flat columns, each with room to grow. Knows nothing of what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import Array


def spans(starts: Array, lengths: Array) -> Array:
    """The numbers of several stretches, one behind the other.

    >>> spans(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = lengths.cumsum() - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


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
        self._used = 0

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
        room = np.maximum(need[lacking], 2 * self.room[moved])
        base = self._used + room.cumsum() - room
        old, new = spans(self.base[moved], self.size[moved]), spans(base, self.size[moved])
        self._grow(self._used + int(room.sum()))
        for column in self.columns.values():
            column[new] = column[old]
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
        old = spans(self.base, self.size)
        base = self.room.cumsum() - self.room
        new = spans(base, self.size)
        for name, column in self.columns.items():
            self.columns[name] = np.empty((int(self.room.sum()), *column.shape[1:]), column.dtype)
            self.columns[name][new] = column[old]
        self.base, self._used = base, int(self.room.sum())

    def append(self, lists: Array, counts: Array, values: Mapping[str, npt.NDArray[Any]]) -> None:
        """Add elements behind those of some lists, `counts` of each."""
        self.reserve(lists, counts)
        places = spans(self.base[lists] + self.size[lists], counts)
        for name, column in self.columns.items():
            column[places] = values[name]
        self.size[lists] += counts

    def drop_first(self, lists: Array, counts: Array) -> None:
        """Take elements from the front of some lists."""
        self.base[lists] += counts
        self.size[lists] -= counts
        self.room[lists] -= counts

    def of(self, lists: Array) -> dict[str, npt.NDArray[Any]]:
        """The elements of some lists, one list behind the other."""
        places = spans(self.base[lists], self.size[lists])
        return {name: column[places] for name, column in self.columns.items()}
