"""Curves in panels side by side, all from 0 to 1 upwards, as a picture of the package's own shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eventide.report.glyphs import width_of
from eventide.report.shapes import LINE, SOFT, Box, Picture, Point, Shape, Stroke, Words, colour_of

WIDTH, HEIGHT, GAP, EDGE = 260.0, 170.0, 52.0, 24.0
HEAD = 64.0  # title and names of the curves
DOT = 2.5
STEPS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Curve:
    """A name, and points from left to right."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Panel:
    """Curves over one axis."""

    title: str
    curves: Sequence[Curve]


def chart(panels: Sequence[Panel], title: str, along: str, columns: int) -> Picture:
    """The panels in rows of so many; `along` is what they have on the axis to the right. All have the same curves."""
    rows = -(-len(panels) // columns)
    picture = Picture(EDGE + columns * (WIDTH + GAP), HEAD + rows * (HEIGHT + 2 * GAP) - GAP + EDGE, title)
    picture.shapes.append(Words(EDGE, 20, title, face="title"))
    x = EDGE
    for number, curve in enumerate(panels[0].curves):
        picture.shapes += [Stroke(((x, 46), (x + 18, 46)), colour_of(number), 2), Words(x + 24, 46, curve.name)]
        x += 24 + width_of(curve.name) + 24
    for number, panel in enumerate(panels):
        left = EDGE + GAP / 2 + number % columns * (WIDTH + GAP)
        top = HEAD + GAP / 2 + number // columns * (HEIGHT + 2 * GAP)
        picture.shapes += _panel(panel, left, top, along)
    return picture


def _panel(panel: Panel, left: float, top: float, along: str) -> list[Shape]:
    xs = [x for curve in panel.curves for x, _ in curve.points]
    low, high = min(xs), max(xs)

    def at(x: float, y: float) -> Point:
        return left + (x - low) / (high - low or 1) * WIDTH, top + (1 - y) * HEIGHT

    shapes: list[Shape] = [Words(left, top - 14, panel.title, face="bold")]
    for step in STEPS:
        y = at(low, step)[1]
        shapes += [Stroke(((left, y), (left + WIDTH, y)), LINE), Words(left - 6, y, f"{step:g}", SOFT, anchor="end")]
    for part in (0.0, 0.5, 1.0):
        x = low + part * (high - low)
        shapes.append(Words(at(x, 0)[0], top + HEIGHT + 12, f"{x:g}", SOFT, anchor="middle"))
    shapes.append(Words(left + WIDTH / 2, top + HEIGHT + 28, along, SOFT, anchor="middle"))
    for number, curve in enumerate(panel.curves):
        places = tuple(at(x, y) for x, y in curve.points)
        shapes.append(Stroke(places, colour_of(number), 2))
        shapes += [Box(x - DOT, y - DOT, 2 * DOT, 2 * DOT, colour_of(number)) for x, y in places]
    return shapes
