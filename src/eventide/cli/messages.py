"""How commands talk: results on standard output, everything else on standard error, as text or as JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from eventide.errors import EventideError

if TYPE_CHECKING:
    from eventide.syntax.diagnostics import Diagnostic


LONGEST_SHOWN = 1 << 26  # of longer files the line of a problem is not shown: reading them again would take long


@dataclass(slots=True)
class Messages:
    """The two settings that every command shares, `-q` and `--json`, and what follows from them."""

    quiet: bool = False
    json: bool = False

    def say(self, text: str, stream: TextIO | None = None, **data: object) -> None:
        """Tell what is going on, unless `-q` was given; `data` are further fields with `--json`."""
        if not self.quiet:
            self._write({"severity": "info", "message": text, **data}, text, stream or sys.stderr)

    def note(self, diagnostic: Diagnostic) -> None:
        """Show a diagnostic that is no problem, unless `-q` was given."""
        if not self.quiet:
            self._write(diagnostic.as_dict(), diagnostic.render(), sys.stderr)

    def result(self, data: object, text: str) -> None:
        """Print what the command was asked for: `data` with `--json`, otherwise `text`."""
        print(json.dumps(data) if self.json else text, flush=True)

    def problem(self, message: str, hint: str | None = None) -> None:
        """Report one problem; `-q` does not silence problems."""
        text = f"error: {message}" + (f"\n    hint: {hint}" if hint else "")
        self._write({"severity": "error", "message": message, "hint": hint}, text, sys.stderr)

    def error(self, error: EventideError) -> None:
        """Report an error: each of its diagnostics with its source line, or its message where it has none."""
        if not error.diagnostics:
            self.problem(str(error))
        texts: dict[str, str | None] = {}
        for diagnostic in error.diagnostics:
            source = diagnostic.span.source if diagnostic.span else ""
            if source not in texts:
                texts[source] = _text_of(source)
            self._write(diagnostic.as_dict(), diagnostic.render(texts[source]), sys.stderr)
        for note in getattr(error, "__notes__", ()):
            self._write({"severity": "info", "message": note}, note, sys.stderr)

    def _write(self, data: Mapping[str, object], text: str, stream: TextIO) -> None:
        print(json.dumps(data) if self.json else text, file=stream, flush=True)


messages = Messages()


def _text_of(source: str) -> str | None:
    """The text of a source file, where it is one that can be read."""
    path = Path(source)
    try:
        readable = path.is_file() and path.stat().st_size <= LONGEST_SHOWN
        return path.read_text(encoding="utf-8-sig") if readable else None
    except (OSError, ValueError):
        return None
