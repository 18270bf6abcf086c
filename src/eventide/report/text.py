"""A timeline for terminals: one line per row, one character per piece of time."""

from __future__ import annotations

import unicodedata

import numpy as np

from eventide.report.rows import grouped_rows
from eventide.report.situations import Codes, Situations
from eventide.report.times import Unit, marks, number_text, time_text

FULL, PART, NONE, OPEN = "█", "▒", "·", "▶"


def timeline_text(found: Situations, unit: Unit, width: int = 100, most: int = 60) -> str:
    """The timeline as lines of at most `width` characters, below them the marks of an axis.

    >>> import pyarrow as pa
    >>> from eventide.report.situations import read_situations
    >>> table = pa.table({"fluent": ["rich", "rich"], "args": ["ann", "bob"], "value": ["true", "true"],
    ...                   "start": [0, 8], "end": [10, None]})
    >>> print(timeline_text(read_situations(table), "number", width=31), end="")
    rich ann  ████████████████████·
    rich bob  ················████▶
              0         5         10
    2 intervals, 0 to 10
    """
    if not len(found):
        return "nothing was recognised\n"
    groups = grouped_rows(found, most, by_value=True)
    labels = [[_label(found, int(row[0])) for row in group.rows] for group in groups]
    room = min(max(_columns(text) for texts in labels for text in texts) + 2, max(12, width // 2))
    cells = max(10, width - room - 1)
    first, last = found.known()
    last = max(last, first + 1e-9)
    lines = []
    for group, texts in zip(groups, labels, strict=True):
        for row, text in zip(group.rows, texts, strict=True):
            lines.append(_padded(text, room) + _bar(found, row, first, last, cells))
        if group.left_out:
            lines.append(f"{group.name} and {group.left_out:,} more row{'' if group.left_out == 1 else 's'}")
    lines.append(" " * room + _axis(found, unit, first, last, cells))
    start, end = (time_text(time, found.origin, unit) for time in (first, found.known()[1]))
    lines.append(f"{len(found):,} interval{'' if len(found) == 1 else 's'}, {start} to {end}"
                 + ("" if unit == "number" else " UTC"))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _label(found: Situations, interval: int) -> str:
    value = found.value.names[found.value.codes[interval]]
    args = found.args.names[found.args.codes[interval]].replace("|", ",")
    name = found.fluent.names[found.fluent.codes[interval]]
    text = f"{name} {args}".strip() + (f"={value}" if value not in ("", "true") else "")
    # what a terminal would obey is shown instead
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
               for letter in text)


def _padded(text: str, room: int) -> str:
    if _columns(text) > room - 2:
        while _columns(text) > room - 3:
            text = text[:-1]
        text += "…"
    return text + " " * (room - _columns(text))


def _bar(found: Situations, row: Codes, first: float, last: float, cells: int) -> str:
    size = (last - first) / cells
    edges = first + size * np.arange(cells + 1)
    cover = np.zeros(cells)
    for interval in row:
        start, end = max(first, found.start[interval]), min(last, found.end[interval])
        inside = np.minimum(edges[1:], end) - np.maximum(edges[:-1], start)
        cover += np.clip(inside, 0, None) / size
        if end - start < size:  # too short for a cell of its own, but not to be seen
            cover[min(cells - 1, int((start - first) / size))] += 0.01
    text = "".join(FULL if share > 0.75 else PART if share > 0 else NONE for share in cover)
    return text + (OPEN if np.isinf(found.end[row]).any() else NONE)


def _axis(found: Situations, unit: Unit, first: float, last: float, cells: int) -> str:
    line = ""
    for at, text in marks(first, last, found.origin, unit, max(2, cells // 12)):
        place = round((at - first) / (last - first) * cells)
        if place >= len(line) + (1 if line else 0):
            line = line.ljust(place) + text
    return line or number_text(first, found.origin)
