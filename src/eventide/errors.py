"""The errors of Eventide: every wrong input ends in one of these, with its diagnostics attached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eventide.syntax.diagnostics import Diagnostic


class EventideError(Exception):
    """Base of all errors that a user's input can cause.

    >>> raise EventideError("nothing to read")
    Traceback (most recent call last):
    eventide.errors.EventideError: nothing to read
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)

    def _repr_html_(self) -> str:
        """The error for notebooks, its message as it is printed."""
        return f'<pre style="border-left:3px solid #c0392b;padding-left:8px">{escape(str(self))}</pre>'


class ArrayError(EventideError):
    """A kernel was given an array it cannot accept: names the argument and the first offending index."""

    def __init__(self, argument: str, problem: str, index: int | None = None) -> None:
        place = "" if index is None else f" at index {index}"
        super().__init__(f"{argument}: {problem}{place}")
        self.argument = argument
        self.index = index


class ProgramError(EventideError):
    """A rule file is wrong; the diagnostics say where and what to try."""


def refuse_errors(diagnostics: Iterable[Diagnostic], texts: Mapping[str, str]) -> None:
    """Raise ProgramError with every error among them, if there is one; `texts` are the sources by name.

    >>> refuse_errors([], {})
    """
    errors = [d for d in diagnostics if d.severity == "error"]
    if errors:
        rendered = "\n".join(d.render(texts.get(d.span.source) if d.span else None) for d in errors)
        raise ProgramError(rendered, errors)


class RuleError(ProgramError):
    """Rules that cannot be carried out, found while they run: names definitions, a kind of values or an operator."""

    def __init__(self, code: str, message: str, hint: str, definitions: Sequence[str] = (),
                 values: str | None = None, operator: str | None = None) -> None:
        super().__init__(f"{message}; {hint}")
        self.code, self.message, self.hint = code, message, hint
        self.definitions, self.values, self.operator = tuple(definitions), values, operator


class InputError(EventideError):
    """A data file is wrong; the diagnostics say which row and what was expected."""


class RangeError(EventideError):
    """Times and keys do not fit the packed 64-bit timeline together."""
