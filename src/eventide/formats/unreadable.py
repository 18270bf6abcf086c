"""Values and lines that cannot be read: integers beyond 64 bits, broken Unicode, the character NUL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eventide.formats.facts import BadRow, Coded, Column, Value
from eventide.formats.problems import diagnostic

AS_TEXT = "integers lie between -2^63 and 2^63-1; give an identifier as text"


class Unreadable(NamedTuple):
    """What is wrong with a value: the code, what the value is, and what to try."""

    code: str
    message: str
    hint: str


def problem_of(value: Value) -> Unreadable | None:
    """What is wrong with a value, if anything.

    >>> problem_of(2**63), problem_of(7), problem_of("Brest")
    (Unreadable(code='value-overflow', message='9223372036854775808, which does not fit 64 bits', hint='integers \
lie between -2^63 and 2^63-1; give an identifier as text'), None, None)
    """
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return Unreadable("value-overflow", f"{value}, which does not fit 64 bits", AS_TEXT)
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return None
    if "\0" in value:
        return Unreadable("bad-text", f"{value!r}, which has the character NUL", "take the character out")
    try:
        value.encode()
    except UnicodeEncodeError:
        return Unreadable("bad-text", f"{value!r}, which has half a character", "send the text as UTF-8")
    return None


def unreadable_rows(column: Column) -> Iterator[tuple[int, Unreadable]]:
    """The rows of a column whose values cannot be read, with what is wrong."""
    if isinstance(column, Coded):
        for code, value in enumerate(column.values):
            problem = problem_of(value)
            if problem is not None:
                yield from ((row, problem) for row in np.flatnonzero(column.codes == code).tolist())


def without_broken_lines(source: str, content: bytes) -> tuple[bytes, tuple[BadRow, ...]]:
    """The text with empty lines in place of those that are no UTF-8 or have NUL, and these as bad rows.

    >>> without_broken_lines("feed", b"a|1\\n\\xff|2\\nc|3\\n")[0]
    b'a|1\\n\\nc|3\\n'
    """
    lines = content.split(b"\n")
    broken: list[BadRow] = []
    for number, line in enumerate(lines, 1):
        if line.isascii() and b"\0" not in line:
            continue
        try:
            text = line.decode()
            at, message, hint = text.find("\0"), "the character NUL", "take the character out"
        except UnicodeDecodeError as error:
            at = len(line[:error.start].decode())
            message = f"byte 0x{line[error.start]:02x} is not UTF-8"
            hint = "save the file as UTF-8, for example with `iconv -f latin1 -t utf-8 FILE`"
        if at >= 0:
            row = line.decode("utf-8", "replace").rstrip("\r").replace("\0", "\ufffd")
            code = "bad-text" if message.startswith("the") else "not-utf-8"
            broken.append(BadRow(diagnostic(code, message, source, number, at + 1, hint=hint), row))
            lines[number - 1] = b""
    return b"\n".join(lines), tuple(broken)
