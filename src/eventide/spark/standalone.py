"""A standalone cluster of Spark on this machine, from the classes that come with PySpark: to try and to measure what
several machines would do. Not for production."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from eventide.errors import EventideError
from eventide.java import ensure_java

_HOST = "127.0.0.1"


@contextmanager
def standalone(workers: int = 2, *, cores: int = 1, memory: str = "2g", seconds: float = 120.0) -> Iterator[str]:
    """The URL of a cluster of one master and some workers, which end with the block.

    EventideError if they have not found each other after so many seconds.
    """
    with tempfile.TemporaryDirectory(prefix="eventide-cluster-") as name, ExitStack() as stack:
        folder, port = Path(name), _free_port()
        url, log = f"spark://{_HOST}:{port}", folder / "master.log"
        stack.enter_context(_process(log, "master.Master", "--host", _HOST, "--port", str(port), "--webui-port", "0"))
        deadline = time.monotonic() + seconds
        _wait(log, "Starting Spark master", 1, deadline)
        for number in range(workers):
            stack.enter_context(_process(
                folder / f"worker{number}.log", "worker.Worker", url, "--host", _HOST, "--webui-port", "0", "--cores",
                str(cores), "--memory", memory, "--work-dir", str(folder / f"worker{number}")))
        _wait(log, "Registering worker", workers, deadline)
        yield url


@contextmanager
def _process(log: Path, name: str, *arguments: str) -> Iterator[None]:
    """A process of a cluster, while the block lasts."""
    import pyspark

    home = Path(pyspark.__file__).parent
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
    environ = {**os.environ, **ensure_java(), "SPARK_HOME": str(home), "SPARK_LOCAL_IP": _HOST}
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environ)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(log: Path, words: str, times: int, deadline: float) -> None:
    while log.read_text(errors="replace").count(words) < times:
        if time.monotonic() > deadline:
            last = log.read_text(errors="replace").strip().rpartition("\n")[2]
            raise EventideError(f"the cluster does not start; its master says last: {last or 'nothing'}")
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((_HOST, 0))
        return int(found.getsockname()[1])
