"""What Spark costs: batch over the engine on one machine, more cores, skew, a cluster; how much a stream keeps up with.

A maritime stream of about 1,000 events per vessel in Parquet files, with the whole maritime description. CPU is that
of all processes (the driver, Java, Python workers), from /proc; times are the better of two runs after a first that
loads everything. The results go nowhere, except in the first run, whose rows are compared. Not measured: starting
Spark, writing results, a network between machines. The stream is fed by files at 200,000 events a second, all results
are written; the time counts from the first file to the last event, with the start of its operators.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from _claims import Claim, show
from _spark_batch import Batch
from _spark_stream import streaming
from event_calculus import MILLION

BATCH = {"overhead": Batch.overhead, "cores": Batch.cores, "skew": Batch.skew, "cluster": Batch.cluster}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--size", type=int, default=MILLION, help="events (1 million)")
    parser.add_argument("--full", action="store_true", help="10 million events, over 10,000 vessels")
    parser.add_argument("--only", choices=[*BATCH, "stream"], help="one kind of claims")
    parser.add_argument("--seconds", type=int, help="how long the stream is fed (60; with --full 300)")
    options = parser.parse_args(argv)
    return show(_measured(options), as_json=options.json)


def _measured(options: argparse.Namespace) -> Iterator[list[Claim]]:
    with tempfile.TemporaryDirectory() as folder:
        batch = Batch(Path(folder), 10 * MILLION if options.full else options.size)
        for name, measure in BATCH.items():
            if options.only in (None, name):
                yield [measure(batch)]
    if options.only in (None, "stream"):
        with tempfile.TemporaryDirectory() as folder:
            yield streaming(Path(folder), options.seconds or (300 if options.full else 60))


if __name__ == "__main__":
    raise SystemExit(main())
