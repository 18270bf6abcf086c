"""Signals as they come from the world: positions of vessels and the events in them; facts that come late, repeated,
corrected. Knows no rules."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eventide.signals.ais import Reports, read_positions
    from eventide.signals.cleaning import Cleaned, Cleaning, clean
    from eventide.signals.critical import Thresholds, critical_points
    from eventide.signals.delays import delayed, disturbed, duplicated, retracted, revised
    from eventide.signals.disturbance import Disturbance

__all__ = ["Cleaned", "Cleaning", "Disturbance", "Reports", "Thresholds", "clean", "critical_points", "delayed",
           "disturbed", "duplicated", "read_positions", "retracted", "revised"]

# Loaded when first used: who disturbs a stream need not wait for the compiler of the kernels.
_HOMES = {
    "ais": ("Reports", "read_positions"), "cleaning": ("Cleaned", "Cleaning", "clean"),
    "critical": ("Thresholds", "critical_points"), "disturbance": ("Disturbance",),
    "delays": ("delayed", "disturbed", "duplicated", "retracted", "revised"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"eventide.signals.{home}"), name)
    raise AttributeError(f"module 'eventide.signals' has no attribute {name!r}")
