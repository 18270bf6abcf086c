"""The demonstration `toy`: a thousand people, their moves and fortunes, and when they were happy."""

from __future__ import annotations

from pathlib import Path

from eventide.applications import APPLICATIONS
from eventide.applications.demonstration import Say, Show, demonstrate, generated


def run(out: Path, say: Say) -> None:
    """Leave the events, the rules, the recognised intervals and a report in `out`; `say` tells each step."""
    toy = APPLICATIONS["toy"]
    demonstrate(Show(toy, generated(toy, 1000, "people"), "A thousand people", out, "person"), say)
