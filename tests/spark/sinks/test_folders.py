"""Parquet and JSON lines as sinks: one folder per batch, whatever is repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.spark.sinks.rows import CLOSED, OPENED, frame

from eventide.spark.config import JsonSink, ParquetSink
from eventide.spark.failures import ServiceError
from eventide.spark.sinks import open_sink

pytestmark = pytest.mark.spark


def test_a_repeated_batch_is_there_once(spark: Any, tmp_path: Path) -> None:
    sink = open_sink(ParquetSink(kind="parquet", path=tmp_path / "out"), "s")
    sink.check()
    for rows, batch in ((OPENED, 0), (CLOSED, 1), (CLOSED, 1)):
        sink.write(frame(spark, rows), batch)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(tuple(row)[:6] for row in found) == sorted(row[:6] for row in OPENED + CLOSED)
    assert {row.batch for row in found} == {0, 1}


def test_json_lines_have_every_column(spark: Any, tmp_path: Path) -> None:
    sink = open_sink(JsonSink(kind="jsonl", path=tmp_path / "out"), "s")
    sink.check()
    sink.write(frame(spark, OPENED), 3)
    lines = [json.loads(line) for file in (tmp_path / "out" / "batch=3").glob("*.json")
             for line in file.read_text(encoding="utf-8").splitlines()]
    assert {(line["args"], line["end"]) for line in lines} == {("a|1", None), ("b", 9), ('it\'s "so", \\ ü', 9)}


def test_a_folder_belongs_to_one_stream(tmp_path: Path) -> None:
    settings = ParquetSink(kind="parquet", path=tmp_path / "out")
    open_sink(settings, "one").check()
    open_sink(settings, "one").check()
    with pytest.raises(ServiceError, match="another stream"):
        open_sink(settings, "two").check()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServiceError, match="cannot write to"):
        open_sink(ParquetSink(kind="parquet", path=tmp_path / "file" / "out"), "s").check()
