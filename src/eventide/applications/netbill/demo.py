"""The demonstration `netbill`: two markets of forty agents, on Spark."""

from __future__ import annotations

from pathlib import Path

from eventide.applications import APPLICATIONS
from eventide.applications.demonstration import Say, Show, demonstrate, generated


def run(out: Path, say: Say) -> None:
    """Leave the events, the rules, the recognised intervals and a report in `out`; `say` tells each step."""
    netbill = APPLICATIONS["netbill"]
    shown = ("contract", "suspended")
    demonstrate(Show(netbill, generated(netbill, 2, "markets"), "Two markets", out, "agent", shown), say)
