"""The demonstration `toy`: a thousand people, their moves and fortunes, and when they were happy."""

from __future__ import annotations

from pathlib import Path

from eventide.applications.demonstration import Say, demonstrate


def run(out: Path, say: Say) -> None:
    """Leave the events, the rules and the recognised intervals in `out`; `say` tells each step."""
    demonstrate("toy", out, say, entities=1000, noun="person")
