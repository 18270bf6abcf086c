"""Executors of a session: one reads all that is held, others what is affected, settled, or came after a time."""

from __future__ import annotations

from collections.abc import Mapping

from eventide.algebra import nodes as n
from eventide.engine.executor import Executor
from eventide.engine.loading import Store
from eventide.engine.operators import Result
from eventide.engine.relation import Relation, Rows, Space
from eventide.engine.retained import Retained
from eventide.engine.upkeep import leaf_name
from eventide.kernels.arrays import Array
from eventide.kernels.intervals import clip


class Whole(Executor):
    """Reads everything that is held."""

    def __init__(self, space: Space, shown: dict[str, Result], inputs: Mapping[str, Retained],
                 tables: Mapping[str, Rows], ties: str, store: Store) -> None:
        super().__init__(space, {}, tables, ties, store.functions)
        self.results, self.inputs = shown, inputs

    def leaf(self, node: n.Events | n.Fluent | n.Fired) -> Result | None:
        """A result, or the facts of an input in one list."""
        kept = self.inputs.get(node.name)
        return super().leaf(node) if kept is None else kept.rows(self.space)


class Part(Executor):
    """Reads only rows of affected entities, from their fronts on."""

    def __init__(self, whole: Whole, front: Array, shown: Mapping[str, Result]) -> None:
        super().__init__(whole.space, {}, whole.tables, whole.ties, whole.functions)
        self.front = front
        self.edge = 0
        """Before which time no front lies, whatever changed."""
        self.floor, self.floors = 0, dict[str, int]()
        """Before which time nothing is read, but for results that have that floor themselves."""
        self.positions: dict[int, int] = {}
        self._inputs = whole.inputs
        self._shown = shown
        self._cut: dict[tuple[str, int], Result] = {}

    def fits(self, positions: Mapping[int, int]) -> bool:
        """Whether a piece may be evaluated here: no leaf is split by another column."""
        return all(self.positions.get(leaf, position) == position for leaf, position in positions.items())

    def reading(self, node: n.Events | n.Fluent | n.Fired) -> tuple[str, int | None]:
        """The result, and the column by which it is cut: leaves that are cut by two columns read different rows."""
        return node.name, self.positions[id(node)]

    def leaf(self, node: n.Events | n.Fluent | n.Fired) -> Result | None:
        """The rows or intervals of affected entities; an interval that the front cuts or touches is whole."""
        key = (leaf_name(node), self.positions[id(node)])
        found = self._cut.get(key)
        if found is None:
            kept = self._inputs.get(key[0])
            whole = self._shown.get(key[0])
            if kept is not None:
                column = kept.fields[key[1]].name
                found = self._cut[key] = after(kept.affected(self.space, column, self.front), self.floor)
                return found
            if whole is None:
                return None
            column = whole.fields[key[1]].name
            if isinstance(whole, Rows):
                found = whole.where(whole.time >= self.front[whole.column(column)])
            else:
                found = whole.where((whole.intervals.ends & self.space.timeline.mask)
                                    >= self.front[whole.codes(column)])
            if self.floors.get(node.name, 0) < self.floor:
                found = after(found, self.floor)
            self._cut[key] = found
        return found


def after(found: Result, floor: int) -> Result:
    """What happened from a time on, and the intervals that reach beyond it, whole."""
    if not floor:
        return found
    if isinstance(found, Rows):
        return found.where(found.time >= floor)
    return found.where((found.intervals.ends & found.space.timeline.mask) > floor)


class Late(Executor):
    """Reads only what happened from a time on, and whole intervals that reach beyond it."""

    def __init__(self, whole: Whole, floor: int, floors: Mapping[str, int], shown: Mapping[str, Result]) -> None:
        super().__init__(whole.space, {}, whole.tables, whole.ties, whole.functions)
        self.horizon = whole.horizon
        self._floor, self._floors, self._shown, self._inputs = floor, floors, shown, whole.inputs

    def leaf(self, node: n.Events | n.Fluent | n.Fired) -> Result | None:
        """The rows from the floor on; those of a cycle that is being settled, and what has that floor, are so."""
        if node.name in self.results:
            return super().leaf(node)
        kept = self._inputs.get(node.name)
        found = self._shown.get(leaf_name(node)) if kept is None else kept.rows(self.space)
        if found is None or self._floors.get(node.name, 0) >= self._floor:
            return found
        return after(found, self._floor)


class Early(Executor):
    """Reads only what happened or held from one time on, before an edge."""

    def __init__(self, whole: Executor, low: int, edge: int, shown: Mapping[str, Result],
                 tables: Mapping[str, Rows]) -> None:
        super().__init__(whole.space, {}, {**whole.tables, **tables}, whole.ties, whole.functions)
        self._low, self._edge, self._shown = low, edge, shown

    def leaf(self, node: n.Events | n.Fluent | n.Fired) -> Result | None:
        """The rows before the edge."""
        whole = self._shown.get(leaf_name(node))
        if whole is None:
            return None
        if isinstance(whole, Rows):
            return whole.where((whole.time >= self._low) & (whole.time < self._edge))
        timeline = self.space.timeline
        return Relation(self.space, whole.fields,
                        clip(whole.intervals, self._low, max(self._low, self._edge), timeline.shift, trusted=True))
