"""The demonstration `content`: who fetches what from where in a network, with all answers there are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from eventide.applications.content import NETWORK, RULES
from eventide.applications.content.generator import sparse
from eventide.applications.demonstration import (
    Say,
    Stage,
    perform,
    reported,
    summary,
    timeline,
    write_intervals,
)
from eventide.applications.time_points import Show

POINTS, ITEMS, LINES = 1000, 2, 10


def run(out: Path, say: Say, *, points: int = POINTS, seed: int = 0) -> None:
    """Leave the stream, the rules, the intervals of all answers and a report in `out`; `say` tells each step."""
    show = Show(out, points, sparse(points, items=ITEMS, seed=seed))
    perform(STAGES, show, say, show.took)
    rows = show.result.to_arrow().to_pylist()
    say("what was concluded\n" + "\n".join(summary(Counter(row["fluent"] for row in rows), show.facts, show.took)))
    fetched = _fetched(rows)
    shown = dict(sorted(fetched.items(), key=lambda item: -_length(item[1], points))[:LINES])
    say(f"get(item,to,from): the longest of {len(fetched)}, from 0 to {points}\n"
        + "\n".join(timeline(shown, 0, points)))
    say(f"to do the same by hand, in {out}:\n   eventide run content.lars --background network.lars --events "
        "stream.jsonl --models all -o intervals.csv")


def _conclude(show: Show) -> str:
    show.result = show.program.run(show.file, models="all")
    write_intervals(show.result.to_arrow(), show.out)
    several = sum(end - start for start, end, _ in show.result.several)
    most = max((count for *_, count in show.result.several), default=1)
    return (f"{len(show.result):,} intervals; {several} time-points have several answers, at most {most}: "
            f"{show.out / 'intervals.csv'}")


def _report(show: Show) -> str:
    rows = show.result.to_arrow()
    certain = rows.filter(rows["model"].is_null()).drop_columns(["model"])
    return reported(show.out, "Content in a network: what all answers say", certain, show.facts, len(show.result),
                    show.took)


STAGES: tuple[Stage[Show], ...] = (
    Stage("stream", "making a stream", lambda show: show.take(f" about {ITEMS} items")),
    Stage("rules", "reading the rules", lambda show: show.compile(RULES, NETWORK)),
    Stage("conclude", "concluding", _conclude),
    Stage("report", "writing the report", _report),
)


def _fetched(rows: list[dict[str, Any]]) -> dict[str, list[tuple[int, int | None]]]:
    """When who may fetch what from where, in some answer."""
    found: dict[str, set[tuple[int, int | None]]] = {}
    for row in rows:
        if row["fluent"] == "get":
            found.setdefault(f"get({row['args'].replace('|', ',')})", set()).add((row["start"], row["end"]))
    return {atom: sorted(periods, key=lambda period: period[0]) for atom, periods in found.items()}


def _length(periods: list[tuple[int, int | None]], last: int) -> int:
    return sum((last if end is None else end) - start for start, end in periods)
