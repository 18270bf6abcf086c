"""Rows for people: the first of each batch on standard output."""

from __future__ import annotations

import sys
from typing import Any

from eventide.formats.results import WRITERS, text_columns
from eventide.spark.config import ConsoleSink


class ConsoleWriter:
    """Writes CSV."""

    def __init__(self, settings: ConsoleSink) -> None:
        self._rows = settings.rows

    def check(self) -> None:
        """Standard output is always there."""

    def write(self, frame: Any, batch: int) -> None:
        """Print the first rows, and how many there are if not all."""
        table = frame.limit(self._rows).toArrow()
        if not len(table):
            return
        ordered = table.sort_by([(name, "ascending") for name in table.column_names])
        WRITERS[".csv"]([text_columns(ordered)], sys.stdout.buffer)
        if len(table) == self._rows and (total := frame.count()) > self._rows:
            sys.stdout.buffer.write(f"… and {total - self._rows} more in batch {batch}\n".encode())
        sys.stdout.flush()
