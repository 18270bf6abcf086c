"""Streams as they come from the world: late, repeated, corrected. Knows no rules."""

from eventide.signals.delays import delayed, disturbed, duplicated, retracted, revised
from eventide.signals.disturbance import Disturbance

__all__ = ["Disturbance", "delayed", "disturbed", "duplicated", "retracted", "revised"]
