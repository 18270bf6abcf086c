"""The dependency graph as a picture (SVG) and as one self-contained page (HTML)."""

from __future__ import annotations

from html import escape
from itertools import pairwise

from eventide.report.graph import COLOURS, Box, Graph
from eventide.report.layout import HEIGHT, ROW, Layout, laid_out

MARGIN, LEGEND = 86.0, 34.0
LINE, CYCLE = "#8a94a6", "#c0392b"
STYLE = (
    "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2733}"
    f".arrow{{fill:none;stroke:{LINE};stroke-width:1.1;marker-end:url(#tip)}}"
    f".arrow.cycle{{stroke:{CYCLE};stroke-width:1.6;stroke-dasharray:5 3;marker-end:url(#red)}}"
    ".box rect{stroke:#5b6676;stroke-width:1}"
    f".box.cycle rect{{stroke:{CYCLE};stroke-width:2}}"
    ".level{fill:#5b6676}"
)
SCRIPT = """
const svg = document.querySelector('svg');
for (const box of svg.querySelectorAll('.box')) {
  box.addEventListener('mouseenter', () => {
    const near = new Set([box.id]);
    for (const a of svg.querySelectorAll('.arrow')) {
      const on = a.dataset.from === box.id || a.dataset.to === box.id;
      a.style.opacity = on ? 1 : 0.08;
      if (on) { near.add(a.dataset.from); near.add(a.dataset.to); }
    }
    for (const b of svg.querySelectorAll('.box')) b.style.opacity = near.has(b.id) ? 1 : 0.25;
  });
  box.addEventListener('mouseleave', () => {
    for (const e of svg.querySelectorAll('.arrow, .box')) e.style.opacity = 1;
  });
}
"""


def to_svg(graph: Graph) -> str:
    """The graph as a picture: inputs at the bottom, levels above, cycles in red."""
    layout = laid_out(graph)
    ids = {box.name: f"b{number}" for number, box in enumerate(graph.boxes)}
    width = max(layout.width + MARGIN, 720.0)
    height = layout.height + LEGEND
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="dependency graph">',
        f"<style>{STYLE}</style>",
        f"<defs>{_tip('tip', LINE)}{_tip('red', CYCLE)}</defs>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>',
        *_bands(layout, width),
        *(_arrow(graph, layout, arrow, ids) for arrow in graph.arrows),
        *(_box(layout, box, ids[box.name]) for box in graph.boxes),
        *_legend(graph, layout.height),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def to_html(graph: Graph, title: str) -> str:
    """The picture in a page of its own, where pointing at a box shows what it is connected to, with a table below."""
    sources: dict[str, list[str]] = {}
    labels = {box.name: box.label for box in graph.boxes}
    for source, target in graph.arrows:
        sources.setdefault(target, []).append(labels[source])
    rows = "\n".join(
        f"<tr><td>{box.level or 'input'}</td><td><code>{escape(box.label)}</code></td><td>{box.kind}</td>"
        f"<td>{box.cycle or ''}</td><td>{escape(', '.join(sources.get(box.name, [])))}</td></tr>"
        for box in sorted(graph.boxes, key=lambda box: -box.level))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        "<style>body{font:14px system-ui,sans-serif;margin:24px;color:#1f2733}figure{overflow:auto;margin:0 0 24px;"
        "border:1px solid #d8dde5}td,th{padding:3px 14px 3px 0;text-align:left;vertical-align:top}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n<figure>{to_svg(graph)}</figure>\n"
        "<table><thead><tr><th>level</th><th>name</th><th>kind</th><th>cycle</th><th>computed from</th></tr></thead>\n"
        f"<tbody>{rows}</tbody></table>\n<script>{SCRIPT}</script></body></html>\n")


def _tip(name: str, colour: str) -> str:
    return (f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>')


def _bands(layout: Layout, width: float) -> list[str]:
    """A stripe for every second level, and the levels' names at the left."""
    found: list[str] = []
    for level in dict.fromkeys(layout.levels):
        rows = [i for i, other in enumerate(layout.levels) if other == level]
        top = (len(layout.rows) - 1 - rows[-1]) * ROW
        if level % 2 == 0:
            found.append(f'<rect y="{top:.0f}" width="{width:.0f}" height="{len(rows) * ROW:.0f}" fill="#f7f8fa"/>')
        name = f"level {level}" if level else "inputs"
        found.append(f'<text class="level" x="12" y="{top + len(rows) * ROW / 2 + 4:.1f}">{name}</text>')
    return found


def _arrow(graph: Graph, layout: Layout, arrow: tuple[str, str], ids: dict[str, str]) -> str:
    path = layout.paths[arrow]
    kind = "arrow cycle" if graph.inside_cycle(arrow) else "arrow"
    source, target = arrow
    if layout.row_of[source] == layout.row_of[target]:
        line = _arc(layout, source, target)
    else:
        up = layout.row_of[source] < layout.row_of[target]
        points = [(layout.x[item] + MARGIN, layout.y(item)) for item in path]
        half = HEIGHT / 2 if up else -HEIGHT / 2
        points[0] = (points[0][0], points[0][1] - half)
        points[-1] = (points[-1][0], points[-1][1] + half + (2 if up else -2))
        line = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
        for (x0, y0), (x1, y1) in pairwise(points):
            middle = (y0 + y1) / 2
            line += f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
    return f'<path class="{kind}" data-from="{ids[source]}" data-to="{ids[target]}" d="{line}"/>'


def _arc(layout: Layout, source: str, target: str) -> str:
    """A bow above a row, from one box to another or back to the same."""
    y = layout.y(source) - HEIGHT / 2
    x0, x1 = layout.x[source] + MARGIN, layout.x[target] + MARGIN
    side = 10 if x0 <= x1 else -10  # a pair of arrows there and back does not lie on one line
    x0, x1 = x0 + (side if x0 != x1 else -side), x1 - (side if x0 != x1 else -side)
    lift = min(44.0, 22.0 + abs(x1 - x0) / 30)
    return f"M{x0:.1f} {y:.1f}C{x0:.1f} {y - lift:.1f} {x1:.1f} {y - lift:.1f} {x1:.1f} {y - 2:.1f}"


def _box(layout: Layout, box: Box, name: str) -> str:
    width = layout.widths[box.name]
    x, y = layout.x[box.name] + MARGIN, layout.y(box.name)
    kind = "box cycle" if box.cycle is not None else "box"
    label = escape(box.label) + (" ↻" if box.cycle is not None else "")
    cycle = f", part of cycle {box.cycle}" if box.cycle is not None else ""
    return (f'<g class="{kind}" id="{name}"><title>{escape(box.label)}: {box.kind}{cycle}</title>'
            f'<rect x="{x - width / 2:.1f}" y="{y - HEIGHT / 2:.1f}" width="{width:.1f}" height="{HEIGHT:.0f}" rx="6" '
            f'fill="{COLOURS[box.kind]}"/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{label}</text></g>')


def _legend(graph: Graph, top: float) -> list[str]:
    found, at = [], 12.0
    for kind in dict.fromkeys(box.kind for box in graph.boxes):
        found.append(f'<rect x="{at:.0f}" y="{top + 11:.0f}" width="14" height="12" rx="3" fill="{COLOURS[kind]}" '
                     f'stroke="#5b6676"/><text x="{at + 20:.0f}" y="{top + 21:.0f}">{kind}</text>')
        at += 44 + len(kind) * 7.4
    if any(box.cycle is not None for box in graph.boxes):
        found.append(f'<text x="{at:.0f}" y="{top + 21:.0f}" style="fill:{CYCLE}">↻ part of a cycle</text>')
    return found
