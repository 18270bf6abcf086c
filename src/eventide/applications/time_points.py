"""Generated LARS streams: time-points with their facts, and their file. What is in them is each generator's matter."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

TimePoint = tuple[int, list[str]]
"""A time and the facts that arrive then, in this order."""


def write_time_points(stream: Iterable[TimePoint], path: str | Path) -> int:
    """Write a stream as `.jsonl`, one time-point a line; returns the number of facts."""
    count = 0
    with open(path, "w", encoding="utf-8") as file:
        for time, facts in stream:
            if facts:
                file.write(json.dumps({"time": time, "facts": facts}) + "\n")
                count += len(facts)
    return count


def with_window(rules: Path, size: int) -> str:
    """The text of rules whose windows are all of one size, with another one.

    >>> rules = Path(__file__).with_name("caching") / "caching.lars"
    >>> "[20]" in rules.read_text(), "[60]" in with_window(rules, 60)
    (True, True)
    """
    return rules.read_text(encoding="utf-8").replace("[20]", f"[{size}]")
