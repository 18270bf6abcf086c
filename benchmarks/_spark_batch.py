"""Batch runs on Spark against the engine on one machine, over generated maritime Parquet files."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from _claims import Claim, claim
from event_calculus import MILLION
from eventide.applications import APPLICATIONS
from eventide.applications.maritime import generator as maritime
from eventide.applications.streams import write_background
from eventide.spark.standalone import standalone
from incremental import generated, tables_of

TURNS = 4  # how often the generator's time goes round: about 1,000 events of each vessel
OVERHEAD, SPEEDUP, SKEW = 3.0, 1.6, 2.0
SHARE = 0.3
BUCKETS = 2
Found = dict[str, Any]


@dataclass(frozen=True)
class Input:
    """Files of events, the tables that belong to it, when they end, how many they are."""

    events: list[str]
    background: list[str]
    end: int
    rows: int


def written(folder: Path, size: int, *, skewed: bool = False) -> Input:
    """About so many maritime events as Parquet, a file for each shape; if skewed, 30 % of them are of one vessel."""
    vessels = max(size // (TURNS * APPLICATIONS["maritime"].rows_per_entity), 2)
    end = TURNS * maritime.HORIZON
    shapes: dict[tuple[str, ...], list[pa.Table]] = {}
    for event, table in tables_of(generated("maritime", vessels, end)).items():
        table = table.drop_columns("arrival")
        name = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(table), np.int32)), pa.array([event]))
        shapes.setdefault(tuple(table.column_names), []).append(
            (_of_one(table) if skewed else table).append_column("event", name))
    folder = folder / ("skewed" if skewed else "balanced")
    folder.mkdir()
    files, rows = [], 0
    for number, tables in enumerate(shapes.values()):
        whole = pa.concat_tables(tables).unify_dictionaries()
        files.append(str(folder / f"events{number}.parquet"))
        pq.write_table(whole.take(pa.array(np.argsort(whole["time"].to_numpy(), kind="stable"))), files[-1],
                       row_group_size=min(max(size // 8, 1000), MILLION))
        rows += len(whole)
    background = write_background(APPLICATIONS["maritime"].background(vessels), folder)
    return Input(files, [f"{name}={path}" for name, path in background.items()], end, rows)


def _of_one(table: pa.Table) -> pa.Table:
    """The table with 30 % of its rows about one vessel."""
    if "vessel" not in table.column_names:
        return table
    vessels, chosen = table["vessel"].to_numpy(), np.random.default_rng(1).random(len(table)) < SHARE
    one = pa.array(np.where(chosen, vessels.min(initial=1 << 40), vessels))
    return table.set_column(table.column_names.index("vessel"), "vessel", one)


def in_process(given: Input, master: str | None, *, repetitions: int = 2, bound: bool = False, **options: str) -> Found:
    """What a run measures in a process of its own; without a master it is the engine on one machine.

    A bound one has one core for all its processes.
    """
    task = {"master": master, "events": given.events, "background": given.background, "end": given.end,
            "buckets": BUCKETS, "repetitions": repetitions, "options": options, "bound": bound}
    done = subprocess.run([sys.executable, str(Path(__file__).with_name("_spark_process.py"))], input=json.dumps(task),
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the run on {master or 'one machine'} failed:\n{done.stderr[-4000:]}")
    found: Found = json.loads(done.stdout.splitlines()[-1])
    return found


class Batch:
    """Runs over one size of input; each is done once, when a claim needs it."""

    def __init__(self, folder: Path, size: int) -> None:
        self._folder, self._size = folder, size
        self._runs: dict[tuple[str | None, bool, bool], Found] = {}
        self._inputs: dict[bool, Input] = {}

    def _input(self, *, skewed: bool = False) -> Input:
        if skewed not in self._inputs:
            self._inputs[skewed] = written(self._folder, self._size, skewed=skewed)
        return self._inputs[skewed]

    def _run(self, master: str | None, *, skewed: bool = False, bound: bool = False) -> Found:
        key = (master, skewed, bound)
        if key not in self._runs:
            self._runs[key] = in_process(self._input(skewed=skewed), master, bound=bound)
        return self._runs[key]

    @property
    def _name(self) -> str:
        return f"spark batch, {self._input().rows:,} events"

    def overhead(self) -> Claim:
        """What Spark costs over the engine in one process."""
        local, one, rows = self._run(None), self._run("local[1]"), self._input().rows
        over, own = (one["cpu"] - local["cpu"]) / rows * 1e6, local["cpu"] / rows * 1e6
        return claim(f"{self._name}: CPU over the local engine", round(over, 2), "µs per event", OVERHEAD,
                     f"local engine {own:.2f} µs", round(one["cpu"] / local["cpu"], 2), over <= OVERHEAD)

    def cores(self) -> Claim:
        """What a second core gives. With local[1] alone Java and Python share two cores, so it is bound to one."""
        one, free, two = self._run("local[1]", bound=True), self._run("local[1]"), self._run("local[2]")
        speedup = one["wall"] / two["wall"]
        return claim(f"{self._name}: local[1] on one core to local[2]", round(speedup, 2), "times as fast", SPEEDUP,
                     f"{one['wall']:.1f} s on one core, {free['wall']:.1f} s where local[1] has two",
                     round(speedup / SPEEDUP, 2), speedup >= SPEEDUP)

    def skew(self) -> Claim:
        """What it takes if one vessel has much of everything."""
        two, skewed = self._run("local[2]"), self._run("local[2]", skewed=True)
        slower = skewed["wall"] / two["wall"]
        return claim(f"{self._name}: one vessel has {SHARE:.0%}", round(slower, 2), "times the time", SKEW,
                     f"{two['wall']:.1f} s balanced", round(slower / SKEW, 2), slower <= SKEW)

    def cluster(self) -> Claim:
        """Whether a standalone cluster answers what the engine in one process answers."""
        local = self._run(None)
        with standalone(2) as url:
            spread = in_process(self._input(), url, repetitions=0)
        equal = spread["digest"] == local["digest"]
        return claim(f"{self._name}: same rows on 1 master + 2 workers", int(equal), "of 1 run", 1,
                     f"local engine, {local['digest'].split()[0]} rows", float(equal), equal)
