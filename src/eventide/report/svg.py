"""Pictures as SVG, written by hand."""

from __future__ import annotations

import re
from html import escape

from eventide.report.shapes import PAPER, SIZES, Box, Picture, Shape, Stroke, Wedge, Words

FONT = "Inter, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif"
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")  # XML knows no such characters


def to_svg(picture: Picture) -> str:
    """The picture as text.

    >>> to_svg(Picture(10, 10, "a <dot>", [Box(1, 1, 2, 2, "#000000")])).splitlines()[3]
    '<rect x="1" y="1" width="2" height="2" fill="#000000"/>'
    """
    width, height = _n(picture.width), _n(picture.height)
    about = _text(picture.about)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="{FONT}" role="img" aria-label="{about}">',
        f"<title>{about}</title>",
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        *map(_element, picture.shapes),
        "</svg>",
    ]) + "\n"


def _element(shape: Shape) -> str:
    match shape:
        case Box(x, y, width, height, fill, radius, edge):
            round_ = f' rx="{_n(radius)}"' if radius else ""
            line = f' stroke="{edge}"' if edge else ""
            return (f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"{round_} '
                    f'fill="{fill}"{line}/>')
        case Stroke(points, colour, width):
            return f'<polyline points="{_points(points)}" fill="none" stroke="{colour}" stroke-width="{_n(width)}"/>'
        case Wedge(points, fill):
            return f'<polygon points="{_points(points)}" fill="{fill}"/>'
        case Words(x, y, text, colour, face, anchor):
            size = SIZES[face]
            bold = "" if face == "plain" else ' font-weight="600"'
            place = "" if anchor == "start" else f' text-anchor="{anchor}"'
            return (f'<text x="{_n(x)}" y="{_n(y + size * 0.36)}" font-size="{size}" fill="{colour}"{bold}{place}>'
                    f"{_text(text)}</text>")


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text))


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _points(points: tuple[tuple[float, float], ...]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
