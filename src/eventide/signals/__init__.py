"""Signals as they come from the world: positions of vessels and the events in them; facts that come late, repeated,
corrected. Knows no rules."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eventide.signals.ais import Reports, read_positions
    from eventide.signals.area_files import read_areas
    from eventide.signals.areas import Area, Areas, area_events, dissolved, near_coast, near_points
    from eventide.signals.cleaning import Cleaned, Cleaning, clean
    from eventide.signals.coast import coast_lines
    from eventide.signals.critical import Thresholds, critical_points
    from eventide.signals.delays import delayed, disturbed, duplicated, retracted, revised
    from eventide.signals.disturbance import Disturbance
    from eventide.signals.label_noise import LabelNoise, noisy
    from eventide.signals.noise import Stations, stations_along, with_confidence
    from eventide.signals.proximity import Nearness

__all__ = ["Area", "Areas", "Cleaned", "Cleaning", "Disturbance", "LabelNoise", "Nearness", "Reports", "Stations",
           "Thresholds", "area_events", "clean", "coast_lines", "critical_points", "delayed", "dissolved",
           "disturbed", "duplicated", "near_coast", "near_points", "noisy", "read_areas", "read_positions",
           "retracted", "revised", "stations_along", "with_confidence"]

# Loaded when first used: who disturbs a stream need not wait for the compiler of the kernels.
_HOMES = {
    "ais": ("Reports", "read_positions"), "area_files": ("read_areas",), "coast": ("coast_lines",),
    "areas": ("Area", "Areas", "area_events", "dissolved", "near_coast", "near_points"),
    "noise": ("Stations", "stations_along", "with_confidence"), "proximity": ("Nearness",),
    "cleaning": ("Cleaned", "Cleaning", "clean"),
    "critical": ("Thresholds", "critical_points"), "disturbance": ("Disturbance",),
    "label_noise": ("LabelNoise", "noisy"),
    "delays": ("delayed", "disturbed", "duplicated", "retracted", "revised"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"eventide.signals.{home}"), name)
    raise AttributeError(f"module 'eventide.signals' has no attribute {name!r}")
