"""A stream by its configuration, in a folder of its own: fed with files, run, and its output read back."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import eventide as ev
from eventide.cli.main import main

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
initiatedAt(at(X)=Place, T) :- happensAt(go(X, Place), T).
"""
CONFIG = """
[source]
kind = "files"
path = "in"
max_files = {files}
[rules]
program = "rules.ec"
{uncertain}
[window]
window = {window}
step = {step}
delay = {delay}
start = 0
emit = "{emit}"
[sink]
kind = "parquet"
path = "out"
[late]
kind = "jsonl"
path = "late"
[quarantine]
kind = "jsonl"
path = "quarantine"
[checkpoint]
path = "state"
[spark]
master = "local[2]"
buckets = 2
"""
Rows = list[tuple[Any, ...]]


class Configured:
    """A folder with rules, a configuration and files that come one after the other."""

    def __init__(self, folder: Path, rules: str = RULES, *, files: int = 1, window: int = 40, step: int = 10,
                 delay: int = 0, emit: str = "changes", more: str = "", uncertain: str = "") -> None:
        self.folder, self.config = folder, folder / "stream.toml"
        self.options: dict[str, Any] = {"window": window, "step": step, "start": 0}
        self.options |= tomllib.loads(uncertain)
        (folder / "in").mkdir(parents=True)
        (folder / "rules.ec").write_text(rules)
        self.config.write_text(CONFIG.format(files=files, window=window, step=step, delay=delay, emit=emit,
                                             uncertain=uncertain) + more)
        self._fed = 0

    def feed(self, text: str, ending: str = ".csv") -> Path:
        """One more file; it is there at once, and later than those before."""
        self._fed += 1
        path = self.folder / "in" / f"{self._fed:03d}{ending}"
        path.with_name(f".{path.name}").write_text(text)
        os.utime(path.with_name(f".{path.name}"), (self._fed, self._fed))
        path.with_name(f".{path.name}").rename(path)
        return path

    def run(self, *options: str) -> int:
        """`eventide stream`; its exit code."""
        return main(["stream", str(self.config), *(options or ("--once",))])

    def table(self) -> pa.Table:
        """The answers."""
        return pa.concat_tables([pq.ParquetFile(path).read() for path in self._answers()])

    def _answers(self) -> list[Path]:
        return sorted((self.folder / "out").glob("batch=*/*.parquet"))

    def out(self) -> Rows:
        """The rows of the answers."""
        return sorted_rows(self.table()) if self._answers() else []

    def lines(self, sink: str) -> list[dict[str, Any]]:
        """The rows of a side output."""
        return [json.loads(line) for path in sorted((self.folder / sink).glob("batch=*/*.json"))
                for line in path.read_text().splitlines()]

    def local(self) -> Rows:
        """The rows of a run on one machine over all files, up to the last query time of the stream."""
        program = ev.load(self.folder / "rules.ec")
        events = [str(path) for path in sorted((self.folder / "in").glob("[0-9]*"))]
        rows = sorted_rows(program.run(events, emit="changes", bad_rows="skip", **self.options).to_arrow())
        last = max(row[0] for row in self.out())
        return [row for row in rows if row[0] <= last]


def sorted_rows(table: pa.Table) -> Rows:
    """The rows of a table as tuples, in an order of their own."""
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)
