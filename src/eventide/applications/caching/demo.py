"""The demonstration `caching`: how a video node picks a strategy for its cache, also when reports disagree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eventide.applications.caching import CONFLICT, RULES
from eventide.applications.caching.generator import generate, with_reports
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

POINTS = 2000
STRATEGIES = ("lfu", "lru", "fifo", "random")


@dataclass
class CacheShow(Show):
    """What the stages hand on to each other."""

    contexts: Any = None


def run(out: Path, say: Say, *, points: int = POINTS, seed: int = 0) -> None:
    """Leave the stream, the rules, the intervals and a report in `out`; `say` tells each step."""
    show = CacheShow(out, points, with_reports(generate(points, seed=seed)))
    perform(STAGES, show, say, show.took)
    numbers = Counter(row["fluent"] for row in show.result.to_arrow().to_pylist())
    say("what was concluded\n" + "\n".join(summary(numbers, show.facts, show.took)))
    found = {name: periods for name, periods in show.result.timeline().items() if name in STRATEGIES}
    say(f"the strategies, from 0 to {points}\n" + "\n".join(timeline(found, 0, points)))
    say("\n".join(_told(show.contexts)))
    say(f"to do the same by hand, in {out}:\n   eventide run caching.lars --background conflict.lars --events "
        "stream.jsonl -o intervals.csv\n   eventide contexts caching.lars --background conflict.lars --events "
        f"stream.jsonl --at {show.contexts.session.time}")


def _conclude(show: CacheShow) -> str:
    show.result = show.program.run(show.file)
    write_intervals(show.result.to_arrow(), show.out)
    missing = sum(gap.end - gap.start for gap in show.result.no_answer)
    return (f"{len(show.result):,} intervals, and {missing} time-points at which readings and reports contradict each "
            f"other: {show.out / 'intervals.csv'}")


def _compare(show: CacheShow) -> str:
    gaps = show.result.no_answer
    at = gaps[0].start if gaps else show.points - 1
    show.contexts = show.program.contexts(show.file, at=at)
    return f"the contexts at {at}, by truth maintenance"


def _report(show: CacheShow) -> str:
    return reported(show.out, "A cache picks its strategy", show.result.to_arrow(), show.facts, len(show.result),
                    show.took)


STAGES: tuple[Stage[CacheShow], ...] = (
    Stage("stream", "making a stream", CacheShow.take),
    Stage("rules", "reading the rules", lambda show: show.compile(RULES, CONFLICT)),
    Stage("conclude", "concluding", _conclude),
    Stage("contexts", "looking for contexts", _compare),
    Stage("report", "writing the report", _report),
)


def _told(contexts: Any) -> list[str]:
    """A conflict, and what holds if either side of it is wrong: the report, or one of the readings."""
    now = contexts.session.time
    if contexts.is_consistent():
        return [f"at {now} nothing contradicts anything"]
    conflict = contexts.first_conflicts()[0]
    reports = [fact for fact in conflict.facts if fact.name == "favouritesChanged"]
    readings = [fact for fact in conflict.facts if fact.name == "alpha"]
    lines = [f"at {now}, {len(readings)} readings and a report contradict each other",
             *(f"   {violation}" for violation in conflict.violations)]
    for doubted in (reports[-1], readings[0]):
        context = contexts.context([doubted])
        held = [] if context is None else [text for text in context.texts(now) if "@" not in text]
        lines.append(f"   without {doubted}: {', '.join(held) or 'still contradictory'}")
    return lines
