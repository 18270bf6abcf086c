"""Where windowed runs differ from RTEC's records, by cause: settings a (window = step) and b (window of 4 steps)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

Row = tuple[int, str, str, str, int, int]
"""Query time, fluent, args, value, start, end."""


class Cause(NamedTuple):
    """Why rows differ: what RTEC does, what we do, and which rows it explains."""

    name: str
    reason: str
    explains: Callable[[Row, set[Row], set[Row]], bool]


def _other_start(row: Row, missing: set[Row], extra: set[Row]) -> bool:
    """The same interval is on both sides, with another start."""
    return any(row[:4] == other[:4] and row[5] == other[5] for other in (extra if row in missing else missing))


CAUSES = (
    Cause("complement begins with the window",
          "RTEC takes `complement_all` within the window in which it first knows the entities, from 0 if that window "
          "begins before; here it begins with the run",
          lambda row, missing, extra: row[1] == "close_34" and row[3] == "false" and _other_start(row, missing, extra)),
    Cause("initial values begin again",
          "in windows that begin before time 0 RTEC sees the start of an initial value, and fires what it initiates; "
          "here the start of the run decides",
          lambda row, missing, extra: row in missing and row[1] == "obl" and row[3] == "false" and row[4] == 0),
)

# RTEC's rows that we do not give, by application and setting; other settings have none.
KNOWN = {
    ("caviar", "a_w100000_s100000"): {"complement begins with the window": 30},
    ("caviar", "b_w100000_s25000"): {"complement begins with the window": 85},
    ("ctm", "a_w2000_s2000"): {},
    ("ctm", "b_w4000_s1000"): {},
    ("toy", "a_w10_s10"): {},
    ("toy", "b_w20_s5"): {},
    ("voting", "a_w10_s10"): {},
    ("voting", "b_w40_s10"): {"initial values begin again": 900},
}


def classified(recorded: Iterable[Row], found: Iterable[Row]) -> dict[str, int]:
    """How many of RTEC's rows are not ours, by cause; a row without a cause is an AssertionError."""
    ours, theirs = set(found), set(recorded)
    missing, extra = theirs - ours, ours - theirs
    counts: Counter[str] = Counter()
    for row in missing | extra:
        causes = [cause.name for cause in CAUSES if cause.explains(row, missing, extra)]
        assert causes, f"{'missing' if row in missing else 'extra'}: {row}"
        counts[causes[0]] += row in missing
    return dict(counts)


def as_table() -> str:
    """The differences as a table for the documentation."""
    reasons = {cause.name: cause.reason for cause in CAUSES}
    lines = ["| run | RTEC's rows that differ | cause |", "|---|---|---|"]
    for (application, setting), counts in KNOWN.items():
        causes = "; ".join(f"{name}: {reasons[name]}" for name in counts)
        lines.append(f"| {application} `{setting}` | {sum(counts.values()) or 'none'} | {causes} |")
    return "\n".join(lines)
