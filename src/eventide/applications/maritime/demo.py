"""The demonstration `maritime`: half a day of four hundred vessels, about 100,000 events, 21 situations."""

from __future__ import annotations

from pathlib import Path

from eventide.applications.demonstration import Say, demonstrate

SHOWN = ("gap", "stopped", "lowSpeed", "highSpeedNearCoast", "drifting", "anchoredOrMoored", "trawling", "inSAR",
         "tugging", "rendezVous", "loitering", "pilotOps")


def run(out: Path, say: Say) -> None:
    """Leave the events, the rules and the recognised intervals in `out`; `say` tells each step."""
    demonstrate("maritime", out, say, entities=400, noun="vessel", shown=SHOWN)
