"""LARS on Spark: every bucket of entities is a run of its own over their facts; background facts are known in all.

An argument that all rules keep the same owns the rows (`analysis.lars.keys`). Programs without one run in one bucket.
Facts that come together count in the order of their table; tables of several files have no order between them.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from eventide.analysis.lars.keys import key_places
from eventide.engine.answers import SCHEMA
from eventide.errors import InputError
from eventide.formats.facts import Facts, FactTable, Value, column_of, column_values
from eventide.lars.program import LarsProgram
from eventide.lars.results import MODELS
from eventide.lars.running import flagged, flags_of
from eventide.lars.streams import arrival_numbers
from eventide.spark.batch import Table, inputs_of, session_of
from eventide.spark.failures import carrying, clear_failures
from eventide.spark.parts import buckets_of_values
from eventide.spark.start import start as start_spark
from eventide.syntax.lars_trees import Predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SENT = pa.schema([("bucket", pa.int64()), ("time", pa.int64()), ("number", pa.int64()), ("name", pa.string()),
                   ("args", pa.string())])
Batches = Iterable[pa.RecordBatch]


def run(program: LarsProgram, events: object, *, end: int | None = None, buckets: int | None = None,
        spark: SparkSession | None = None, options: Mapping[str, Any] | None = None, **how: Any) -> DataFrame:
    """The rows of `program.run`, as a DataFrame that is computed when it is used.

    `events` are Spark DataFrames and paths, `options` say how they are read, and `how` are options of `program.run`.
    Without an `end` the facts are looked at first, for the last one.
    """
    program.require_sound()
    reading = dict(options or {})
    session = spark or session_of(events) or start_spark()
    number = buckets or int(session.conf.get("spark.sql.shuffle.partitions") or 1)
    job = planned(program, number, reading, **how)
    with clear_failures():
        inputs = inputs_of(session, events, program, reading)
        parts = [frame.mapInArrow(_Reading(job, source), _columns(_SENT)) for frame, source in inputs]
        marks = session.createDataFrame([(bucket, -1, -1, None, None) for bucket in range(job.buckets)],
                                        _columns(_SENT))
        sent = reduce(lambda a, b: a.unionByName(b), [*parts, marks])
        if end is None:
            end = max(int(sent.agg({"time": "max"}).toArrow().column(0)[0].as_py()), 0)
    return sent.repartition(job.buckets, "bucket").mapInArrow(_Evaluating(job, end), _columns(job.schema))


def run_with(program: object, events: object, given: Mapping[str, object], emit: str, *, horizon: object = None,
             tally: object = None, buckets: int | None = None, spark: SparkSession | None = None,
             **options: Any) -> DataFrame:
    """The same for `eventide.spark.run`, whose options are those of all languages."""
    if not isinstance(program, LarsProgram):
        raise InputError(f"a {type(program).__name__} is no program")
    refused = [name for name in ("window", "step", "start") if given.get(name) is not None]
    refused += [name for name, value in (("horizon", horizon), ("tally", tally)) if value is not None]
    if refused or emit != "timeline":
        raise InputError("on Spark a LARS program runs over all facts at once; leave out "
                         f"{', '.join(refused) or 'emit'}")
    how = {name: options.pop(name) for name in ("models", "contradictions", "earlier", "fluents") if name in options}
    end: Any = given.get("end")
    return run(program, events, end=end, buckets=buckets, spark=spark, options=options, **how)


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {'long' if pa.types.is_integer(field.type) else 'string'}" for field in schema)


def planned(program: LarsProgram, buckets: int, options: Mapping[str, Any], **how: Any) -> Job:
    """What the tasks of a run do; a program whose entities meet runs in one bucket, which is told."""
    tree = flagged(program.tree) if how.get("contradictions") == "flag" else program.tree
    places = key_places(tree)
    if how.get("models") == "all" and program.model.several:
        places = "answer streams of all entities are numbered together"
    if isinstance(places, str):
        warnings.warn(f"the program runs in one bucket: {places}", stacklevel=3)
        return Job(program, 1, None, dict(options), how)
    shown = {("⊥", predicate[1]): places[predicate] for predicate in flags_of(tree)}
    return Job(program, buckets, {**places, **shown}, dict(options), how)


@dataclass(frozen=True)
class Job:
    """A program, the places of its keys (None: one bucket), and how it is run: everything that the tasks share."""

    program: LarsProgram
    buckets: int
    places: Mapping[Predicate, int] | None
    options: Mapping[str, Any]
    how: Mapping[str, Any]

    @property
    def schema(self) -> pa.Schema:
        """The columns of the result, texts as such."""
        return pa.schema([(field.name, field.type if pa.types.is_integer(field.type) else pa.string())
                          for field in (MODELS if self.program.model.several else SCHEMA)])

    def sent(self, facts: Facts) -> Iterator[pa.RecordBatch]:
        """Facts as rows, each with its bucket."""
        for key, numbers in arrival_numbers(facts).items():
            table = facts.tables[key]
            place = None if self.places is None else self.places.get(key)
            if self.places is not None and place is None:
                continue  # no rule reads it
            columns = [column_values(column) for column in table.args]
            rows = list(zip(*columns, strict=True)) if columns else [()] * len(table)
            owners = np.zeros(len(table), np.int64) if place is None else self.buckets_of(columns[place])
            yield pa.RecordBatch.from_arrays([
                pa.array(owners), pa.array(table.time), pa.array(numbers), pa.array([table.name] * len(table)),
                pa.array([json.dumps(row) for row in rows], pa.string())], schema=_SENT)

    def buckets_of(self, values: Sequence[Value]) -> np.ndarray:
        """The buckets of keys, by their texts."""
        return buckets_of_values(list(map(str, values)), self.buckets)

    def evaluated(self, rows: pa.Table, end: int) -> pa.Table:
        """The rows of the entities that live in the buckets of these facts."""
        owned = set(rows["bucket"].to_pylist())
        facts = [row for row in rows.to_pylist() if row["name"] is not None]
        result = self.program.run(facts_of(facts), end=end, **self.how).to_arrow()
        found = pa.table([column.cast(field.type) for column, field in zip(result.columns, self.schema, strict=True)],
                         schema=self.schema)
        if self.places is None:
            return found
        kept = [self._owner(row) in owned for row in found.select(["fluent", "args"]).to_pylist()]
        return found.filter(pa.array(kept, pa.bool_()))

    def _owner(self, row: Mapping[str, str]) -> int:
        assert self.places is not None
        args = row["args"].split("|")
        place = self.places.get((row["fluent"], len(args)))
        if place is None:
            raise InputError(f"{row['fluent']} has an argument with '|' in it: {row['args']!r}; such values cannot be "
                             "spread over buckets")
        return int(self.buckets_of([args[place]])[0])


def facts_of(rows: Sequence[Mapping[str, Any]]) -> Facts:
    """Rows that were sent, as facts in order of arrival."""
    grouped: dict[Predicate, list[tuple[int, int, list[Value]]]] = {}
    for row in rows:
        args = json.loads(row["args"])
        grouped.setdefault((row["name"], len(args)), []).append((row["time"], row["number"], args))
    tables = {}
    for (name, arity), found in grouped.items():
        columns = tuple(column_of([args[place] for _, _, args in found]) for place in range(arity))
        tables[name, arity] = FactTable(name, "event", np.array([time for time, _, _ in found], np.int64), columns,
                                        rows=np.array([number for _, number, _ in found], np.int64))
    return Facts(tables)


class _Reading:
    """A task that reads a part of an input."""

    def __init__(self, job: Job, source: Table) -> None:
        self._job, self._source = job, source

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        return carrying(self._rows(batches))

    def _rows(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from self._job.sent(self._job.program.read(self._source(batch), **self._job.options))


class _Evaluating:
    """A task that evaluates the buckets it was given."""

    def __init__(self, job: Job, end: int) -> None:
        self._job, self._end = job, end

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        return carrying(self._rows(batches))

    def _rows(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        rows = pa.Table.from_batches(list(batches), _SENT)
        if rows.num_rows:
            yield from self._job.evaluated(rows, self._end).to_batches()
