"""The process that Spark forks its Python workers from, with Eventide loaded: a new worker has nothing to import."""

from __future__ import annotations

from pyspark.daemon import manager

import eventide.spark.state
import eventide.spark.streaming
import eventide.spark.tasks  # noqa: F401

if __name__ == "__main__":
    manager()
