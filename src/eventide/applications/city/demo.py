"""The demonstration `city`: a day of a hundred areas, on Spark."""

from __future__ import annotations

from pathlib import Path

from eventide.applications import APPLICATIONS
from eventide.applications.demonstration import Say, Show, demonstrate, generated

SHOWN = ("limitedParking", "congestedRoad", "congestedRoadActivity", "freeRoadActivity", "contradiction",
         "poorAirQuality", "limitedAccessArea", "increaseSecurity")


def run(out: Path, say: Say) -> None:
    """Leave the events, the rules, the recognised intervals and a report in `out`; `say` tells each step."""
    city = APPLICATIONS["city"]
    demonstrate(Show(city, generated(city, 100, "areas"), "A day in a city", out, "area", SHOWN), say)
