"""How fast positions become events: areas and proximity, alone and after cleaning on Spark, for any number of vessels.

Traffic of constant density: two thirds of the vessels sail, one third lies in ports, twenty within two kilometres; an
area around every port and as many fishing areas. Every size has the same number of positions, so that costs compare.
Spark's CPU time is that of all its processes, from Parquet to counted rows, in the second of two runs; a rate for two
cores is what that CPU time allows if both are free. Not measured: reading CSV, compilation, start of Spark.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

from _claims import Claim, at_most, show
from eventide.signals.areas import Area, Areas, area_events, near_points
from eventide.signals.positions import POSITIONS
from eventide.signals.proximity import Nearness, proximity
from kernels import least_seconds

VESSELS = (1_000, 10_000, 50_000)
EVERY = 10  # seconds between reports
DENSITY = 400e6  # square metres per vessel
DEGREE = 111_195.0  # metres, also from west to east: all is near the equator
IN_PORT = 20


def traffic(size: int, vessels: int, seed: int = 1) -> tuple[pa.Table, Areas]:
    """About `size` positions of so many vessels, sorted by vessel and time, and areas in the same waters."""
    rng = np.random.default_rng(seed)
    reports = max(2, size // vessels)
    side = float(np.sqrt(vessels * DENSITY))
    ports = rng.uniform(0, side, (max(1, vessels // (3 * IN_PORT)), 2))
    moored = np.arange(vessels) % 3 == 0
    home = ports[rng.integers(0, len(ports), vessels)] + rng.normal(0, 1000, (vessels, 2))
    start = np.where(moored[:, None], home, rng.uniform(0, side, (vessels, 2)))
    angle, speed = rng.uniform(0, 2 * np.pi, vessels), np.where(moored, 0.0, rng.uniform(2, 10, vessels))
    time = np.arange(reports) * EVERY + rng.integers(0, EVERY, (vessels, reports))
    x, y = (_reflected(start[:, k, None] + step[:, None] * speed[:, None] * time, side) / DEGREE
            for k, step in ((0, np.sin(angle)), (1, np.cos(angle))))
    count = time.size
    columns = [np.repeat(201_000_001 + np.arange(vessels), reports), 1_700_000_000 + time.ravel(), x.ravel(), y.ravel(),
               np.repeat(speed / 0.5144, reports), np.repeat(np.degrees(angle) % 360, reports), np.full(count, 511.0)]
    table = pa.table([pa.array(column) for column in columns], schema=POSITIONS)
    near = near_points([f"port_{k}" for k in range(len(ports))], *(ports.T / DEGREE), 3000, "nearPorts")
    return table, near + Areas.of(_fishing(rng, side / DEGREE, len(ports)))


def _reflected(place: Any, side: float) -> Any:
    """Places that turn back at the edges."""
    turned = place % (2 * side)
    return np.where(turned > side, 2 * side - turned, turned)


def _fishing(rng: np.random.Generator, side: float, number: int) -> Iterator[Area]:
    for k in range(number):
        corner = np.sort(rng.uniform(0, 2 * np.pi, 60))
        reach = rng.uniform(0.05, 0.15, 60)[:, None]
        ring = rng.uniform(0, side, 2) + reach * np.column_stack([np.cos(corner), np.sin(corner)])
        yield Area(f"fishing_{k}", "fishing", shapely.buffer(shapely.Polygon(ring), 0))


# -- one core ----------------------------------------------------------------------------------------------------------


def local(size: int, vessels: int) -> list[Claim]:
    """The plain functions."""
    table, areas = traffic(size, vessels)
    rows = table.num_rows
    areas.grid  # noqa: B018  # made once, whatever the number of positions
    within = least_seconds(lambda: area_events(table, areas), 3) / rows
    near = least_seconds(lambda: proximity(table), 3) / rows
    name = f"{rows:,} positions, {vessels:,} vessels"
    return [at_most(f"areas on one core, {name}, {len(areas):,} areas", within * 1e9, "ns each", 500),
            at_most(f"proximity on one core, {name}", near * 1e9, "ns each", 1000)]


# -- Spark -------------------------------------------------------------------------------------------------------------


def on_spark(size: int, vessels: int, folder: Path) -> tuple[float, float]:
    """CPU microseconds per position through Spark: of everything, and of cleaning and critical points alone."""
    from eventide.spark.positions import Step, positions_on_spark
    from eventide.spark.spatial import PIECES, AreaStep, PieceStep, periods_of
    from eventide.spark.start import start

    session = start("local[2]", buckets=2)
    table, areas = traffic(size, vessels)
    file = folder / f"{vessels}.parquet"
    pq.write_table(table, file, row_group_size=1 << 18)
    nearness = Nearness()
    spatial: list[Step] = [AreaStep(areas), PieceStep(nearness, 2)]

    def run(steps: Sequence[Step]) -> None:
        signals = positions_on_spark(session.read.parquet(str(file)), steps=steps, buckets=2, spark=session)
        if steps:
            periods_of(signals.packed(PIECES), nearness, 2).write.format("noop").mode("overwrite").save()
        signals.release()

    return cpu_of_all(lambda: run(spatial)) / len(table) * 1e6, cpu_of_all(lambda: run(())) / len(table) * 1e6


def cpu_of_all(call: Callable[[], object]) -> float:
    """The CPU seconds of this process and everything it started, in the second of two calls."""
    call()
    before = _cpu()
    call()
    return _cpu() - before


def _cpu() -> float:
    """CPU seconds so far of this process and all below it, those that have ended included."""
    stats = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile; its parent has its time
            stats[int(entry.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    ours, new = {os.getpid()}, {os.getpid()}
    while new:
        new = {pid for pid, (parent, _) in stats.items() if parent in new} - ours
        ours |= new
    return sum(stats[pid][1] for pid in ours if pid in stats) / os.sysconf("SC_CLK_TCK")


def through_spark(size: int, vessels: Sequence[int]) -> list[Claim]:
    """The whole way for every number of vessels, what areas and proximity add, and how the cost grows."""
    with tempfile.TemporaryDirectory() as folder:
        if size > 200_000:
            on_spark(200_000, vessels[0], Path(folder))  # Java compiles what it runs often
        found = [on_spark(size, number, Path(folder)) for number in vessels]
    rows = []
    for number, (whole, without) in zip(vessels, found, strict=True):
        name = f"on Spark, {size:,} positions, {number:,} vessels"
        rows.append(at_most(f"areas and proximity {name}", whole - without, "µs CPU each", 3))
        rate = 2 / whole * 1000
        rows.append({"claim": f"cleaning to proximity {name}", "value": round(rate), "unit": "thousand/s on 2 cores",
                     "target": 300, "rival": "our limit", "ratio": round(rate / 300, 3), "holds": rate >= 300})
    name = f"growth of CPU per position from {vessels[0]:,} to {vessels[-1]:,} vessels"
    return [*rows, at_most(name, found[-1][0] / found[0][0], "times", 1.5)]


# -- output ------------------------------------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--size", type=int, default=3_600_000, help="positions (3.6 million)")
    parser.add_argument("--vessels", type=int, nargs="+", default=list(VESSELS), help="numbers of vessels")
    parser.add_argument("--only", choices=("local", "spark"), help="leave the other half out")
    options = parser.parse_args(argv)
    found = []
    if options.only != "spark":
        found += [local(options.size, number) for number in options.vessels]
    if options.only != "local":
        found.append(through_spark(options.size, options.vessels))
    return show(found, as_json=options.json)


if __name__ == "__main__":
    raise SystemExit(main())
