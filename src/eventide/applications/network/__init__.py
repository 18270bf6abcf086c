"""Network monitoring: which node monitors which signal, as flags spread from neighbour to neighbour. DatalogMTL."""

from __future__ import annotations

from pathlib import Path

RULES = Path(__file__).with_name("network.mtl")
