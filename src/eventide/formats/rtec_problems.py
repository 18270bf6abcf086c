"""Messages for bad rows of RTEC's CSV form: what is wrong, where, and what was expected."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from eventide.formats.expected import Expected, arguments, either
from eventide.formats.facts import BadRow, Ints, Kind
from eventide.formats.files import Text
from eventide.formats.problems import bad_field
from eventide.formats.unreadable import AS_TEXT

LAYOUTS = {
    "event": "name|arrival|occurrence|arguments…",
    "point": "name|arrival|occurrence|value|arguments…",
    "interval": "name|arrival|start|end|value|arguments…",
}
SHAPES = {"event": "an event", "point": "a fluent given by points", "interval": "a fluent given by intervals"}


@dataclass(frozen=True, slots=True)
class _Problem:
    lines: Ints
    starts: Ints
    code: str
    field: int
    layout: Kind | None
    accepted: Collection[int]
    wanted: str | None


@dataclass(slots=True)
class BadCells:
    """Bad rows as they are found; they get their messages at the end, in the order of the file."""

    text: Text
    expected: Expected
    found: list[_Problem] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many rows are bad."""
        return sum(len(problem.lines) for problem in self.found)

    def add(
        self, lines: Ints, starts: Ints, code: str, at: int = 0, *, layout: Kind | None = None,
        accepted: Collection[int] = (), wanted: str | None = None,
    ) -> None:
        """Note rows with the same problem; a row is noted once."""
        if lines.shape[0]:
            self.found.append(_Problem(lines, starts, code, at, layout, accepted, wanted))

    def rows(self, limit: int | None) -> tuple[BadRow, ...]:
        """The first bad rows of the file, all without a limit."""
        if not self.found:
            return ()
        lines = np.concatenate([p.lines for p in self.found])
        starts = np.concatenate([p.starts for p in self.found])
        owners = np.repeat(np.arange(len(self.found)), [len(p.lines) for p in self.found])
        order = np.argsort(lines, kind="stable")[:limit]
        return tuple(self._row(self.found[owners[i]], int(lines[i]), int(starts[i])) for i in order)

    def _row(self, problem: _Problem, line: int, start: int) -> BadRow:
        row = self.text.line_at(start)
        fields = row.split("|")
        name, at, layout = fields[0], problem.field, problem.layout
        code, hint = f"bad-{problem.code}", None
        match problem.code:
            case "empty":
                lengths = [len(f.encode()) for f in fields]
                at = lengths.index(0) if 0 in lengths else lengths.index(max(lengths))
                code, message = "empty-field", f"field {at + 1} is empty"
                hint = "every field needs a value; write an atom such as none where there is nothing"
                if 0 not in lengths:
                    code, message, hint = "long-field", f"field {at + 1} is longer than 16 MB", "is a line end missing?"
            case "unknown":
                code = "unknown-name"
                message, hint = self.expected.unknown(name)
            case "short":
                assert layout is not None
                at = len(fields)
                wanted = f"{name} is {SHAPES[layout]}: expected {LAYOUTS[layout]}"
                code, message = "missing-field", f"{wanted}, got {at} fields"
                hint = "the program's declarations say whether a name is an event or a fluent"
            case "arity":
                at, code = _first_argument(self.expected.declared(name)), "wrong-arity"
                count = len(fields) - at
                message = f"{name} has {arguments(count)} here, expected {either(problem.accepted)}"
                at = len(fields) if count < max(problem.accepted, default=0) else at + max(problem.accepted, default=0)
                hint = "compare with the other rows of this name"
            case "time":
                assert layout is not None
                role = LAYOUTS[layout].split("|")[at]
                code, message = "bad-time", f"{role} is {fields[at]!r}, expected a whole number"
                hint = f"{name} is {SHAPES[layout]}: {LAYOUTS[layout]}"
            case "overflow":
                code, message = "value-overflow", f"{fields[at]} does not fit 64 bits"
                hint = AS_TEXT
                if layout is not None:
                    code, hint = "time-overflow", "times lie between -2^63 and 2^63-1; use a coarser unit"
            case "backward":
                code = "empty-interval"
                message = f"the interval ends at {fields[at]}, not after its start {fields[at - 1]}"
                hint = "intervals are [start, end): the end is the first time-point that no longer belongs to them"
            case _:
                code, message = "wrong-type", f"{fields[at]!r} is no {problem.wanted}, as this column is declared"
        return bad_field(code, message, self.text.source, line, row, at, hint)


def _first_argument(kind: Kind | None) -> int:
    return LAYOUTS[kind].count("|") if kind else 0
