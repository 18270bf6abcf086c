"""How fast files become columns and results become files, per row, on one core.

Not measured: the disk (files are in the cache of the system), compressed files, several cores.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from _claims import Claim, at_most, show
from eventide.applications import APPLICATIONS
from eventide.applications.streams import write_csv
from eventide.formats import read_events, write_intervals
from kernels import least_seconds


def reading(folder: Path, size: int) -> list[Claim]:
    """RTEC's form of a maritime stream to columns."""
    application = APPLICATIONS["maritime"]
    file = folder / "events.csv"
    rows = write_csv(application.generate(application.entities_for(size), seed=1), file)
    taken = least_seconds(lambda: read_events(file, lambda name: "interval" if name == "proximity" else "event"))
    return [at_most(f"reading RTEC's form, {rows:,} rows", taken / rows * 1e9, "ns per row", 250)]


def writing(folder: Path, size: int) -> list[Claim]:
    """Shuffled intervals to sorted files."""
    rng = np.random.default_rng(1)
    start = rng.integers(0, 10**6, size)
    entities = pa.array([str(i) for i in range(20_000)])
    table = pa.table({
        "fluent": pa.array(["stopped", "gap", "trawling"]).take(pa.array(rng.integers(0, 3, size))),
        "args": entities.take(pa.array(rng.integers(0, 20_000, size))), "value": pa.array(["true"] * size),
        "start": start, "end": pa.array(start + 5, mask=rng.random(size) < 0.1),
    })
    claims = []
    for ending in ("csv", "parquet", "jsonl"):
        file = folder / f"out.{ending}"
        taken = least_seconds(lambda file=file: write_intervals(table, file), 3)  # type: ignore[misc]
        claims.append(at_most(f"sorting and writing .{ending}, {size:,} rows", taken / size * 1e9, "ns per row", 1000))
    return claims


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--size", type=int, default=1_000_000, help="rows (1 million)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        return show((measure(Path(folder), options.size) for measure in (reading, writing)), as_json=options.json)


if __name__ == "__main__":
    raise SystemExit(main())
