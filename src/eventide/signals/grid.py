"""An index of shapes by the cells of a grid: which places are in which shapes. Knows no names and no vessels.

A cell lies inside a shape, outside it, or on its border. Only places in border cells need an exact test, which shapely
does for all places of a shape at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from eventide.kernels.spatial import candidates
from eventide.signals.positions import Floats, Ints

CELLS = 1_000_000
"""About how many cells a grid has at most."""
SMALLEST = 0.002
"""The smallest side of a cell, in degrees."""
_START = 256  # cells on a side of the blocks that are looked at first


@dataclass(frozen=True, eq=False)
class Grid:
    """Shapes, and for every cell the shapes that it meets: twice the shape's number, plus one if it is all inside."""

    shapes: npt.NDArray[Any]
    west: float
    south: float
    size: float
    columns: int
    rows: int
    lists: npt.NDArray[np.int32]
    offsets: Ints
    entries: Ints

    @staticmethod
    def of(shapes: Sequence[Any]) -> Grid:
        """The index of polygons, in degrees."""
        array = np.array([*shapes, None], object)[:-1]
        west, south, east, north = shapely.total_bounds(array) if len(array) else (0.0, 0.0, 0.0, 0.0)
        size = max(SMALLEST, float(np.sqrt(max(east - west, SMALLEST) * max(north - south, SMALLEST) / CELLS)))
        west, south = float(west) - size, float(south) - size
        columns, rows = int((east - west) / size) + 2, int((north - south) / size) + 2
        found = [_cells_of(shape, west, south, size, columns) for shape in array]
        cells = np.concatenate([np.zeros(0, np.int64), *(cell for cell, _ in found)])
        entries = np.concatenate([np.zeros(0, np.int64), *(2 * k + sure for k, (_, sure) in enumerate(found))])
        order = np.lexsort((entries, cells))
        used, counts = np.unique(cells, return_counts=True)
        lists = np.zeros(columns * rows, np.int32)
        lists[used] = np.arange(1, len(used) + 1)
        offsets = np.concatenate([np.zeros(1, np.int64), counts.cumsum()])
        return Grid(array, west, south, size, columns, rows, lists, offsets, entries[order])

    def locate(self, lon: Floats, lat: Floats) -> tuple[Ints, Ints]:
        """Which places are in which shapes: rows and numbers of shapes, sorted by both. The border is inside.

        >>> Grid.of([shapely.box(0, 0, 2, 2), shapely.box(1, 1, 3, 3)]).locate(np.array([9, 1.5]), np.array([9, 2.0]))
        (array([1, 1]), array([0, 1]))
        """
        grid = (self.west, self.south, self.size, self.columns, self.rows)
        row, entry = candidates(lon, lat, grid, self.lists, self.offsets, self.entries)
        shape, inside = entry >> 1, (entry & 1).astype(np.bool_)
        unsure = np.flatnonzero(~inside)
        unsure = unsure[np.argsort(shape[unsure], kind="stable")]
        for part in np.split(unsure, np.flatnonzero(np.diff(shape[unsure])) + 1):
            if len(part):
                polygon = self.shapes[shape[part[0]]]
                shapely.prepare(polygon)
                inside[part] = shapely.intersects_xy(polygon, lon[row[part]], lat[row[part]])
        return row[inside], shape[inside]


def _cells_of(shape: Any, west: float, south: float, size: float, columns: int) -> tuple[Ints, Ints]:
    """The cells that a shape meets, and for each whether it is all inside (1 or 0)."""
    cells, sure = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for x, y, inside in _blocks(shape, west, south, size):
        cells.append(y * columns + x)
        sure.append(np.full(len(x), int(inside)))
    return np.concatenate(cells), np.concatenate(sure)


def _blocks(shape: Any, west: float, south: float, size: float) -> Iterator[tuple[Ints, Ints, bool]]:
    """Columns and rows of cells inside a shape, and of cells on its border: blocks of cells are quartered as needed."""
    if shapely.is_empty(shape):
        return
    shapely.prepare(shape)
    bounds = shapely.bounds(shape)
    low = ((bounds[:2] - (west, south)) / size).astype(np.int64)
    high = ((bounds[2:] - (west, south)) / size).astype(np.int64) + 1
    side = _START
    x, y = (grid.ravel() for grid in np.meshgrid(*(np.arange(low[k], high[k], side) for k in (0, 1))))
    while len(x):
        box = shapely.box(west + x * size, south + y * size, west + (x + side) * size, south + (y + side) * size)
        meets = shapely.intersects(shape, box)
        x, y, box = x[meets], y[meets], box[meets]
        inside = shapely.contains_properly(shape, box)
        across, up = (offset.ravel() for offset in np.meshgrid(np.arange(side), np.arange(side)))
        yield np.add.outer(x[inside], across).ravel(), np.add.outer(y[inside], up).ravel(), True
        x, y = x[~inside], y[~inside]
        if side == 1:
            yield x, y, False
            return
        side //= 2
        x = np.concatenate([x, x + side, x, x + side])
        y = np.concatenate([y, y, y + side, y + side])
        kept = (x < high[0]) & (y < high[1])
        x, y = x[kept], y[kept]
