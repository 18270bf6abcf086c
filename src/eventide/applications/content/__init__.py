"""A network of nodes that fetch items from each other's caches, the best source first. LARS, several answers."""

from __future__ import annotations

from pathlib import Path

RULES = Path(__file__).with_name("content.lars")
NETWORK = Path(__file__).with_name("network.lars")
