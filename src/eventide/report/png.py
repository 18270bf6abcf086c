"""Pictures as PNG, without a graphics library: shapes are painted by their distance to each pixel.

A library that draws text and shapes would be the largest dependency of all for the smallest feature; boxes, lines and
letters from a table need a page of NumPy.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from eventide.report.glyphs import SCALE, glyphs, width_of
from eventide.report.shapes import SIZES, Box, Picture, Point, Shape, Stroke, Wedge, Words

Grid: TypeAlias = npt.NDArray[Any]  # floats: pixels, or places of pixels


def to_png(picture: Picture) -> bytes:
    """The picture as bytes, two pixels per unit.

    >>> to_png(Picture(10, 10, "nothing"))[1:4]
    b'PNG'
    """
    paper = np.full((round(picture.height * SCALE), round(picture.width * SCALE), 3), 255, np.float32)
    for shape in picture.shapes:
        _paint(paper, shape)
    return _file(np.rint(paper).astype(np.uint8))


def _paint(paper: Grid, shape: Shape) -> None:
    match shape:
        case Box(x, y, width, height, fill, radius, edge):
            if edge:
                _rounded(paper, x - 0.5, y - 0.5, width + 1, height + 1, radius + 0.5, edge)
                _rounded(paper, x + 0.5, y + 0.5, width - 1, height - 1, max(0.0, radius - 0.5), fill)
            else:
                _rounded(paper, x, y, width, height, radius, fill)
        case Stroke(points, colour, width):
            for a, b in pairwise(points):
                _segment(paper, a, b, width, colour)
        case Wedge(points, fill):
            _wedge(paper, points, fill)
        case Words():
            _words(paper, shape)


def _blend(paper: Grid, bounds: tuple[float, float, float, float], colour: str,
           distance: Callable[[Grid, Grid], Grid]) -> None:
    """Paint the pixels within bounds whose (signed) distance from the shape is negative; its edge is soft."""
    left, top = max(0, int(bounds[0]) - 2), max(0, int(bounds[1]) - 2)
    right, bottom = min(paper.shape[1], int(bounds[2]) + 3), min(paper.shape[0], int(bounds[3]) + 3)
    if left >= right or top >= bottom:
        return
    x = np.arange(left, right, dtype=np.float32)[None, :] + 0.5
    y = np.arange(top, bottom, dtype=np.float32)[:, None] + 0.5
    cover = np.clip(0.5 - distance(x, y), 0, 1)[:, :, None]
    part = paper[top:bottom, left:right]
    part += cover * (_rgb(colour) - part)


def _rounded(paper: Grid, x: float, y: float, width: float, height: float, radius: float, colour: str) -> None:
    x, y, width, height, radius = (value * SCALE for value in (x, y, width, height, radius))
    radius = min(radius, width / 2, height / 2)

    def distance(px: Grid, py: Grid) -> Grid:
        dx = np.abs(px - (x + width / 2)) - (width / 2 - radius)
        dy = np.abs(py - (y + height / 2)) - (height / 2 - radius)
        outside = np.hypot(np.maximum(dx, 0), np.maximum(dy, 0))
        return np.asarray(outside + np.minimum(np.maximum(dx, dy), 0) - radius)

    _blend(paper, (x, y, x + width, y + height), colour, distance)


def _segment(paper: Grid, a: Point, b: Point, width: float, colour: str) -> None:
    ax, ay, bx, by = (value * SCALE for value in (*a, *b))
    length = max((bx - ax) ** 2 + (by - ay) ** 2, 1e-9)

    def distance(px: Grid, py: Grid) -> Grid:
        along = np.clip(((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length, 0, 1)
        return np.hypot(px - ax - along * (bx - ax), py - ay - along * (by - ay)) - width * SCALE / 2

    bounds = (min(ax, bx) - width, min(ay, by) - width, max(ax, bx) + width, max(ay, by) + width)
    _blend(paper, bounds, colour, distance)


def _wedge(paper: Grid, points: tuple[Point, ...], colour: str) -> None:
    scaled = [(x * SCALE, y * SCALE) for x, y in points]
    edges = [*pairwise(scaled), (scaled[-1], scaled[0])]
    area = sum(ax * by - bx * ay for (ax, ay), (bx, by) in edges)
    turn = 1.0 if area > 0 else -1.0

    def distance(px: Grid, py: Grid) -> Grid:
        sides = [turn * ((py - ay) * (bx - ax) - (px - ax) * (by - ay)) / max(np.hypot(bx - ax, by - ay), 1e-9)
                 for (ax, ay), (bx, by) in edges]
        return np.asarray(-np.minimum.reduce(sides))

    xs, ys = zip(*scaled, strict=True)
    _blend(paper, (min(xs), min(ys), max(xs), max(ys)), colour, distance)


def _words(paper: Grid, words: Words) -> None:
    width = width_of(words.text, words.face)
    start = words.x - {"start": 0.0, "middle": width / 2, "end": width}[words.anchor]
    pen, base = start * SCALE, round((words.y + SIZES[words.face] * 0.36) * SCALE)
    for glyph in glyphs(words.text, words.face):
        left, top = round(pen) + glyph.left, base + glyph.top
        y0, x0 = max(0, -top), max(0, -left)
        ink = glyph.ink[y0:, x0:]
        part = paper[top + y0 : top + y0 + ink.shape[0], left + x0 : left + x0 + ink.shape[1]]
        cover = ink[: part.shape[0], : part.shape[1], None].astype(np.float32) / 255
        part += cover * (_rgb(words.colour) - part)
        pen += glyph.advance


def _rgb(colour: str) -> Grid:
    return np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)], np.float32)


def _file(pixels: npt.NDArray[np.uint8]) -> bytes:
    height, width, _ = pixels.shape
    lines = np.zeros((height, 1 + width * 3), np.uint8)  # each line begins with its filter: none
    lines[:, 1:] = pixels.reshape(height, -1)
    density = struct.pack(">IIB", 7559, 7559, 1)  # pixels per metre: 192 per inch
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"pHYs", density), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts)
