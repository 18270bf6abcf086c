"""The executors that the conformance tests run on: the same runs, on one machine and on Spark."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyarrow as pa

import eventide as ev
from eventide.engine.recognition import Settings
from eventide.spark.batch import partitioning_of, spread_over
from eventide.spark.batch import run as spark_run
from eventide.spark.parts import packed
from eventide.spark.tasks import Batches, Job, Source

BUCKETS = 2

Key = TypeVar("Key", bound=Hashable)
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Run:
    """A program, the files of its facts, and the options of the run."""

    program: ev.Program
    events: list[Path]
    options: dict[str, Any] = field(default_factory=dict)


class Executor(Protocol):
    """Whatever can run programs."""

    def answers(self, runs: Mapping[Key, Run]) -> Mapping[Key, Rows]:
        """The rows of every run, in the order that the executor gives them."""


class Local:
    """One run after the other in this process; a run that fails fails when its rows are asked for."""

    def answers(self, runs: Mapping[Key, Run]) -> Mapping[Key, Rows]:
        return _OneByOne(runs)


class _OneByOne(dict[Any, Rows]):
    def __init__(self, runs: Mapping[Any, Run]) -> None:
        self._runs = runs

    def __missing__(self, key: Hashable) -> Rows:
        run = self._runs[key]
        return self.setdefault(key, run.program.run(run.events, **run.options).to_arrow().to_pylist())


class OnSpark:
    """A single run as users have it; several in one job that shares its tasks, since a task costs more than they do."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark

    def answers(self, runs: Mapping[Key, Run]) -> Mapping[Key, Rows]:
        keys = list(runs)
        found: dict[Key, Rows] = {key: [] for key in runs}
        for row in sorted(self._rows(list(runs.values())), key=_in_time):
            found[keys[row.pop("run", 0)]].append(row)
        return found

    def _rows(self, runs: Sequence[Run]) -> Rows:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what runs in one bucket is told
            if len(runs) == 1:
                frame = spark_run(runs[0].program, list(map(str, runs[0].events)), spark=self._spark, **runs[0].options)
            else:
                numbers = self._spark.range(len(runs), numPartitions=2)
                frame = spread_over(self._spark, _shared(runs), [(numbers, lambda batch: batch["id"].to_pylist())])
            rows: Rows = frame.toArrow().to_pylist()
            return rows


def _shared(runs: Sequence[Run]) -> Many:
    jobs = tuple(map(_job, runs))
    assert len({job.emit for job in jobs}) == 1
    return Many(jobs[0].program, jobs[0].partitioning, BUCKETS, jobs[0].settings, jobs[0].emit, jobs=jobs,
                paths=tuple(list(map(str, run.events)) for run in runs))


def _job(run: Run) -> Job:
    options = dict(run.options)
    settings = Settings(**{f.name: options.pop(f.name) for f in fields(Settings) if f.name in options})
    spread = partitioning_of(run.program, windows=settings.window is not None)
    emit, fluents = options.pop("emit", "timeline"), options.pop("fluents", None)
    return Job(run.program, spread, BUCKETS, settings, emit, fluents, options=tuple(options.items()))


@dataclass(frozen=True)
class Many(Job):
    """Jobs that share their tasks: every packed row says whose it is. What it reads are numbers of jobs."""

    jobs: tuple[Job, ...] = ()
    paths: tuple[list[str], ...] = ()

    @property
    def last(self) -> int:
        return max(job.last for job in self.jobs)

    @property
    def columns(self) -> str:
        return f"{super().columns}, run int"

    def reading(self, batches: Batches, source: Source) -> Batches:
        for batch in batches:
            for number in source(batch):  # type: ignore[attr-defined]
                yield from self._of(number, self.jobs[number].reading(iter([self.paths[number]]), lambda paths: paths))

    def staging(self, batches: Batches, number: int) -> Batches:
        parts: list[list[pa.RecordBatch]] = [[] for _ in self.jobs]
        for batch in batches:
            for stage, bucket, part in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if stage != number:
                    yield packed(stage, bucket, part)
                elif part:
                    owner, content = pickle.loads(part)
                    parts[owner].append(packed(stage, bucket, content))
                else:  # the mark of a bucket is one of every job that has this stage
                    for owner, job in enumerate(self.jobs):
                        if number <= job.last:
                            parts[owner].append(packed(stage, bucket, b""))
        for owner, job in enumerate(self.jobs):
            yield from self._of(owner, job.staging(iter(parts[owner]), number))

    def finishing(self, batches: Batches) -> Batches:
        for batch in self.staging(batches, self.last):
            for part in batch["part"].to_pylist():
                owner, content = pickle.loads(part)
                for rows in self.jobs[owner].finishing(iter([packed(self.jobs[owner].last + 1, 0, content)])):
                    yield rows.append_column("run", pa.array([owner] * len(rows), pa.int32()))

    def _of(self, owner: int, rows: Batches) -> Batches:
        for batch in rows:
            for stage, bucket, part in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                final = stage > self.jobs[owner].last
                yield packed(self.last + 1 if final else stage, bucket, pickle.dumps((owner, part)))


def _in_time(row: dict[str, Any]) -> tuple[Any, ...]:
    return row.get("query_time", 0), row["start"], row["fluent"], row["args"], row["value"]
