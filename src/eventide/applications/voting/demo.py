"""The demonstration `voting`: a committee of a thousand agents and ten motions, on Spark."""

from __future__ import annotations

from pathlib import Path

from eventide.applications import APPLICATIONS
from eventide.applications.demonstration import Say, Show, demonstrate, generated


def run(out: Path, say: Say) -> None:
    """Leave the events, the rules, the recognised intervals and a report in `out`; `say` tells each step."""
    voting = APPLICATIONS["voting"]
    shown = ("status", "outcome", "auxPerCloseBallot")
    demonstrate(Show(voting, generated(voting, 1, "session"), "A committee votes", out, "motion", shown), say)
