"""A Spark session with the settings that were measured to serve here. Not for cluster administration."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from eventide.errors import EventideError
from eventide.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCH_ROWS = 100_000
_TOLD = 10  # lines of what Java said, when it does not start
_LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}


def start(master: str | None = None, *, name: str = "eventide", buckets: int | None = None,
          options: Mapping[str, str] | None = None) -> SparkSession:
    """The Spark session, started if there is none; `master` is `local[*]` unless said otherwise.

    `buckets` is into how many parts the entities are spread: by default as many as the machine has cores.
    `options` are further settings by Spark's own names. On a cluster every machine needs the same environment at the
    same place.
    """
    # Numba reads its folder when it is first imported: all workers share one, so that only the first compiles.
    os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(sys.prefix) / "cache" / "numba"))
    os.environ.update(ensure_java())
    from pyspark.sql import SparkSession

    settings = {
        **(_LOOPBACK if stays_on_this_machine(master) else {}),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(buckets or os.cpu_count() or 1),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
        "spark.python.daemon.module": "eventide.spark.daemon",
        "spark.executorEnv.NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"],
    }
    builder = SparkSession.builder.master(master or "local[*]").appName(name)
    for key, value in {**settings, **(options or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def start_quietly(master: str | None = None) -> SparkSession:
    """The same for commands: what Java says about itself and failed tasks is told only if Spark does not start."""
    if is_running():
        return start(master)
    with tempfile.TemporaryFile() as log:
        try:
            with _errors_to(log.fileno()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return start(master)
        except Exception as error:
            log.seek(0)
            said = log.read().decode("utf-8", "replace").splitlines()[-_TOLD:]
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise EventideError("\n".join([f"Spark does not start: {reason[0]}", *said])) from None


@contextmanager
def _errors_to(file: int) -> Iterator[None]:
    """A process that is started meanwhile writes its messages to a file, as long as it lives."""
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(file, 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def stays_on_this_machine(master: str | None) -> bool:
    """Whether nobody on another machine has to find the driver.

    >>> [stays_on_this_machine(master) for master in (None, "local[2]", "spark://127.0.0.1:7077", "spark://head:7077")]
    [True, True, True, False]
    """
    return master is None or re.match(r"local\b|spark://(127\.0\.0\.1|localhost):", master) is not None


def is_running() -> bool:
    """Whether there is a session already."""
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None
