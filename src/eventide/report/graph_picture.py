"""The dependency graph as shapes, for PNG; the SVG of `graph_svg` can be pointed at, this one is for paper."""

from __future__ import annotations

from itertools import pairwise
from math import hypot

from eventide.report.graph import COLOURS, Graph
from eventide.report.graph_svg import CYCLE, LEGEND, LINE, MARGIN
from eventide.report.layout import HEIGHT, ROW, Layout, laid_out
from eventide.report.shapes import SOFT, Box, Picture, Point, Stroke, Wedge, Words

EDGE = "#5b6676"
_PIECES = 14


def graph_picture(graph: Graph) -> Picture:
    """Boxes and arrows: inputs at the bottom, levels above, cycles in red."""
    layout = laid_out(graph)
    picture = Picture(max(layout.width + MARGIN, 720.0), layout.height + LEGEND, "dependency graph")
    _bands(picture, layout)
    for arrow in graph.arrows:
        _arrow(picture, layout, arrow, CYCLE if graph.inside_cycle(arrow) else LINE)
    for box in graph.boxes:
        width, x, y = layout.widths[box.name], layout.x[box.name] + MARGIN, layout.y(box.name)
        edge = CYCLE if box.cycle is not None else EDGE
        picture.shapes.append(Box(x - width / 2, y - HEIGHT / 2, width, HEIGHT, COLOURS[box.kind], 6, edge))
        label = box.label + (" ↻" if box.cycle is not None else "")
        picture.shapes.append(Words(x, y, label, anchor="middle"))
    at = 12.0
    for kind in dict.fromkeys(box.kind for box in graph.boxes):
        picture.shapes.append(Box(at, layout.height + 11, 14, 12, COLOURS[kind], 3, EDGE))
        picture.shapes.append(Words(at + 20, layout.height + 17, kind))
        at += 44 + len(kind) * 7.4
    return picture


def _bands(picture: Picture, layout: Layout) -> None:
    for level in dict.fromkeys(layout.levels):
        rows = [i for i, other in enumerate(layout.levels) if other == level]
        top, height = (len(layout.rows) - 1 - rows[-1]) * ROW, len(rows) * ROW
        if level % 2 == 0:
            picture.shapes.append(Box(0, top, picture.width, height, "#f7f8fa"))
        picture.shapes.append(Words(12, top + height / 2, f"level {level}" if level else "inputs", SOFT))


def _arrow(picture: Picture, layout: Layout, arrow: tuple[str, str], colour: str) -> None:
    source, target = arrow
    points = [(layout.x[item] + MARGIN, layout.y(item)) for item in layout.paths[arrow]]
    if layout.row_of[source] == layout.row_of[target]:
        (x0, y), (x1, _) = points[0], points[-1]
        y -= HEIGHT / 2
        side = 10 if x0 <= x1 else -10
        x0, x1 = (x0 + side, x1 - side) if x0 != x1 else (x0 - side, x1 + side)
        lift = min(44.0, 22.0 + abs(x1 - x0) / 30)
        line = _curve((x0, y), (x0, y - lift), (x1, y - lift), (x1, y - 2))
    else:
        half = HEIGHT / 2 if layout.row_of[source] < layout.row_of[target] else -HEIGHT / 2
        points[0] = (points[0][0], points[0][1] - half)
        points[-1] = (points[-1][0], points[-1][1] + half)
        line = [points[0]]
        for (x0, y0), (x1, y1) in pairwise(points):
            line += _curve((x0, y0), (x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2), (x1, y1))[1:]
    picture.shapes.append(Stroke(tuple(line), colour, 1.1))
    picture.shapes.append(_tip(line[-3], line[-1], colour))


def _curve(a: Point, b: Point, c: Point, d: Point) -> list[Point]:
    """Points of a cubic Bézier curve."""
    found = []
    for step in range(_PIECES + 1):
        t = step / _PIECES
        w = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        x, y = (sum(weight * point[axis] for weight, point in zip(w, (a, b, c, d), strict=True)) for axis in (0, 1))
        found.append((x, y))
    return found


def _tip(before: Point, end: Point, colour: str) -> Wedge:
    length = max(hypot(end[0] - before[0], end[1] - before[1]), 1e-9)
    dx, dy = (end[0] - before[0]) / length, (end[1] - before[1]) / length
    back = (end[0] - 7 * dx, end[1] - 7 * dy)
    return Wedge((end, (back[0] - 3.5 * dy, back[1] + 3.5 * dx), (back[0] + 3.5 * dy, back[1] - 3.5 * dx)), colour)
