"""The demonstration `city`: a day of three hundred areas of a city through its rules, on Spark."""

from __future__ import annotations

from pathlib import Path

from eventide.applications import APPLICATIONS
from eventide.applications.demonstration import Say, Show, demonstrate, generated


def run(out: Path, say: Say) -> None:
    """Leave the events, the rules, the recognised intervals and a report in `out`; `say` tells each step."""
    city = APPLICATIONS["city"]
    demonstrate(Show(city, generated(city, 300, "area"), "area", "A day in a city", out), say)
