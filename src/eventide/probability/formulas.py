"""Formulas over chances, as columns that grow: who made a row possible. Measures nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import Array
from eventide.kernels.formulas import FALSE, TRUE, Nodes, conjunctions

Floats = npt.NDArray[np.float64]


class Formulas:
    """Every formula of a run. Literals are those of `kernels.formulas`: signed numbers of nodes, TRUE and FALSE.

    >>> formulas = Formulas()
    >>> a, b = formulas.chances(np.array([0.5, 0.2]), 0)
    >>> formulas.both(np.array([a, a, a]), np.array([b, TRUE, -a])).tolist()
    [4, 2, -1]
    """

    def __init__(self) -> None:
        self.size, self._used = TRUE + 1, 0
        self._first = np.zeros(1024, np.int64)
        self._children = np.empty(1024, np.int64)
        self._chance = np.ones(1024)
        self._when = np.zeros(1024, np.int64)

    def nodes(self) -> Nodes:
        """All nodes so far."""
        return Nodes(self._first[: self.size + 1], self._children[: self._used], self._chance[: self.size])

    @property
    def when(self) -> Array:
        """The time of every chance."""
        return self._when[: self.size]

    def chances(self, probability: Floats, when: Array | int) -> Array:
        """New chances; for those of 0 and 1 the constants."""
        open_ = (probability > 0) & (probability < 1)
        result = np.where(probability > 0, TRUE, FALSE).astype(np.int64)
        count = int(np.count_nonzero(open_))
        numbers = self._add(np.full(count, self._used, np.int64))
        self._chance[numbers] = probability[open_]
        self._when[numbers] = np.broadcast_to(when, probability.shape)[open_]
        result[open_] = numbers
        return result

    def all_of(self, offsets: Array, literals: Array) -> Array:
        """The conjunction of each group of literals, `literals[offsets[g] .. offsets[g + 1]]`."""
        result, first, children = conjunctions(offsets, literals, self.size, self._used)
        used = self._used + children.shape[0]
        if used > self._children.shape[0]:
            larger = np.empty(max(used, 2 * self._children.shape[0]), np.int64)
            larger[: self._used] = self._children[: self._used]
            self._children = larger
        self._children[self._used : used] = children
        self._used = used
        self._add(first)
        return result

    def any_of(self, offsets: Array, literals: Array) -> Array:
        """The disjunction of each group of literals."""
        return -self.all_of(offsets, -literals)

    def both(self, left: Array, right: Array) -> Array:
        """The conjunction of two literals, row by row."""
        certain = left == TRUE
        if certain.all():
            return right
        if (right == TRUE).all():
            return left
        pairs = np.empty((left.shape[0], 2), np.int64)
        pairs[:, 0], pairs[:, 1] = left, right
        return self.all_of(np.arange(0, 2 * left.shape[0] + 1, 2), pairs.ravel())

    def either(self, left: Array, right: Array) -> Array:
        """The disjunction of two literals, row by row."""
        return -self.both(-left, -right)

    def _add(self, first: Array) -> Array:
        """New nodes whose operands begin at these places and end where those of the next begin."""
        count = first.shape[0]
        size = self.size + count
        if size + 1 > self._first.shape[0]:
            room = max(size + 1, 2 * self._first.shape[0])
            for name in ("_first", "_chance", "_when"):
                old = getattr(self, name)
                new = np.zeros(room, old.dtype)
                new[: self.size] = old[: self.size]
                setattr(self, name, new)
        numbers = np.arange(self.size, size)
        self._first[numbers] = first
        self._first[size] = self._used
        self._chance[numbers] = np.nan
        self.size = size
        return numbers


def certain(count: int) -> Array:
    """TRUE for every row."""
    return np.full(count, TRUE, np.int64)


__all__ = ["FALSE", "TRUE", "Formulas", "certain"]
