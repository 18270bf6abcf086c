"""A growing directory: files of every form, each once; a damaged file or line is a problem, not an end."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark.feeds import Feed

from eventide.spark.config import FileSource
from eventide.spark.failures import ServiceError
from eventide.spark.sources import open_source

pytestmark = pytest.mark.spark


def test_files_of_every_form_are_read_once(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("go|1|1|s|7.0\nbad line\nstop|2|2|s\n")
    (folder / "b.csv").write_text("time,event,ship,speed\n3,go,s,1\n4,go,s,1.5\n")
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(b'{"time": 5, "event": "go", "ship": "7"}\n'))
    pq.write_table(pa.table({"time": [6], "event": ["go"], "ship": [7], "speed": [7.0]}), folder / "d.parquet")
    (folder / "e.parquet").write_bytes(b"PAR1 but no more")
    (folder / "_unfinished.csv").write_text("go|9|9|s\n")
    feed = Feed(spark, FileSource(kind="files", path=folder), tmp_path / "state")
    rows = feed.run()
    found = [(row.source.rsplit("/", 1)[1], row.line, row.time, row.args) for row in rows]
    assert found == [
        ("a.csv", 1, 1, ["s", "7.0"]), ("a.csv", 2, None, None), ("a.csv", 3, 2, ["s"]),
        ("b.csv", 2, 3, ["s", "1"]), ("b.csv", 3, 4, ["s", "1.5"]), ("c.jsonl.gz", 1, 5, ["'7'"]),
        ("d.parquet", 1, 6, ["7", "7.0"]), ("e.parquet", 1, None, None),
    ]
    assert rows[1].text == "bad line"
    assert "damaged or incomplete" in rows[-1].problem
    assert feed.run() == []
    (folder / "f.csv").write_text("go|8|8|s\n")
    assert [row.time for row in feed.run()] == [8]


@pytest.mark.parametrize("limit", [{"max_files": 1}, {"max_bytes": 10}])
def test_a_batch_has_at_most_what_is_allowed(spark: Any, tmp_path: Path, limit: dict[str, int]) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for time in range(3):
        (folder / f"{time}.csv").write_text(f"go|{time}|{time}|s\n")
    feed = Feed(spark, FileSource(kind="files", path=folder, pattern="[01].csv", **limit), tmp_path / "state")
    assert [row.time for row in feed.run()] == [0, 1]
    assert [len(rows) for rows in feed.batches] == [1, 1]


def test_a_folder_that_is_not_there(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="there is no folder"):
        open_source(spark, FileSource(kind="files", path=tmp_path / "absent"))
