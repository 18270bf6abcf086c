"""`eventide stream` fed at a steady rate: files of maritime events appear in a folder, as fast as the rate says."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from _claims import Claim, claim
from eventide.applications import APPLICATIONS
from eventide.applications.maritime import generator as maritime
from eventide.applications.streams import write_background
from incremental import moved, tables_of

RATE = 200_000
VESSELS = 10_000
STEP, WINDOW = 3_600, 7_200
PAUSE = 2.0
Figures = dict[str, float]
CONFIG = """
[source]
kind = "files"
path = "events"
max_files = 40

[rules]
program = {rules!r}
background = {background!r}

[window]
window = {window}
step = {step}
start = 0

[sink]
kind = "parquet"
path = "answers"

[checkpoint]
path = "state"

[metrics]
port = {port}

[log]
level = "warning"

[spark]
master = "local[2]"
buckets = 2
"""


def slices(vessels: int) -> Iterator[tuple[list[pa.Table], int]]:
    """The events of an hour after the other without end, as one table for each shape, and how many they are."""
    for turn in range(1 << 20):
        stream = APPLICATIONS["maritime"].generate(vessels, seed=1 + turn)
        tables = tables_of(moved(stream, turn * maritime.HORIZON))
        for low in range(turn * maritime.HORIZON, (turn + 1) * maritime.HORIZON, STEP):
            shapes: dict[tuple[str, ...], list[pa.Table]] = {}
            for event, table in tables.items():
                arrival = table["arrival"].to_numpy()
                part = table.filter(pa.array((arrival > low) & (arrival <= low + STEP)))
                name = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(part), np.int32)), pa.array([event]))
                shapes.setdefault(tuple(table.column_names), []).append(part.append_column("event", name))
            found = [pa.concat_tables(each).unify_dictionaries() for each in shapes.values()]
            yield found, sum(map(len, found))


class Feed:
    """Files that are ready to be moved into a folder, in order, with the number of events up to each."""

    def __init__(self, folder: Path, events: int, vessels: int) -> None:
        self.target, ready = folder / "events", folder / "ready"
        self.target.mkdir()
        ready.mkdir()
        self._files: list[tuple[Path, int]] = []
        self.total = 0
        for hour, (tables, number) in enumerate(slices(vessels)):
            self.total += number
            for shape, table in enumerate(tables):
                path = ready / f"{hour:06d}-{shape}.parquet"
                pq.write_table(table, path)
                self._files.append((path, self.total))
            if self.total >= events:
                break
        self._next = 0

    def advance(self, events: float) -> bool:
        """Let files appear until so many events are there; whether there are more."""
        while self._next < len(self._files) and self._files[self._next][1] <= events:
            path = self._files[self._next][0]
            os.utime(path)
            shutil.move(path, self.target / path.name)
            self._next += 1
        return self._next < len(self._files)


def streaming(folder: Path, seconds: int, *, rate: int = RATE, vessels: int = VESSELS) -> list[Claim]:
    """How many events a second `eventide stream` keeps up with, and whether its state stays as it is."""
    feed = Feed(folder, rate * seconds, vessels)
    background = write_background(APPLICATIONS["maritime"].background(vessels), folder)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    (folder / "stream.toml").write_text(CONFIG.format(
        rules=str(APPLICATIONS["maritime"].rules), background=[f"{name}={path}" for name, path in background.items()],
        window=WINDOW, step=STEP, port=port))
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "eventide", "-q", "stream", str(folder / "stream.toml")],
                                   stdout=log, stderr=log, start_new_session=True)
    try:
        seen = list(_watched(process, port, feed, rate, seconds, folder / "log.txt"))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(120)
    return _claims(seen, feed.total, rate, vessels)


def _watched(process: subprocess.Popen[bytes], port: int, feed: Feed, rate: int, seconds: int, log: Path,
             ) -> Iterator[tuple[float, Figures]]:
    """The figures of the stream every now and then, with the seconds since the first file, until all is processed."""
    begun: float | None = None
    more = True
    while True:
        if process.poll() is not None:
            raise RuntimeError(f"the stream ended:\n{log.read_text()[-4000:]}")
        figures = _figures(port)
        if figures is not None:
            begun = begun if begun is not None else time.monotonic()
            passed = time.monotonic() - begun
            more = feed.advance(max(passed, 1.0) * rate)
            yield passed, figures
            if not more and figures["events_total"] >= feed.total:
                return
            if passed > 4 * seconds + 120:
                return
        time.sleep(PAUSE if begun is not None else 0.2)


def _figures(port: int) -> Figures | None:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
    except (urllib.error.URLError, OSError):
        return None
    pairs = (line.split()[:2] for line in lines if line and not line.startswith("#"))
    return {name.removeprefix("eventide_"): float(value) for name, value in pairs}


def _claims(seen: list[tuple[float, Figures]], total: int, rate: int, vessels: int) -> list[Claim]:
    passed, last = seen[-1]
    processed = last["events_total"]
    sustained = processed / passed
    states = [figures["state_bytes"] for at, figures in seen if at > passed / 3 and figures["state_bytes"]]
    middle = len(states) // 2
    growth = max(states[middle:]) / max(states[:middle]) if middle else 1.0
    name = f"spark stream, {total:,} events of {vessels:,} vessels"
    batches = last["batches_total"]
    return [
        claim(f"{name}: processed within {passed:.0f} s", round(sustained), "events/s", rate,
              f"{batches:.0f} batches of {last['batch_seconds_total'] / max(batches, 1):.1f} s",
              round(sustained / rate, 2), processed >= total and sustained >= 0.95 * rate),
        claim(f"{name}: state in the last third, against the one before", round(growth, 3), "times", 1.1,
              f"{last['state_bytes'] / 1e6:.0f} MB", round(growth / 1.1, 2), growth <= 1.1),
    ]
