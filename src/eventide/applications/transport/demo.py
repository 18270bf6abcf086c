"""The demonstration `transport`: two hundred buses, on Spark."""

from __future__ import annotations

from pathlib import Path

from eventide.applications import APPLICATIONS
from eventide.applications.demonstration import Say, Show, demonstrate, generated


def run(out: Path, say: Say) -> None:
    """Leave the events, the rules, the recognised intervals and a report in `out`; `say` tells each step."""
    transport = APPLICATIONS["transport"]
    shown = ("punctuality", "driving_style", "driving_quality", "passenger_comfort", "passenger_satisfaction")
    demonstrate(Show(transport, generated(transport, 200, "buses"), "Two hundred buses", out, "bus", shown), say)
