"""Curves in panels side by side, and stretches that are compared, as pictures of the package's own shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eventide.report.glyphs import width_of
from eventide.report.shapes import LINE, SOFT, Box, Picture, Point, Shape, Stroke, Words, colour_of

WIDTH, HEIGHT, GAP, EDGE = 260.0, 170.0, 52.0, 24.0
HEAD = 64.0  # title and names of the curves
DOT = 2.5
STEPS = tuple((fifth / 5, f"{fifth / 5:g}") for fifth in range(6))
Runs = Sequence[tuple[int, int]]
SAME, MORE, LESS = colour_of(2), colour_of(1), "#9aa5b1"
BAR = 16.0


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


def chart(panels: Sequence[Panel], title: str, along: str, columns: int,
          steps: Sequence[tuple[float, str]] = STEPS) -> Picture:
    """The panels in rows of so many; `along` is what they have on the axis to the right, `steps` what upwards: from the
    first to the last. All have the same curves."""
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
        picture.shapes += _panel(panel, left, top, along, steps)
    return picture


def _panel(panel: Panel, left: float, top: float, along: str, steps: Sequence[tuple[float, str]]) -> list[Shape]:
    bottom, peak = steps[0][0], steps[-1][0]
    xs = [x for curve in panel.curves for x, _ in curve.points]
    low, high = min(xs), max(xs)

    def at(x: float, y: float) -> Point:
        return left + (x - low) / (high - low or 1) * WIDTH, top + (peak - y) / (peak - bottom) * HEIGHT

    shapes: list[Shape] = [Words(left, top - 14, panel.title, face="bold")]
    for step, name in steps:
        y = at(low, step)[1]
        shapes += [Stroke(((left, y), (left + WIDTH, y)), LINE), Words(left - 6, y, name, SOFT, anchor="end")]
    for part in (0.0, 0.5, 1.0):
        x = low + part * (high - low)
        shapes.append(Words(at(x, bottom)[0], top + HEIGHT + 12, f"{x:g}", SOFT, anchor="middle"))
    shapes.append(Words(left + WIDTH / 2, top + HEIGHT + 28, along, SOFT, anchor="middle"))
    for number, curve in enumerate(panel.curves):
        places = tuple(at(x, y) for x, y in curve.points)
        shapes.append(Stroke(places, colour_of(number), 2))
        shapes += [Box(x - DOT, y - DOT, 2 * DOT, 2 * DOT, colour_of(number)) for x, y in places]
    return shapes


def compared(rows: Sequence[tuple[str, tuple[Runs, Runs, Runs]]], first: int, last: int, title: str) -> Picture:
    """One bar for each name: stretches that are right, too much, and missing, from `first` to `last`."""
    width, left = 2.6 * WIDTH, EDGE + 80
    picture = Picture(left + width + EDGE, HEAD + len(rows) * 2 * BAR + 3 * BAR, title)
    picture.shapes.append(Words(EDGE, 20, title, face="title"))
    x = EDGE
    for colour, name in ((SAME, "as PIEC"), (MORE, "PIEC has not"), (LESS, "only PIEC has")):
        picture.shapes += [Box(x, 42, 18, 8, colour), Words(x + 24, 46, name)]
        x += 24 + width_of(name) + 24

    def at(point: float) -> float:
        return left + (point - first) / (last - first or 1) * width

    for number, (name, kinds) in enumerate(rows):
        y = HEAD + number * 2 * BAR
        picture.shapes.append(Words(left - 8, y + BAR / 2, name, anchor="end"))
        for colour, runs in zip((SAME, MORE, LESS), kinds, strict=True):
            picture.shapes += [Box(at(start), y, at(end) - at(start), BAR, colour) for start, end in runs]
    y = HEAD + len(rows) * 2 * BAR
    picture.shapes.append(Stroke(((left, y), (left + width, y)), LINE))
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        point = first + part * (last - first)
        picture.shapes.append(Words(at(point), y + 12, f"{point:.0f}", SOFT, anchor="middle"))
    picture.shapes.append(Words(left + width / 2, y + 28, "frame of the pair", SOFT, anchor="middle"))
    return picture
