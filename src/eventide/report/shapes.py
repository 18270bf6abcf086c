"""A picture as a list of shapes, before it is known whether it becomes SVG or PNG."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

INK, SOFT, LINE, PAPER = "#18212b", "#5a6775", "#dfe4e9", "#ffffff"
# Colours that most people can tell apart, after Okabe and Ito, and Tol; the page has the same.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#b8578f", "#a87400", "#3a93c9", "#882255", "#7d7d1f", "#2f8f83", "#5b4b9e")
Face = Literal["plain", "bold", "title"]
SIZES: dict[Face, int] = {"plain": 11, "bold": 11, "title": 15}
Point: TypeAlias = "tuple[float, float]"


def colour_of(number: int) -> str:
    """The colour of a fluent: the second ten are mixed with the paper, the third ten with the ink.

    >>> colour_of(0), colour_of(10), colour_of(20)
    ('#0072b2', '#66aad1', '#00446b')
    """
    colour, turn = PALETTE[number % 10], number // 10 % 3
    towards = 0.0 if turn == 2 else 255.0
    share = 0.6 if turn else 1.0
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(share * part + (1 - share) * towards):02x}" for part in parts)


@dataclass(frozen=True)
class Box:
    """A rectangle, with round corners where it has a radius, and a line around it where it has an edge."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 0.0
    edge: str = ""


@dataclass(frozen=True)
class Stroke:
    """A line through points."""

    points: tuple[Point, ...]
    colour: str
    width: float = 1.0


@dataclass(frozen=True)
class Wedge:
    """A filled triangle, or another shape without dents."""

    points: tuple[Point, ...]
    fill: str


@dataclass(frozen=True)
class Words:
    """A line of text; `y` is the middle of its height."""

    x: float
    y: float
    text: str
    colour: str = INK
    face: Face = "plain"
    anchor: Literal["start", "middle", "end"] = "start"


Shape: TypeAlias = "Box | Stroke | Wedge | Words"


@dataclass
class Picture:
    """Shapes on white paper, from back to front; `about` is what it shows, in words."""

    width: float
    height: float
    about: str
    shapes: list[Shape] = field(default_factory=list)
