"""Programs on Spark: planned over buckets of entities, each of which the engine evaluates as one table.

>>> import eventide as ev
>>> print(ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).").explain_spark())
reading
  send win(_) by argument 1 to stage 1
stage 1
  rich(_) by X
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eventide.spark.batch import run
    from eventide.spark.streaming import stream

__all__ = ["run", "stream"]
_MODULES = {"run": "batch", "stream": "streaming"}


def __getattr__(name: str) -> Any:
    if name in __all__:  # loaded when first used, as are the public names of the package
        return getattr(import_module(f"eventide.spark.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'eventide.spark' has no attribute {name!r}")
