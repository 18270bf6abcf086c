"""Rows of answers as the tests of sinks write them."""

from __future__ import annotations

from typing import Any

CHANGES = "query_time long, change string, fluent string, args string, value string, start long, end long"
Row = tuple[int, str, str, str, str, int, int | None]


def frame(spark: Any, rows: list[Row]) -> Any:
    """A batch of changes."""
    return spark.createDataFrame(rows, CHANGES)


OPENED: list[Row] = [(10, "+", "moving", "a|1", "true", 5, None), (10, "+", "moving", "b", "true", 7, 9),
                     (10, "+", "said", 'it\'s "so", \\ ü', "", 8, 9)]
CLOSED: list[Row] = [(20, "-", "moving", "a|1", "true", 5, None), (20, "+", "moving", "a|1", "true", 5, 15),
                     (20, "-", "moving", "b", "true", 7, 9), (30, "+", "moving", "c", "2.0", 25, None)]
