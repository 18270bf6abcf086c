"""Dense numbers for the tuples of values that occur, where their codes side by side would be too wide for a point."""

from __future__ import annotations

from collections.abc import Sequence

from eventide.engine.domains import Domain
from eventide.kernels.arrays import Array
from eventide.kernels.numbering import Pairs

Types = tuple[str, ...]


class Tuples:
    """The numbers of tuples by the types of their columns: a tuple is the number of all but its last, and the last."""

    def __init__(self) -> None:
        self.pairs: dict[Types, Pairs] = {}

    def number(self, types: Types, columns: Sequence[Array]) -> Array:
        """The numbers of tuples, given by columns."""
        found = columns[0]
        for place in range(1, len(types)):
            found = self._of(types[:place + 1]).number(found, columns[place])
        return found

    def columns(self, types: Types, numbers: Array) -> list[Array]:
        """The columns of tuples, given by their numbers."""
        found: list[Array] = []
        for place in range(len(types) - 1, 0, -1):
            pairs = self._of(types[:place + 1])
            found.append(pairs.right[numbers])
            numbers = pairs.left[numbers]
        return [numbers, *reversed(found)]

    def count(self, types: Types) -> int:
        """How many tuples of these types have a number."""
        return len(self._of(types))

    def _of(self, types: Types) -> Pairs:
        found = self.pairs.get(types)
        if found is None:
            found = self.pairs[types] = Pairs()
        return found


class Domains(dict[str, Domain]):
    """The domains of a run or a session by their names, and the numbers of its tuples."""

    def __init__(self) -> None:
        super().__init__()
        self.tuples = Tuples()
