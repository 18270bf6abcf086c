"""Spark's workers take the kernels from the same disk cache: nothing is compiled in a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import pytest

from eventide import kernels

pytestmark = [pytest.mark.spark, pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")]


def test_nothing_is_compiled_in_a_task(spark: Any) -> None:
    kernels.warm()

    def counted(batches: Iterator[Any]) -> Iterator[Any]:
        import importlib

        import numpy as np
        import pyarrow as pa

        inertia = importlib.import_module("eventide.kernels.inertia")
        for batch in batches:
            points = np.sort(np.array(batch.column(0)).astype(np.int64))
            found = inertia.inertia(points, np.ones(len(points), np.uint32), 8)
            stats = inertia._scan.stats
            yield pa.RecordBatch.from_pydict({"intervals": [len(found)], "hits": [sum(stats.cache_hits.values())],
                                              "misses": [sum(stats.cache_misses.values())]})

    rows = spark.range(10).repartition(1).mapInArrow(counted, "intervals long, hits long, misses long").toArrow()
    assert [(r["intervals"], r["misses"]) for r in rows.to_pylist()] == [(1, 0)]
    assert rows.to_pylist()[0]["hits"] >= 1
