"""The first rows that a run on Spark left out, with their places: a second look at the inputs, taken only where the
tally has counted some. What reaches the driver is bounded."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from eventide.engine.domains import text_of
from eventide.engine.recognition import Settings
from eventide.engine.session import LATE
from eventide.formats.facts import BadRow, Column, FactTable, chosen, column_values
from eventide.formats.problems import SHOWN
from eventide.program import Program
from eventide.spark.batch import Reader, Table, inputs_of
from eventide.spark.failures import carrying, clear_failures
from eventide.spark.tally import LeftOut
from eventide.spark.tasks import by_template, with_read_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BAD = "input int, file string, row bigint, total bigint, bad binary"
_LATE = "fact string, args string, value string, start bigint, end bigint, change string, query_time bigint"
_LATE_SCHEMA = LATE.append(pa.field("query_time", pa.int64()))
_FILE, _ROW = "eventide file", "eventide row"


def first_bad_rows(program: Reader, events: object, *, spark: SparkSession, limit: int = SHOWN,
                   **options: Any) -> tuple[list[BadRow], int]:
    """The first rows that are no facts, and how many there are."""
    from pyspark.sql import functions as f

    skipping = {**options, "bad_rows": "skip"}
    with clear_failures():
        inputs = inputs_of(spark, events, program, skipping)
        found = _all(_with_places(frame, source).mapInArrow(_Bad(program, number, source, limit, skipping), _BAD)
                     for number, (frame, source) in enumerate(inputs))
        listed = found.where("bad is not null").orderBy("input", "file", "row").limit(limit).collect()
        total = found.agg(f.sum("total")).first()
    return [pickle.loads(row["bad"]) for row in listed], int(total[0] or 0) if total is not None else 0


def first_late_facts(program: Program, events: object, settings: Settings, *, spark: SparkSession, limit: int = SHOWN,
                     **options: Any) -> pa.Table:
    """The first facts that came too late for the windows of a settled run, as a run on one machine lists them."""
    with clear_failures():
        inputs = inputs_of(spark, events, program, options)
        found = _all(frame.mapInArrow(_Late(program, source, settings, options), _LATE) for frame, source in inputs)
        rows = found.orderBy("query_time", "fact", "start", "args", "end", "value").limit(limit).collect()
    return pa.Table.from_pylist([row.asDict() for row in rows], _LATE_SCHEMA)


def _all(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(lambda a, b: a.unionByName(b), frames)


def _with_places(frame: DataFrame, source: Table) -> DataFrame:
    """A table of files with the file and the number of every row."""
    if not source.in_pieces:
        return frame
    return frame.selectExpr("*", f"_metadata.file_path as `{_FILE}`", f"_metadata.row_index as `{_ROW}`")


class _Bad:
    """The first bad rows of each batch, pickled, and how many it has."""

    def __init__(self, program: Reader, number: int, source: Table, limit: int, options: Mapping[str, Any]) -> None:
        self._program, self._number, self._source, self._limit = program, number, source, limit
        self._options = options

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return carrying(self._rows(batches))

    def _rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            places = {name: batch[name] for name in (_FILE, _ROW) if name in batch.schema.names}
            facts = self._program.read(self._source(batch.drop_columns(list(places))), **self._options)
            if not facts.bad_count:
                continue
            listed = [_placed(row, places) for row in facts.bad[:self._limit]]
            number = len(listed)
            yield pa.record_batch({
                "input": pa.array([self._number] * (number + 1), pa.int32()),
                "file": pa.array([*(file for file, _, _ in listed), None], pa.string()),
                "row": pa.array([*(line for _, line, _ in listed), None], pa.int64()),
                "total": pa.array([*[0] * number, facts.bad_count], pa.int64()),
                "bad": pa.array([*(pickle.dumps(row) for _, _, row in listed), None], pa.binary())})


def _placed(row: BadRow, places: Mapping[str, pa.Array]) -> tuple[str, int, BadRow]:
    """A bad row of a batch with its file and line."""
    span = row.diagnostic.span
    if span is None:
        return "", 0, row
    if not places:
        return span.source, span.line, row
    file, line = unquote(places[_FILE][span.line - 1].as_py()), places[_ROW][span.line - 1].as_py() + 1
    file = "/" + file.removeprefix("file:").lstrip("/") if file.startswith("file:") else file
    moved = replace(span, source=file, line=line, end_line=line)
    return file, line, BadRow(replace(row.diagnostic, span=moved), row.text)


class _Late:
    """The facts of each batch that no window sees, as people read them."""

    def __init__(self, program: Program, source: Table, settings: Settings, options: Mapping[str, Any]) -> None:
        self._program, self._source, self._settings, self._options = program, source, settings, options

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return carrying(self._rows(batches))

    def _rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            facts = self._program.read(self._source(batch), **self._options)
            for template, table in by_template(self._program, facts).items():
                out = LeftOut(table, self._settings)
                if out.late.any():
                    read = with_read_columns(self._program, template, chosen(table, out.late))
                    yield from _listed(read, out.query[out.late]).to_batches()


def _listed(table: FactTable, query: np.ndarray) -> pa.Table:
    size = len(table)
    texts = [_texts(column) for column in table.args]
    args = ["|".join(row) for row in zip(*texts, strict=True)] or [""] * size
    ends = table.time + 1 if table.end is None else table.end
    change = ["+"] * size if table.op is None else np.where(table.op < 0, "-", "+").tolist()
    return pa.table({"fact": [table.name] * size, "args": args,
                     "value": [""] * size if table.value is None else _texts(table.value),
                     "start": table.time, "end": ends, "change": change, "query_time": query}, schema=_LATE_SCHEMA)


def _texts(column: Column) -> list[str]:
    return [text_of(value) for value in column_values(column)]
