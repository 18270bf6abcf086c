"""Rows of a batch to a service, from the tasks that have them. Knows no service."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from eventide.errors import EventideError
from eventide.formats.results import WRITERS, text_columns
from eventide.spark.failures import ServiceError

Send = Callable[[int, Iterator[pa.RecordBatch]], None]
"""Delivers the rows of one partition, given its number."""


def deliver(frame: Any, send: Send) -> None:
    """Let every task send its rows; the first problem is raised when all have ended."""
    def step(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        problem = None
        try:
            send(context.partitionId() if context else 0, batches)
        except EventideError as error:
            problem = str(error)
        for _ in batches:
            pass  # Spark wants all of its rows to be taken
        yield pa.RecordBatch.from_pydict({"problem": pa.array([problem], pa.string())})

    _check_columns(frame)
    problems = [row.problem for row in frame.mapInArrow(step, "problem string").collect() if row.problem]
    if problems:
        raise ServiceError(problems[0])


def _check_columns(frame: Any) -> None:
    nested = [name for name, kind in frame.dtypes if kind.startswith(("array", "struct", "map", "binary"))]
    if nested:
        raise ServiceError(f"the column {nested[0]} has values with parts; this sink takes texts and numbers")


def json_lines(batch: pa.RecordBatch) -> list[bytes]:
    """Each row as a JSON object.

    >>> json_lines(pa.RecordBatch.from_pydict({"fluent": ["f"], "start": [5], "end": pa.array([None], pa.int64())}))
    [b'{"fluent": "f", "start": 5, "end": null}']
    """
    out = io.BytesIO()
    WRITERS[".jsonl"]([text_columns(pa.Table.from_batches([batch]))], out)
    return out.getvalue().split(b"\n")[:-1]


def numbered(part: int, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """The rows of a partition with the number of each, as JSON and as a dict."""
    number = 0
    for batch in batches:
        for line, row in zip(json_lines(batch), batch.to_pylist(), strict=True):
            yield f"{part}-{number}", line, row
            number += 1
