"""A tiny world for tests of operators: rows, points and intervals as plain tuples in and out.

>>> world = World()
>>> walks = world.points("X", [("ann", 3), ("bob", 5)])
>>> world.run(n.Equal(walks, "X", Atom("bob")))
[('bob', 5)]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eventide.algebra import nodes as n
from eventide.engine.domains import Domain
from eventide.engine.executor import Executor
from eventide.engine.relation import Relation, Rows, Space, Timeline, from_unsorted, pack_with
from eventide.syntax.terms import Atom, Number, Term

Data = Sequence[tuple[Any, ...]]


def fields(text: str) -> n.Fields:
    """`X Y:colour N:number`: names with their types; a name alone is of the type `thing`."""
    pairs = (part.partition(":") for part in text.split())
    return tuple(n.Field(name, type_ or "thing") for name, _, type_ in pairs)


def term(value: int | float | str) -> Term:
    return Atom(value) if isinstance(value, str) else Number(value)


class World:
    """Leaves of plans with their data, and a run of a plan on them."""

    def __init__(self, *, tick: int = 1, start: int = 0, until: int = 50, initially_at: int = 0,
                 ties: str = "termination", spare: int = 2) -> None:
        self.domains = {"thing": Domain("thing"), "value": Domain("value")}
        self.timeline = Timeline.covering(-20, 80, tick=tick, start=start, until=until, initially_at=initially_at)
        self.ties = ties
        self.spare = spare
        self.leaves: dict[str, tuple[n.Fields, Data, str]] = {}

    def _leaf(self, text: str, data: Data, sort: str) -> tuple[str, n.Fields]:
        name = f"leaf{len(self.leaves)}"
        self.leaves[name] = (fields(text), data, sort)
        for position, field in enumerate(fields(text)):
            if field.type not in (n.NUMBER, n.UNUSED):
                self.domains.setdefault(field.type, Domain(field.type)).codes(row[position] for row in data)
        return name, fields(text)

    def rows(self, text: str, data: Data) -> n.Node:
        """Facts without time."""
        return n.Table(*self._leaf(text, data, "rows"))

    def points(self, text: str, data: Data) -> n.Node:
        """Facts with a time-point as last element."""
        return n.Events(*self._leaf(text, data, "points"))

    def intervals(self, text: str, data: Data) -> n.Node:
        """Facts with a start and an end (None: open) as last elements."""
        return n.Fluent(*self._leaf(text, data, "intervals"))

    @property
    def space(self) -> Space:
        """The layout of all values known now, times from -20 to 80."""
        for domain in self.domains.values():
            domain.fix(self.spare)
        return Space(self.domains, self.timeline)

    def build(self, space: Space, name: str) -> Rows | Relation:
        """The table behind a leaf."""
        shape, data, sort = self.leaves[name]
        columns: dict[str, Any] = {}
        for position, field in enumerate(shape):
            cells = [row[position] for row in data]
            if field.type == n.NUMBER:
                columns[field.name] = np.array(cells) if cells else np.empty(0, np.int64)
            elif field.type != n.UNUSED:
                columns[field.name] = self.domains[field.type].codes(cells)
        timeline = space.timeline
        if sort == "intervals":
            rows = Rows(shape, columns, len(data), timed=False)
            starts = np.array([timeline.inside(row[-2]) for row in data], np.int64)
            ends = np.array([timeline.mask if row[-1] is None else timeline.inside(row[-1]) for row in data], np.int64)
            return from_unsorted(space, shape, pack_with(space, rows, shape, starts),
                                 pack_with(space, rows, shape, ends))
        if sort == "points":
            columns[n.TIME] = np.array([timeline.inside(row[-1]) for row in data], np.int64)
        return Rows(shape, columns, len(data), timed=sort == "points")

    def executor(self) -> Executor:
        """An executor that knows all leaves."""
        space = self.space
        tables = {name: self.build(space, name) for name in self.leaves}
        return Executor(space, tables, tables, ties=self.ties)  # type: ignore[arg-type]

    def run(self, node: n.Node) -> list[tuple[Any, ...]]:
        """What a plan gives, sorted."""
        return self.shown(self.executor().evaluate(node))

    def shown(self, result: Rows | Relation) -> list[tuple[Any, ...]]:
        """A result as tuples: values, then the time, or start and end."""
        timeline = self.timeline
        if isinstance(result, Relation):
            ends = (result.intervals.ends & timeline.mask).tolist()
            times = [[t + timeline.origin for t in (result.intervals.starts & timeline.mask).tolist()],
                     [None if t == timeline.mask else t + timeline.origin for t in ends]]
            rows = result.rows()
        else:
            rows, times = result, [(result.time + timeline.origin).tolist()] if result.timed else []
        columns = []
        for field in result.fields:
            if field.type != n.UNUSED:
                cells = rows.column(field.name).tolist()
                known = self.domains.get(field.type)
                columns.append(cells if known is None else [known.values[cell] for cell in cells])
        shown = list(zip(*columns, *times, strict=True)) if columns or times else [()] * rows.length
        return sorted(shown, key=lambda row: [(v is None, isinstance(v, str), v or 0) for v in row])
