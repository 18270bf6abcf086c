"""A video node that picks how its cache replaces content, by the last readings of one parameter. LARS, one answer."""

from __future__ import annotations

from pathlib import Path

RULES = Path(__file__).with_name("caching.lars")
TUPLES = Path(__file__).with_name("caching_tuples.lars")
CONFLICT = Path(__file__).with_name("conflict.lars")
