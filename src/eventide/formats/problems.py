"""What is wrong with an input, as diagnostics with a place. Decides nothing about formats."""

from __future__ import annotations

import csv
import difflib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from eventide.errors import InputError
from eventide.formats.facts import BadRow, Facts
from eventide.syntax.diagnostics import Diagnostic, Span

BadRows = Literal["fail", "skip"]
SHOWN = 20


def diagnostic(
    code: str, message: str, source: str, line: int = 1, column: int = 1, width: int = 1, hint: str | None = None
) -> Diagnostic:
    """An error at a place; rows and columns count from 1."""
    return Diagnostic("error", code, printable(message), Span(source, line, column, line, column + max(1, width)),
                      None if hint is None else printable(hint))


def printable(text: str) -> str:
    r"""The text with NUL and halves of characters written out, so that it can be printed and saved.

    >>> printable("the program does not know \ud800")
    'the program does not know \\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def input_error(
    code: str, message: str, source: str, line: int = 1, column: int = 1, hint: str | None = None
) -> InputError:
    """An error that stops the reading of a whole input."""
    problem = diagnostic(code, message, source, line, column, hint=hint)
    return InputError(problem.render(), [problem])


def bad_field(
    code: str, message: str, source: str, line: int, text: str, field: int, hint: str | None = None, mark: str = "|"
) -> BadRow:
    """A row with a wrong field, numbered from 0; a field beyond the last one stands for the end of the row."""
    fields = text.split(mark)
    column = 1 + sum(len(f) + len(mark) for f in fields[:field])
    if field < len(fields):
        return BadRow(diagnostic(code, message, source, line, column, len(fields[field]), hint), text)
    return BadRow(diagnostic(code, message, source, line, len(text) + 1, 1, hint), text)


def lines_of(rows: Iterable[BadRow]) -> list[tuple[int, BadRow]]:
    """Bad rows with their lines."""
    return [(0 if row.diagnostic.span is None else row.diagnostic.span.line, row) for row in rows]


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """A hint that names the closest known name."""
    close = difflib.get_close_matches(name, list(known), 1)
    return f"did you mean {close[0]}?" if close else None


def refuse_text(option: str, names: object) -> None:
    """InputError if a list of names is one text: Python would take its letters for names.

    >>> refuse_text("fluents", ["rich"])
    """
    if isinstance(names, str):
        raise InputError(f"{option} is the text {names!r}; expected a list of names, such as [{names!r}]")


def settled(facts: Facts, bad_rows: BadRows, bad_file: str | os.PathLike[str] | None) -> Facts:
    """The facts, if bad rows may be skipped or there are none; otherwise InputError with the first of them."""
    if facts.bad_count and bad_rows == "fail":
        shown = [row.diagnostic for row in facts.bad[:SHOWN]]
        rest = facts.bad_count - len(shown)
        note = "nothing was read; skip bad rows with --bad-rows skip (bad_rows=\"skip\")"
        more = [f"and {rest} more bad row{'' if rest == 1 else 's'}"] if rest else []
        error = InputError("\n".join([*(problem.render() for problem in shown), *more, note]), shown)
        for line in (*more, note):
            error.add_note(line)
        raise error
    if facts.bad_count and bad_file is not None:
        write_bad_rows(facts.bad, Path(bad_file))
    return facts


def write_bad_rows(rows: Sequence[BadRow], path: Path, *, more: bool = False) -> None:
    """The skipped rows as CSV: file, line, column, problem, and the row itself; `more` adds them to the file."""
    try:
        with path.open("a" if more else "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            if not more:
                writer.writerow(["file", "line", "column", "problem", "row"])
            for row in rows:
                span = row.diagnostic.span
                place = [span.source, span.line, span.column] if span else ["", "", ""]
                writer.writerow([*place, row.diagnostic.message, row.text])
    except OSError as error:
        raise input_error("cannot-write", f"cannot write the bad rows: {error.strerror}", str(path)) from error
