"""Diagnostics are values: a severity, a message, a place and a hint. Rendering is a view of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Literal

_MOST_SHOWN = 100  # problems in a notebook
Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a source text; lines and columns count from 1, the end is exclusive."""

    source: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem. `code` is a stable short name such as `unknown-fluent`.

    >>> problem = Diagnostic("error", "unknown-fluent", "no rule defines ritch", Span("a.ec", 1, 8, 1, 13), "rich?")
    >>> print(problem.render("holdsAt(ritch, T)"))
    a.ec:1:8: error: no rule defines ritch [unknown-fluent]
        holdsAt(ritch, T)
               ^^^^^
        hint: rich?
    >>> problem.as_dict()["line"]
    1
    """

    severity: Severity
    code: str
    message: str
    span: Span | None = None
    hint: str | None = None

    def render(self, text: str | None = None) -> str:
        """The diagnostic as people read it; with the source `text`, the line itself and a caret below it."""
        place = f"{self.span}: " if self.span else ""
        lines = [f"{place}{self.severity}: {self.message} [{self.code}]"]
        if text is not None and self.span is not None:
            rows = _rows(text)
            if 0 < self.span.line <= len(rows):
                row = rows[self.span.line - 1]
                last = self.span.end_column if self.span.end_line == self.span.line else len(row) + 1
                lead = "".join("\t" if c == "\t" else " " for c in row[: self.span.column - 1])
                lines += [f"    {row}", f"    {lead}{'^' * max(1, last - self.span.column)}"]
        if self.hint:
            lines.append(f"    hint: {self.hint}")
        return "\n".join(lines)

    def _repr_html_(self, text: str | None = None) -> str:
        """The same for notebooks; the source line stands below it as it is written."""
        colour = {"error": "#c0392b", "warning": "#b9770e", "info": "#2e6da4"}[self.severity]
        return f'<pre style="border-left:3px solid {colour};padding-left:8px">{escape(self.render(text))}</pre>'

    def as_dict(self) -> dict[str, object]:
        """The diagnostic as plain data, for `--json`."""
        place: dict[str, object] = {}
        if self.span:
            place = {"file": self.span.source, "line": self.span.line, "column": self.span.column,
                     "end_line": self.span.end_line, "end_column": self.span.end_column}
        return {"severity": self.severity, "code": self.code, "message": self.message, "hint": self.hint, **place}


class Diagnostics(list[Diagnostic]):
    """A list of problems that a notebook shows with their lines; `texts` are the sources by name.

    >>> Diagnostics([])._repr_html_()
    '<p>no problems</p>'
    """

    def __init__(self, problems: Iterable[Diagnostic], texts: Mapping[str, str] | None = None) -> None:
        super().__init__(problems)
        self._texts = dict(texts or {})

    def _repr_html_(self) -> str:
        shown = "".join(each._repr_html_(self._texts.get(each.span.source) if each.span else None)
                        for each in self[:_MOST_SHOWN])
        more = f"<p>and {len(self) - _MOST_SHOWN:,} more</p>" if len(self) > _MOST_SHOWN else ""
        return f"{shown}{more}" or "<p>no problems</p>"


@lru_cache(maxsize=4)
def _rows(text: str) -> list[str]:
    """The lines of a text; a text with many problems is split once."""
    return text.splitlines()


def errors_first(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics by severity, otherwise in order.

    >>> [d.code for d in errors_first([Diagnostic("info", "a", ""), Diagnostic("error", "b", "")])]
    ['b', 'a']
    """
    rank: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}
    return sorted(diagnostics, key=lambda d: rank[d.severity])
