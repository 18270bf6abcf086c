"""What the tests of sources share: a small program's reader, and streams that run to the end of what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eventide.formats import Facts, facts_from
from eventide.spark.records import RECORDS, as_records
from eventide.spark.sources import open_source


def read(source: object) -> Facts:
    """Reads as a program that knows the events `go` and `stop`, with one or two arguments."""
    return facts_from(source, lambda name: "event" if name in ("go", "stop") else None, bad_rows="skip",
                      arities=lambda name: (1, 2), names=("go", "stop"))


class Feed:
    """A stream of records from a source into memory; each run reads what is there now and goes on where it was."""

    def __init__(self, spark: Any, source: Any, checkpoint: Path) -> None:
        self.spark, self.source, self.checkpoint = spark, source, checkpoint
        self.batches: list[list[Any]] = []

    def run(self) -> list[Any]:
        """The records that have come since the last run, by source and line."""
        found: list[Any] = []

        def keep(frame: Any, batch: int) -> None:
            rows = frame.collect()
            self.batches.append(rows)
            found.extend(rows)

        records = open_source(self.spark, self.source).mapInArrow(as_records(read), RECORDS)
        query = (records.writeStream.foreachBatch(keep).option("checkpointLocation", str(self.checkpoint))
                 .trigger(availableNow=True).start())
        query.awaitTermination()
        return sorted(found, key=lambda row: (row.source, row.line))
