"""How fast files become columns and results become files, per row, on one core.

Not measured: the disk (files are in the cache of the system), compressed files, several cores.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from eventide.applications import APPLICATIONS
from eventide.applications.streams import write_csv
from eventide.formats import read_events, write_intervals
from kernels import least_seconds


def reading(folder: Path, size: int) -> list[dict[str, Any]]:
    """RTEC's form of a maritime stream to columns."""
    application = APPLICATIONS["maritime"]
    file = folder / "events.csv"
    rows = write_csv(application.generate(application.entities_for(size), seed=1), file)
    taken = least_seconds(lambda: read_events(file, lambda name: "interval" if name == "proximity" else "event"))
    return [claim(f"reading RTEC's form, {rows:,} rows", taken / rows, 250)]


def writing(folder: Path, size: int) -> list[dict[str, Any]]:
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
        claims.append(claim(f"sorting and writing .{ending}, {size:,} rows", taken / size, 1000))
    return claims


def claim(name: str, seconds: float, target: float) -> dict[str, Any]:
    """One line of the result."""
    value = seconds * 1e9
    return {"claim": name, "value": round(value, 1), "unit": "ns per row", "target": target, "rival": "our limit",
            "ratio": round(value / target, 2), "holds": value <= target}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--size", type=int, default=1_000_000, help="rows (1 million)")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        claims = [*reading(Path(folder), options.size), *writing(Path(folder), options.size)]
    if options.json:
        print(json.dumps(claims, indent=2))
    else:
        for c in claims:
            print(f"{c['claim']:45} {c['value']:8.1f} {c['unit']}  (at most {c['target']})  "
                  f"{'holds' if c['holds'] else 'FAILS'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
