"""Eventide: from streams of timestamped events to the maximal intervals of situations."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eventide.errors import EventideError

if TYPE_CHECKING:
    from eventide import mtl, probability, spark
    from eventide.engine.budget import budget
    from eventide.explanation.asking import explain
    from eventide.explanation.proof import Proof
    from eventide.learning.learned import Learned, learn
    from eventide.program import Program, load, parse
    from eventide.results import Result
    from eventide.syntax.diagnostics import Diagnostic

__all__ = ["Diagnostic", "EventideError", "Learned", "Program", "Proof", "Result", "budget", "explain", "learn", "load",
           "mtl", "parse", "probability", "spark"]

# Loaded when first used: the command line answers --help and --version without the compiler of the kernels.
_HOMES = {
    "Diagnostic": "eventide.syntax.diagnostics", "Program": "eventide.program", "Result": "eventide.results",
    "load": "eventide.program", "parse": "eventide.program", "Learned": "eventide.learning.learned",
    "learn": "eventide.learning.learned", "Proof": "eventide.explanation.proof",
    "explain": "eventide.explanation.asking", "budget": "eventide.engine.budget",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in ("mtl", "probability", "spark"):
        return import_module(f"eventide.{name}")
    raise AttributeError(f"module 'eventide' has no attribute {name!r}")
