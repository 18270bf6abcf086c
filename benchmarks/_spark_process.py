"""One run of the Spark benchmark in a process of its own: reads a task as JSON, prints what it measured as JSON."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

import eventide as ev
from eventide.applications import APPLICATIONS

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of_tree(root: int) -> float:
    """The CPU seconds of a process and everything below it, including what has ended and was waited for."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            parents[int(entry.name)] = int(fields[1])
            used[int(entry.name)] = sum(map(int, fields[11:15])) / TICKS
    total = 0.0
    for process, seconds in used.items():
        above: int | None = process
        while above is not None and above != root:
            above = parents.get(above)
        total += seconds if above == root else 0.0
    return total


def digest(table: pa.Table) -> str:
    """The number of rows, and a hash of them that does not depend on their order."""
    texts = dict.fromkeys(("fluent", "args", "value"), pa.string())
    plain = pa.table({name: table[name].cast(texts.get(name, pa.int64())) for name in table.column_names})
    text = pa.BufferOutputStream()
    pyarrow.csv.write_csv(plain.sort_by([(name, "ascending") for name in plain.column_names]), text)
    return f"{len(table)} {hashlib.sha256(text.getvalue()).hexdigest()}"


def measured(task: dict[str, Any]) -> dict[str, Any]:
    """The first run gives the rows, the others are timed: `cpu` and `wall` seconds of the best of them."""
    if task["bound"]:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    program = ev.load(APPLICATIONS["maritime"].rules, background=task["background"])
    times = {"start": 0, "end": task["end"]}
    if task["master"] is None:
        table = program.run(task["events"], **times).to_arrow()
        runs = [_timed(lambda: program.run(task["events"], **times)) for _ in range(task["repetitions"])]
    else:
        from eventide.spark.batch import run
        from eventide.spark.start import start

        spark = start(task["master"], buckets=task["buckets"], options=task["options"])
        table = run(program, task["events"], spark=spark, **times).toArrow()
        runs = [_timed(lambda: run(program, task["events"], spark=spark, **times)
                       .write.format("noop").mode("overwrite").save()) for _ in range(task["repetitions"])]
        spark.stop()
    return {"cpu": min((cpu for cpu, _ in runs), default=None), "wall": min((wall for _, wall in runs), default=None),
            "digest": digest(table)}


def _timed(work: Any) -> tuple[float, float]:
    cpu, wall = cpu_of_tree(os.getpid()), time.perf_counter()
    work()
    return cpu_of_tree(os.getpid()) - cpu, time.perf_counter() - wall


if __name__ == "__main__":
    print(json.dumps(measured(json.loads(sys.stdin.read()))))
