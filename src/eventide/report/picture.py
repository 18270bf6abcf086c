"""A timeline as a picture for papers: rows by fluent, bars, an axis of times."""

from __future__ import annotations

import numpy as np

from eventide.report.glyphs import shortened, width_of
from eventide.report.rows import Group, grouped_rows, label_of
from eventide.report.shapes import LINE, PAPER, SOFT, Box, Picture, Stroke, Wedge, Words, colour_of
from eventide.report.situations import Situations
from eventide.report.times import Unit, marks, time_text

ROW, HEAD, TITLE, AXIS, MARGIN = 17.0, 22.0, 30.0, 22.0, 14.0
WIDEST_LABEL = 240.0


def timeline_picture(found: Situations, unit: Unit, title: str = "", width: float = 960.0, most: int = 60) -> Picture:
    """The timeline of at most so many rows."""
    groups = grouped_rows(found, most)
    texts = [label_of(found, int(row[0])) for group in groups for row in group.rows]
    wanted = max([width_of(text) + 12 for text in texts] + [width_of(g.name, "bold") + 14 for g in groups], default=80)
    left = MARGIN + min(WIDEST_LABEL, wanted) + 10
    top = MARGIN + (TITLE if title else 0.0)
    lines = sum(HEAD + ROW * (len(group.rows) + bool(group.left_out)) for group in groups) or 2 * ROW
    bottom = top + AXIS + lines + 4
    first, last = found.known()
    plot = _Plot(left, width - MARGIN - 8, first, max(last, first + 1e-9))
    picture = Picture(width, bottom + MARGIN + 18, f"Timeline of {len(found)} intervals")
    if title:
        picture.shapes.append(Words(MARGIN, MARGIN + 9, shortened(title, width - 2 * MARGIN, "title"), face="title"))
    _axis(picture, plot, found.origin, unit, top, bottom)
    y = top + AXIS
    for group in groups:
        y = _group(picture, plot, found, group, y)
    if not groups:
        picture.shapes.append(Words(left, y + ROW, "Nothing was recognised.", SOFT))
    picture.shapes.append(Words(MARGIN, bottom + 15, _foot(found, groups, unit), SOFT))
    return picture


class _Plot:
    """Where times lie."""

    def __init__(self, left: float, right: float, first: float, last: float) -> None:
        self.left, self.right, self.first, self.last = left, right, first, last

    def x(self, time: float) -> float:
        inside = min(max(time, self.first), self.last)
        return self.left + (inside - self.first) / (self.last - self.first) * (self.right - self.left)


def _axis(picture: Picture, plot: _Plot, origin: int, unit: Unit, top: float, bottom: float) -> None:
    for at, text in marks(plot.first, plot.last, origin, unit, int((plot.right - plot.left) / 100)):
        x, half = plot.x(at), width_of(text) / 2
        picture.shapes.append(Stroke(((x, top + 15), (x, bottom)), LINE))
        middle = min(max(x, plot.left + half), picture.width - half - 4)
        picture.shapes.append(Words(middle, top + 6, text, SOFT, anchor="middle"))


def _group(picture: Picture, plot: _Plot, found: Situations, group: Group, y: float) -> float:
    colour = colour_of(group.fluent)
    picture.shapes.append(Stroke(((MARGIN, y + 2), (picture.width - MARGIN, y + 2)), LINE))
    picture.shapes.append(Box(MARGIN, y + 9, 8, 8, colour, 2))
    name = shortened(group.name, plot.left - MARGIN - 24, "bold")
    picture.shapes.append(Words(MARGIN + 14, y + 13, name, face="bold"))
    y += HEAD
    for row in group.rows:
        label = shortened(label_of(found, int(row[0])), plot.left - MARGIN - 22)
        picture.shapes.append(Words(MARGIN + 14, y + ROW / 2, label))
        for interval in row:
            _bar(picture, plot, found, int(interval), y, colour)
        y += ROW
    if group.left_out:
        more = f"and {group.left_out:,} more row{'' if group.left_out == 1 else 's'}"
        picture.shapes.append(Words(MARGIN + 14, y + ROW / 2, more, SOFT))
        y += ROW
    return y


def _bar(picture: Picture, plot: _Plot, found: Situations, interval: int, y: float, colour: str) -> None:
    a, b = plot.x(float(found.start[interval])), plot.x(float(found.end[interval]))
    width = max(1.5, b - a)
    picture.shapes.append(Box(a, y + 2.5, width, ROW - 5, colour, 2 if width > 5 else 0))
    if np.isinf(found.end[interval]):
        tip = ((b, y + 2.5), (b + 6, y + ROW / 2), (b, y + ROW - 2.5))
        picture.shapes.append(Wedge(tip, colour))
    value = found.value.names[found.value.codes[interval]]
    if value not in ("", "true") and width > 24:
        text = shortened(value, width - 8)
        picture.shapes.append(Words(a + 4, y + ROW / 2, text, PAPER))


def _foot(found: Situations, groups: list[Group], unit: Unit) -> str:
    first, last = (time_text(time, found.origin, unit) for time in found.known())
    zone = "" if unit == "number" else " UTC"
    still_open = int(np.isinf(found.end).sum())
    arrow = f"; {still_open:,} still open (with a tip)" if still_open else ""
    return f"{len(found):,} intervals, {first} to {last}{zone}{arrow}" if groups else ""
