"""Texts that grow: the complete lines appended to a file or to standard input, as pieces that can be read alone."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace

from eventide.formats.events import is_headed
from eventide.formats.files import Form, Text, missing, text_of
from eventide.formats.problems import input_error

STANDARD_INPUT = "-"
_PIECE = 1 << 20
LONGEST_LINE = 1 << 26


@dataclass(frozen=True)
class Place:
    """How far a text has been read: bytes and lines, its form, and the header of a headed CSV."""

    read: int = 0
    lines: int = 0
    form: Form | None = None
    header: str = ""


class Tail:
    """What is appended to a text file behind a place in it, or what comes from standard input (`-`)."""

    def __init__(self, path: str, place: Place | None = None) -> None:
        self.source = "<stdin>" if path == STANDARD_INPUT else path
        self.place = place or Place()
        self.ended = self.idle = False
        self._grows = path != STANDARD_INPUT
        self._held = b""
        try:
            self._file = os.open(path, os.O_RDONLY) if self._grows else sys.stdin.fileno()
            if self.place.read:
                os.lseek(self._file, self.place.read, os.SEEK_SET)
        except OSError as error:
            raise missing(path, error) from error

    def read(self) -> Text | None:
        """The complete lines that have come since the last call; None if there are none.

        Standard input is waited for. Of a file, what is there now is taken; if that is nothing, it is `idle`. A line
        without its end is left for later.
        """
        data = os.read(self._file, _PIECE)
        self.idle = not data and self._grows
        if not data:
            if self.idle:
                self._check_size()
                return None
            self.ended = True
            data = b"\n" if self._held and not self._held.endswith(b"\n") else b""
        self._held += data
        if self.place.form is None and b"\n" in self._held.lstrip():
            self.place = replace(self.place, form=self._form())
        cut = self._complete()
        lines, self._held = self._held[:cut], self._held[cut:]
        if len(self._held) > LONGEST_LINE:
            raise input_error("long-line", f"a line is longer than {LONGEST_LINE >> 20} MB", self.source,
                              hint="every fact is a line; is this a text?")
        return self._text(lines) if lines else None

    def _check_size(self) -> None:
        if os.fstat(self._file).st_size < self.place.read + len(self._held):
            hint = "start again to read the file from its beginning"
            raise input_error("shorter-file", "the file is shorter than what was read of it", self.source, hint=hint)

    def _form(self) -> Form:
        if self._held.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return "json"
        return "headed" if is_headed(text_of(self.source, self._held[:self._held.rfind(b"\n") + 1],
                                            by_line=True)) else "rtec"

    def _complete(self) -> int:
        """Where the complete lines end; a record of a headed CSV may go over several lines."""
        cut = self._held.rfind(b"\n") + 1
        if self.place.form == "headed" and not self.ended:
            while cut and self._held.count(b'"', 0, cut) % 2:
                cut = self._held.rfind(b"\n", 0, cut - 1) + 1
        return cut if self.place.form is not None else 0

    def _text(self, lines: bytes) -> Text:
        """The lines as a text of their own: those of a headed CSV below the header."""
        above = self.place.lines
        self.place = replace(self.place, read=self.place.read + len(lines), lines=above + lines.count(b"\n"))
        if self.place.form == "headed":
            if not self.place.header:
                end = lines.index(b"\n", len(lines) - len(lines.lstrip())) + 1
                self.place = replace(self.place, header=lines[:end].decode("utf-8-sig").strip())
                above, lines = lines[:end].count(b"\n"), lines[end:]
            lines, above = f"{self.place.header}\n".encode() + lines, above - 1
        return replace(text_of(self.source, lines, by_line=True), form=self.place.form, above=above)
