"""The demonstration `fleet`: five hundred commercial vehicles, on Spark."""

from __future__ import annotations

from pathlib import Path

from eventide.applications import APPLICATIONS
from eventide.applications.demonstration import Say, Show, demonstrate, generated


def run(out: Path, say: Say) -> None:
    """Leave the events, the rules, the recognised intervals and a report in `out`; `say` tells each step."""
    fleet = APPLICATIONS["fleet"]
    demonstrate(Show(fleet, generated(fleet, 500, "vehicles"), "Five hundred vehicles", out, "vehicle"), say)
