"""Streams that are killed: nothing is lost, nothing comes twice, nobody is left behind.

A feeder moves files of generated events into a directory while `eventide stream` runs as a process of its own.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest
from tests.spark.configured import Configured

pytestmark = pytest.mark.spark
RULES = """
collectIntervals(near(_,_)=true).
initiatedAt(slow(V)=true, T) :- happensAt(slows(V), T).
terminatedAt(slow(V)=true, T) :- happensAt(speeds(V), T).
initiatedAt(at(V)=Place, T) :- happensAt(enters(V, Place), T).
holdsFor(meet(A, B)=true, I) :-
    holdsFor(near(A, B)=true, I0), holdsFor(slow(A)=true, I1), holdsFor(slow(B)=true, I2),
    intersect_all([I0, I1, I2], I).
"""
# short lives: Java need not compile well
QUICK = '[spark.options]\n"spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"\n'
FILES, AHEAD, ROWS, SPAN = 24, 2, 150, 20
KILLS = 10
PATIENCE = 120.0


def events(rng: random.Random, number: int) -> str:
    """The lines of one file: mostly of its own time, some from before."""
    lines = []
    for _ in range(ROWS):
        arrival = number * SPAN + rng.randrange(SPAN)
        at = max(1, arrival - rng.choice((0, 0, 0, 0, 5, 15, 60)))
        one, other = rng.sample([f"v{i}" for i in range(12)], 2)
        lines.append(rng.choice((f"slows|{arrival}|{at}|{one}", f"speeds|{arrival}|{at}|{one}",
                                 f"enters|{arrival}|{at}|{one}|{rng.choice('abc')}",
                                 f"near|{arrival}|{at}|{at + rng.randrange(1, 9)}|true|{one}|{other}")))
    return "\n".join([*lines, "no fact at all", ""])


@contextmanager
def feeder(stream: Configured, pause: float, seed: int) -> Iterator[None]:
    """Files that appear as long as this lasts, some ahead of the stream, and at least so many."""
    rng = random.Random(seed)
    ended = threading.Event()

    def feed() -> None:
        for number in count():
            stream.feed(events(rng, number))
            while not ended.wait(pause) and number > AHEAD * (finished(stream) + 1):
                pass
            if ended.is_set() and number >= FILES:
                return

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def finished(stream: Configured) -> int:
    """How many batches are done."""
    done = (stream.folder / "state" / "spark" / "commits").glob("[0-9]*")
    return max((int(path.name) + 1 for path in done), default=0)


class Process:
    """`eventide stream` as a process with descendants."""

    def __init__(self, stream: Configured, *options: str) -> None:
        self._log = (stream.folder / "said").open("a+")
        self._began = self._log.seek(0, os.SEEK_END)
        self.process = subprocess.Popen([sys.executable, "-m", "eventide", "stream", str(stream.config), *options],
                                        stderr=self._log, start_new_session=True)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.end(signal.SIGKILL)
        self._log.close()

    def said(self) -> str:
        """What it has said so far."""
        self._log.seek(self._began)
        return self._log.read()

    def wait_for(self, what: Callable[[], bool]) -> None:
        """Until something is so, or the process has ended."""
        until = time.monotonic() + PATIENCE
        while not what() and self.process.poll() is None:
            assert time.monotonic() < until, self.said()
            time.sleep(0.05)

    def end(self, number: signal.Signals) -> int:
        """Send the driver a signal; when this returns nobody of it is left."""
        family = descendants(self.process.pid)
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        until = time.monotonic() + PATIENCE
        while alive := [pid for pid in family if Path(f"/proc/{pid}").exists() and not _is_zombie(pid)]:
            assert time.monotonic() < until, f"left behind: {[_command(pid) for pid in alive]}"
            time.sleep(0.05)
        return code


def descendants(pid: int) -> dict[int, int]:
    """The processes below one, with the parent of each."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found: dict[int, int] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        found |= dict.fromkeys(children.get(parent, []), parent)
        waiting += children.get(parent, [])
    return found


def workers_of(process: Process) -> list[int]:
    """The Python workers, once there are any: one may serve all tasks, and between two batches there may be none."""
    found: list[int] = []

    def are_there() -> bool:
        family = {pid: parent for pid, parent in descendants(process.process.pid).items()
                  if "eventide.spark.daemon" in _command(pid)}
        found[:] = sorted(pid for pid, parent in family.items() if parent in family)  # not the one that makes them
        return bool(found)

    process.wait_for(are_there)
    assert found, process.said()
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def undisturbed(stream: Configured, folder: Path) -> Configured:
    """A stream over the same files that nothing happens to."""
    other = Configured(folder, RULES, files=FILES, delay=5)
    for path in sorted((stream.folder / "in").glob("[0-9]*")):
        shutil.copy2(path, folder / "in" / path.name)
    assert other.run() == 0
    return other


def same(stream: Configured, other: Configured) -> None:
    """All outputs of two streams are equal, row for row."""
    assert stream.out() == other.out() and len(stream.out()) > FILES
    for sink in "late", "quarantine":
        found, wanted = ([{**row, "source": Path(row.get("source") or "").name} for row in each.lines(sink)]
                         for each in (stream, other))
        assert sorted(found, key=repr) == sorted(wanted, key=repr) and found


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.usefixtures("spark")
@pytest.mark.slow
def test_a_driver_that_is_killed_again_and_again(tmp_path: Path) -> None:
    stream = Configured(tmp_path / "killed", RULES, files=2, delay=5, more=QUICK)
    rng = random.Random(7)
    with feeder(stream, 1.0, seed=3):
        for number in range(KILLS):
            before = finished(stream)
            with Process(stream) as process:
                process.wait_for(lambda process=process: "the stream runs" in process.said())  # type: ignore[misc]
                if number % 2:  # every other time not before something has been achieved
                    process.wait_for(lambda before=before: finished(stream) > before)  # type: ignore[misc]
                time.sleep(rng.uniform(0.0, 4.0))
                assert process.end(signal.SIGKILL) == -signal.SIGKILL, process.said()
    assert finished(stream) >= KILLS // 2
    assert stream.run() == 0
    same(stream, undisturbed(stream, tmp_path / "undisturbed"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.usefixtures("spark")
def test_workers_that_are_killed_and_a_graceful_end(tmp_path: Path) -> None:
    """Tasks that lose their worker are tried again; SIGTERM lets the batch finish, and says what was done."""
    stream = Configured(tmp_path / "killed", RULES, files=1, delay=5, more=QUICK)
    rng = random.Random(5)
    with feeder(stream, 0.5, seed=4), Process(stream) as process:
        for batch in 1, 4, 8:
            process.wait_for(lambda batch=batch: f"batch {batch}:" in process.said())  # type: ignore[misc]
            found = workers_of(process)
            for pid in rng.sample(found, min(2, len(found))):
                with suppress(ProcessLookupError):  # it has ended by itself
                    os.kill(pid, signal.SIGKILL)
        process.wait_for(lambda: "batch 10:" in process.said())
        assert process.end(signal.SIGTERM) == 0, process.said()
    log = (stream.folder / "said").read_text()
    assert "stopping after the batch at hand" in log and "stopped after" in log and "Traceback" not in log
    assert stream.run() == 0
    same(stream, undisturbed(stream, tmp_path / "undisturbed"))
