"""Small pieces of HTML for notebooks: tables, timelines, changes, programs. No pages, no scripts, nothing fetched.

All text is escaped. Colours follow the notebook's own, so that light and dark ones are served alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from itertools import islice
from math import isfinite
from typing import Any

MOST_ROWS = 200
MOST_BARS = 30
MOST_DRAWN = 5_000
"""So many intervals are drawn in a picture."""
_LONGEST = 500  # characters of a cell
_LABEL, _WIDTH, _LINE = 260, 900, 18
_COLOURS = ("#4878a8", "#b5651d", "#4f8a5b", "#8a5a9e", "#a8484f", "#5f7f8f", "#8f8040", "#3f8f8a")
Bar = tuple[str, Any, Any]
"""A label, the start and the end of an interval; None is open."""


def table_html(names: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """A table.

    >>> table_html(["a"], [["<b>"], [None]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr><tr><td></td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    cells = (("" if value is None else escape(_cut(str(value))) for value in row) for row in rows)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
    told = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{told}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def rows_html(table: Any) -> str:
    """The first rows of an Arrow table."""
    more = f"{table.num_rows} rows, the first {MOST_ROWS} shown" if table.num_rows > MOST_ROWS else ""
    return table_html(table.column_names, (row.values() for row in table.slice(0, MOST_ROWS).to_pylist()), more)


def bars_of(rows: Iterable[Mapping[str, Any]]) -> list[Bar]:
    """Rows of a result as bars of a timeline: one label for each fluent with its arguments and value."""
    found = []
    for row in rows:
        args = f"({row['args'].replace('|', ', ')})" if row["args"] else ""
        value = f"={row['value']}" if row.get("value") and row["value"] != "true" else ""
        found.append((f"{row['fluent']}{args}{value}", row["start"], row["end"]))
    return found


def timeline_html(bars: Iterable[Bar], whole: int | None = None) -> str:
    """Intervals as bars over time, one line for each label; those that do not fit are counted below.

    `whole` is how many intervals there are, where `bars` are only the first of them.
    """
    lines: dict[str, list[tuple[float | None, float | None]]] = {}
    bars = iter(bars)
    drawn = list(islice(bars, MOST_DRAWN))
    whole = len(drawn) + sum(1 for _ in bars) if whole is None else whole
    for label, start, end in drawn:
        lines.setdefault(label, []).append((_number(start), _number(end)))
    known = [time for spans in lines.values() for span in spans for time in span if time is not None]
    if not known:
        return "<p>nothing was recognised</p>"
    first, last = min(known), max(known)
    told_last = last
    if any(end is None for spans in lines.values() for _, end in spans) or first == last:
        last += (last - first) / 20 or max(1.0, abs(last) / 1e9)  # room for what goes on
    scale = (_WIDTH - _LABEL - 10) / (last - first)
    kinds = list(dict.fromkeys(label.partition("(")[0].partition("=")[0] for label in lines))
    shown = list(lines.items())[:MOST_BARS]
    parts = []
    for number, (label, spans) in enumerate(shown):
        top = number * _LINE
        colour = _COLOURS[kinds.index(label.partition("(")[0].partition("=")[0]) % len(_COLOURS)]
        short = label if len(label) <= 38 else label[:37] + "…"
        parts.append(f'<text x="{_LABEL - 8}" y="{top + 13}" text-anchor="end">{escape(short)}'
                     f"<title>{escape(label)}</title></text>")
        for start, end in spans:
            left = _LABEL + ((first if start is None else start) - first) * scale
            right = _LABEL + ((last if end is None else end) - first) * scale
            told = f"{label} from {_time(start)} to {_time(end)}"
            pale = ' fill-opacity="0.55"' if start is None or end is None else ""
            size = f'width="{max(1.0, right - left):.1f}" height="{_LINE - 6}"'
            parts.append(f'<rect x="{left:.1f}" y="{top + 3}" {size} fill="{colour}"{pale}>'
                         f"<title>{escape(told)}</title></rect>")
    height = len(shown) * _LINE
    for time, anchor in ((first, "start"), (told_last, "end"))[: 1 + (told_last > first)]:
        place = _LABEL + (time - first) * scale
        parts.append(f'<text x="{place:.1f}" y="{height + 14}" text-anchor="{anchor}">{_time(time)}</text>')
    rest = len(lines) - len(shown)
    more = f"<p>and {rest:,} more line{'' if rest == 1 else 's'}</p>" if rest else ""
    if whole > len(drawn):
        cut = ", and not all their lines" if rest else ""
        more = f"<p>drawn from the first {len(drawn):,} of {whole:,} intervals{cut}</p>"
    return (f'<svg viewBox="0 0 {_WIDTH} {height + 20}" width="{_WIDTH}" style="max-width:100%;height:auto" '
            f'font-family="sans-serif" font-size="11" fill="currentColor" role="img">{"".join(parts)}</svg>{more}')


def folded_html(title: str, inner: str) -> str:
    """A piece that opens when its title is clicked."""
    return f"<details><summary>{escape(title)}</summary>{inner}</details>"


def changes_html(changes: Any) -> str:
    """What came and what went at a query time, and facts that were too late."""
    at = getattr(changes, "query_time", None)
    parts = [f"<p><b>changes{'' if at is None else f' at {escape(str(at))}'}</b>: {changes.added.num_rows:,} came, "
             f"{changes.removed.num_rows:,} went</p>"]
    names: list[str] = []
    rows: list[list[Any]] = []
    for sign, table in (("-", changes.removed), ("+", changes.added)):
        names = ["change", *table.column_names]
        rows += [[sign, *row.values()] for row in table.slice(0, MOST_ROWS // 2).to_pylist()]
    if rows:
        parts.append(table_html(names, rows))
    late = getattr(changes, "late", None)
    if late is not None and late.num_rows:
        parts.append(folded_html(f"{late.num_rows:,} facts were too late", rows_html(late)))
    return "".join(parts)


def program_html(title: str, names: Sequence[str], rows: Sequence[Sequence[Any]], problems: str) -> str:
    """A program: what it reads and derives, and what is wrong with it."""
    more = f"{len(rows):,} names, the first {MOST_ROWS} shown" if len(rows) > MOST_ROWS else ""
    return f"<p><b>{escape(title)}</b></p>{problems}{table_html(names, rows[:MOST_ROWS], more) if rows else ''}"


def _number(time: Any) -> float | None:
    """A time as a place on the line; None where it is open."""
    if time is None or time in ("-inf", "inf", ""):
        return None
    place = float(Fraction(time)) if isinstance(time, str) else float(time)
    return place if isfinite(place) else None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"


def _time(time: float | None) -> str:
    return "…" if time is None else str(int(time)) if time == int(time) else f"{time:.6g}"
