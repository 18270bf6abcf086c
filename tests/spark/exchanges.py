"""A run on Spark without Spark: the tasks one after the other, their packed rows sorted by bucket in between."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

import eventide as ev
from eventide.engine.recognition import Settings
from eventide.formats.facts import Facts
from eventide.probability.recognition import Uncertainty
from eventide.spark.batch import partitioning_of, uncertain_partitioning_of
from eventide.spark.parts import SCHEMA, packed
from eventide.spark.tasks import Job

Row = tuple[object, ...]


def rows_of(table: pa.Table) -> list[Row]:
    """The rows of a result, in an order of their own."""
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


def exchanged(program: ev.Program, facts: Iterable[Facts], *, buckets: int, start: int, end: int, tick: int = 1,
              window: int | None = None, step: int | None = None, emit: str = "timeline") -> list[Row]:
    """The rows that the tasks of a program give; each of the `facts` is what one of them reads."""
    spread = partitioning_of(program, windows=window is not None)
    job = Job(program, spread, buckets, Settings(window, step, start, end, tick), emit)  # type: ignore[arg-type]
    return evaluated(job, [row for part in facts for row in job.reading(iter([part]), lambda batch: batch)])


def uncertain(program: ev.Program, facts: Iterable[Facts], uncertainty: Uncertainty, *, buckets: int, start: int,
              end: int, window: int | None = None, step: int | None = None) -> list[Row]:
    """The same with probabilities; the `facts` are batches of what one task reads."""
    job = Job(program, uncertain_partitioning_of(program), buckets, Settings(window, step, start, end),
              uncertainty=uncertainty)
    return evaluated(job, list(job.reading(iter(facts), lambda batch: batch)))


def evaluated(job: Job, rows: list[pa.RecordBatch]) -> list[Row]:
    """The rows that come of what was read."""
    buckets = job.buckets
    rows = rows + [packed(stage, bucket, b"") for stage in range(1, job.last + 1) for bucket in range(buckets)]
    for stage in range(1, job.last + 1):
        tasks = [[row for row in rows if row["bucket"][0].as_py() == bucket] for bucket in range(buckets)]
        if stage == job.last:
            return rows_of(pa.Table.from_batches([b for task in tasks for b in job.finishing(iter(task))] or
                                                 [pa.RecordBatch.from_pylist([], SCHEMA)]))
        rows = [row for task in tasks for row in job.staging(iter(task), stage)]
    raise AssertionError("a job has a stage")
