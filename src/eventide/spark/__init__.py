"""Programs on Spark: planned over buckets of entities, each of which the engine evaluates as one table."""

from eventide.spark.batch import run
from eventide.spark.start import start

__all__ = ["run", "start"]
