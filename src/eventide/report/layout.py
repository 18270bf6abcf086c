"""Where the boxes of a layered graph stand: rows from bottom to top, few crossings, no overlaps.

The method of Sugiyama, Tagawa and Toda (1981) in its simple form: arrows over several rows get a stop in each row
between, rows are ordered by the mean of their neighbours, and the order is kept while boxes move towards them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import pairwise

from eventide.report.graph import Graph

CHARACTER, PADDING, HEIGHT = 7.4, 22.0, 28.0
GAP, STOP, ROW, WIDEST = 18.0, 10.0, 74.0, 1500.0
SWEEPS = 12


@dataclass
class Layout:
    """Centres of boxes and stops (an arrow and a row) by name, their widths, and the row of each."""

    rows: list[list[Hashable]] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    row_of: dict[Hashable, int] = field(default_factory=dict)
    widths: dict[Hashable, float] = field(default_factory=dict)
    x: dict[Hashable, float] = field(default_factory=dict)
    paths: dict[tuple[str, str], list[Hashable]] = field(default_factory=dict)

    def y(self, item: Hashable) -> float:
        """The height of a centre, counted from the top."""
        return (len(self.rows) - 1 - self.row_of[item]) * ROW + ROW / 2

    @property
    def width(self) -> float:
        """How wide the picture is."""
        return max((self.x[i] + self.widths[i] / 2 for i in self.x), default=0.0) + GAP

    @property
    def height(self) -> float:
        """How high the picture is."""
        return len(self.rows) * ROW


def laid_out(graph: Graph) -> Layout:
    """The layout of a graph."""
    layout = Layout(widths={box.name: len(box.label + " ↻" * (box.cycle is not None)) * CHARACTER + PADDING
                            for box in graph.boxes})
    _assign_rows(graph, layout)
    neighbours = _stops(graph, layout)
    for sweep in range(SWEEPS):
        order = layout.rows if sweep % 2 == 0 else layout.rows[::-1]
        place = {item: i / max(1, len(row) - 1) for row in layout.rows for i, item in enumerate(row)}
        for row in order:
            row.sort(key=lambda item: _mean([place[n] for n in neighbours.get(item, ())], place[item]))
            place.update({item: i / max(1, len(row) - 1) for i, item in enumerate(row)})
    _place(layout, neighbours)
    return layout


def _mean(numbers: list[float], otherwise: float) -> float:
    return sum(numbers) / len(numbers) if numbers else otherwise


def _assign_rows(graph: Graph, layout: Layout) -> None:
    """One row per level, several where a level is too wide."""
    targets: dict[str, list[str]] = {}
    for source, target in graph.arrows:
        targets.setdefault(source, []).append(target)
    position = {box.name: i for i, box in enumerate(graph.boxes)}
    for level in sorted({box.level for box in graph.boxes}):
        names = [box.name for box in graph.boxes if box.level == level]
        names.sort(key=lambda name: _mean([position[t] for t in targets.get(name, ())], position[name]))
        count = max(1, round(sum(layout.widths[n] + GAP for n in names) / WIDEST + 0.4))
        for part in range(count):
            row: list[Hashable] = list(names[part::count])
            if row:
                layout.row_of.update(dict.fromkeys(row, len(layout.rows)))
                layout.rows.append(row)
                layout.levels.append(level)


def _stops(graph: Graph, layout: Layout) -> dict[Hashable, list[Hashable]]:
    """Give arrows that pass rows a stop in each of them; returns who is next to whom."""
    neighbours: dict[Hashable, list[Hashable]] = {}
    for source, target in graph.arrows:
        low, high = layout.row_of[source], layout.row_of[target]
        path: list[Hashable] = [source]
        for row in range(low + 1, high) if low < high else range(low - 1, high, -1):
            stop = (source, target, row)
            layout.widths[stop] = STOP
            layout.row_of[stop] = row
            layout.rows[row].append(stop)
            path.append(stop)
        path.append(target)
        layout.paths[source, target] = path
        for a, b in pairwise(path):
            if layout.row_of[a] != layout.row_of[b]:
                neighbours.setdefault(a, []).append(b)
                neighbours.setdefault(b, []).append(a)
    return neighbours


def _place(layout: Layout, neighbours: dict[Hashable, list[Hashable]]) -> None:
    """Horizontal places: packed first, then each row moves towards its neighbours as far as its order allows."""
    widest = max((sum(layout.widths[i] + GAP for i in row) for row in layout.rows), default=0.0)
    for row in layout.rows:
        at = (widest - sum(layout.widths[i] + GAP for i in row)) / 2 + GAP
        for item in row:
            layout.x[item] = at + layout.widths[item] / 2
            at += layout.widths[item] + GAP
    for sweep in range(SWEEPS):
        for row in layout.rows if sweep % 2 == 0 else layout.rows[::-1]:
            wanted = [_mean([layout.x[n] for n in neighbours.get(item, ())], layout.x[item]) for item in row]
            _settle(layout, row, wanted)
    left = min((layout.x[i] - layout.widths[i] / 2 for i in layout.x), default=0.0) - GAP
    for item in layout.x:
        layout.x[item] -= left


def _settle(layout: Layout, row: list[Hashable], wanted: list[float]) -> None:
    """The places nearest to the wanted ones that keep order and distance: blocks of touching items share a shift
    (the pool-adjacent-violators method)."""
    blocks: list[tuple[float, int]] = []  # mean of wanted place minus offset, number of items
    offsets: list[float] = []
    offset = 0.0
    for i, item in enumerate(row):
        if i:
            offset += (layout.widths[row[i - 1]] + layout.widths[item]) / 2 + GAP
        offsets.append(offset)
        blocks.append((wanted[i] - offset, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (b, m), (a, n) = blocks.pop(), blocks.pop()
            blocks.append(((a * n + b * m) / (n + m), n + m))
    shifts = [shift for shift, number in blocks for _ in range(number)]
    for item, shift, offset in zip(row, shifts, offsets, strict=True):
        layout.x[item] = shift + offset
