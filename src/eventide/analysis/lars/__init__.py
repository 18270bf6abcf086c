"""LARS programs, analysed: safety, components, and which evaluation each of them gets."""

from __future__ import annotations

from eventide.analysis.lars.model import Component, LarsModel
from eventide.analysis.lars.passes import analyse

__all__ = ["Component", "LarsModel", "analyse"]
