"""The obvious reader of RTEC's CSV form, row by row: the oracle of the fast one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from eventide.formats.facts import Kind, Value

LEADING = {"event": 3, "point": 4, "interval": 5}
Row = tuple[Value, ...]


@dataclass
class SlowFacts:
    """Per name and number of arguments the typed fields below the name, with the line; and the bad lines."""

    rows: dict[tuple[str, int], list[tuple[int, Row]]] = field(default_factory=dict)
    bad: list[tuple[int, str]] = field(default_factory=list)


def typed(text: str) -> Value:
    """A field as RTEC reads it."""
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?[0-9]+\.[0-9]+", text) else text


def slow_rtec(text: str, declared: Callable[[str], Kind | None]) -> SlowFacts:
    """All rows of the text, each looked at on its own; then the argument counts of each name."""
    found = SlowFacts()
    candidates: list[tuple[int, str, Kind, list[str]]] = []
    for line, row in enumerate(text.split("\n"), 1):
        row = row.removesuffix("\r")
        if not row:
            continue
        fields = row.split("|")
        kind = declared(fields[0]) if isinstance(typed(fields[0]), str) else None
        if "" in fields:
            found.bad.append((line, "empty-field"))
        elif kind is None:
            found.bad.append((line, "unknown-name"))
        elif len(fields) < LEADING[kind]:
            found.bad.append((line, "missing-field"))
        else:
            candidates.append((line, fields[0], kind, fields))
    counts: dict[str, Counter[int]] = {}
    for _, name, kind, fields in candidates:
        counts.setdefault(name, Counter())[len(fields) - LEADING[kind]] += 1
    for line, name, kind, fields in candidates:
        args = len(fields) - LEADING[kind]
        values = tuple(map(typed, fields[1:]))
        problem = _problem(kind, values)
        if args != counts[name].most_common(1)[0][0]:
            found.bad.append((line, "wrong-arity"))
        elif problem:
            found.bad.append((line, problem))
        else:
            found.rows.setdefault((name, args), []).append((line, values))
    found.bad.sort()
    return found


def _problem(kind: Kind, values: Row) -> str | None:
    times = values[: 3 if kind == "interval" else 2]
    for time in times:
        if not isinstance(time, int):
            return "bad-time"
        if not -(2**63) <= time < 2**63:
            return "time-overflow"
    if any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in values):
        return "value-overflow"
    return "empty-interval" if kind == "interval" and times[2] <= times[1] else None  # type: ignore[operator]
