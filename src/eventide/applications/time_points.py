"""Generated LARS streams: time-points with their facts, their file, and what demonstrations of them have in common.

What is in them is each generator's matter."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eventide.applications.demonstration import copied_program

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


@dataclass
class Show:
    """What the stages of a demonstration hand on to each other."""

    out: Path
    points: int
    stream: list[TimePoint]
    facts: int = 0
    program: Any = None
    result: Any = None
    took: dict[str, float] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """Where the stream is."""
        return self.out / "stream.jsonl"

    def take(self, about: str = "") -> str:
        """Write the stream, and tell it."""
        self.facts = write_time_points(self.stream, self.file)
        return f"{self.facts:,} generated facts at {self.points:,} time-points{about}: {self.file}"

    def compile(self, *rules: Path) -> str:
        """Read the rules, which are left beside the stream, and tell what they conclude."""
        self.program = copied_program(self.out, *rules)
        return f"the rules conclude {', '.join(self.program.fluents)}"


def with_window(rules: Path, size: int) -> str:
    """The text of rules whose windows are all of one size, with another one.

    >>> rules = Path(__file__).with_name("caching") / "caching.lars"
    >>> "[20]" in rules.read_text(), "[60]" in with_window(rules, 60)
    (True, True)
    """
    return rules.read_text(encoding="utf-8").replace("[20]", f"[{size}]")
