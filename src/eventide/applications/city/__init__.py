"""A city during events: parking, congestion, air quality, security."""

from __future__ import annotations

from pathlib import Path

LARS = Path(__file__).with_name("city.lars")
"""The same situations in LARS, where a contradiction is a rule of the language."""
