"""Places in a text as editors count them: lines from 0, characters in UTF-16 units; and back to offsets and spans."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal

from eventide.syntax.diagnostics import Span
from eventide.syntax.tokens import Places

Encoding = Literal["utf-8", "utf-16", "utf-32"]
Position = tuple[int, int]
"""Line and character, both from 0."""
Range = tuple[Position, Position]
_LINE_END = re.compile("\r\n|\n|\r")  # editors know no others; the readers of rules do


class Lines:
    """Turns offsets of a text into positions of an editor and back.

    >>> lines = Lines("a\\n𝛼b")
    >>> lines.position(3), lines.offset((1, 2)), lines.offset((9, 9))
    ((1, 2), 3, 4)
    """

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        self.text = text
        self.encoding = encoding
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self.spans = Places(text, "")

    def position(self, offset: int) -> Position:
        """The position of an offset."""
        line = bisect_right(self.starts, offset) - 1
        return line, self._units(self.text[self.starts[line]:offset])

    def offset(self, position: Position) -> int:
        """The offset of a position; one outside the text or its line is moved to the nearest inside."""
        line, units = position
        if line >= len(self.starts):
            return len(self.text)
        start = self.starts[line]
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        row = _LINE_END.sub("", self.text[start:end])
        if row.isascii() or self.encoding == "utf-32":
            return start + min(units, len(row))
        taken = 0
        for at, character in enumerate(row):
            if taken >= units:
                return start + at
            taken += self._units(character)
        return start + len(row)

    def offsets(self, span: Span) -> tuple[int, int]:
        """Where a span of the readers begins and ends."""
        return self._place(span.line, span.column), self._place(span.end_line, span.end_column)

    def range(self, span: Span) -> Range:
        """A span of the readers as an editor counts it, at least one character long where there is one."""
        begin, end = self.offsets(span)
        return self.position(begin), self.position(max(begin, end))

    def _place(self, line: int, column: int) -> int:
        starts = self.spans.starts
        return min(starts[min(line, len(starts)) - 1] + column - 1, len(self.text))

    def _units(self, text: str) -> int:
        if text.isascii() or self.encoding == "utf-32":
            return len(text)
        return len(text.encode("utf-8", "replace")) if self.encoding == "utf-8" else \
            len(text.encode("utf-16-le", "surrogatepass")) // 2
