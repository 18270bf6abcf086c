"""Letters as small grey pictures, twice their size, and how wide texts are. Knows one font in three faces."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.report.shapes import Face

FILE = Path(__file__).parent / "assets" / "glyphs.npz"
SCALE = 2
UNKNOWN = "\ufffd"


@dataclass(frozen=True)
class Glyph:
    """A letter: how far it moves the pen, and its ink, `left` and `top` of the pen on the base line. In pixels."""

    advance: float
    left: int
    top: int
    ink: npt.NDArray[np.uint8]


@lru_cache
def _faces() -> dict[str, dict[str, Glyph]]:
    with np.load(FILE, allow_pickle=False) as stored:
        return {face: _face(stored, face) for face in ("plain", "bold", "title")}


def _face(stored: Any, face: str) -> dict[str, Glyph]:
    data, boxes, advances = (stored[f"{face}_{part}"] for part in ("ink", "boxes", "advances"))
    found, at = {}, 0
    for letter, (left, top, width, height), advance in zip(stored[f"{face}_letters"], boxes, advances, strict=True):
        size = int(width) * int(height)
        ink = data[at : at + size].reshape(int(height), int(width))
        found[chr(int(letter))] = Glyph(float(advance), int(left), int(top), ink)
        at += size
    return found


def glyphs(text: str, face: Face) -> list[Glyph]:
    """The letters of a text; one that the font lacks loses its accents, or becomes a mark for unknown ones."""
    known = _faces()[face]
    found = []
    for letter in text:
        plain = letter if letter in known else unicodedata.normalize("NFKD", letter)[:1]
        found.append(known.get(plain) or known[UNKNOWN])
    return found


def width_of(text: str, face: Face = "plain") -> float:
    """How wide a text is, in units of the picture.

    >>> width_of("iii") < width_of("mmm")
    True
    """
    return sum(glyph.advance for glyph in glyphs(text, face)) / SCALE


def shortened(text: str, room: float, face: Face = "plain") -> str:
    """The text, or as much of it as there is room for.

    >>> shortened("anchoredOrMoored", 60.0)
    'anchore…'
    """
    if width_of(text, face) <= room:
        return text
    while text and width_of(text + "…", face) > room:
        text = text[:-1]
    return text + "…" if text else ""
