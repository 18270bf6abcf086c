"""Programs on Spark: planned over buckets of entities, each of which the engine evaluates as one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eventide.spark.batch import run

__all__ = ["run"]


def __getattr__(name: str) -> Any:
    if name == "run":  # loaded when first used, as are the public names of the package
        from eventide.spark.batch import run

        return run
    raise AttributeError(f"module 'eventide.spark' has no attribute {name!r}")
