"""The stages from positions to situations at sea on Spark, which the demonstration and runs on real positions share."""

from __future__ import annotations

import shutil
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from eventide.applications.demonstration import Say, Stage, perform, write_intervals
from eventide.applications.maritime.pipeline import RULES, UNUSED, background, program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from eventide.signals.areas import Areas
    from eventide.signals.proximity import Nearness
    from eventide.spark.positions import SparkSignals


@dataclass
class Work:
    """What the stages hand on to each other; `start` and `end` are the period in which situations are looked for."""

    out: Path
    spark: SparkSession = field(init=False)
    started: bool = field(init=False, default=False)
    vessels: pa.Table = field(init=False)
    areas: Areas = field(init=False)
    nearness: Nearness = field(init=False)
    signals: SparkSignals = field(init=False)
    start: int = field(init=False)
    end: int = field(init=False)
    facts: list[str] = field(init=False, default_factory=list)
    number: int = field(init=False, default=0)
    intervals: pa.Table = field(init=False)
    took: dict[str, float] = field(init=False, default_factory=dict)

    @property
    def buckets(self) -> int:
        """Into how many parts Spark divides the work."""
        return int(self.spark.conf.get("spark.sql.shuffle.partitions") or 1)

    def velocities(self, velocity: pa.Table) -> pa.Table:
        """The events `velocity` as the rules get them."""
        return velocity

    def meetings(self, proximity: pa.Table) -> pa.Table:
        """The periods `proximity` as the rules get them."""
        return proximity


Each = TypeVar("Each", bound=Work)


def go(stages: tuple[Stage[Each], ...], work: Each, say: Say) -> None:
    """Go through the stages; a Spark session that they start ends with them."""
    try:
        perform(stages, work, say, work.took)
    finally:
        if work.started:
            work.spark.stop()


def start(work: Work) -> str:
    """A Spark session, unless there is one."""
    from eventide.spark.start import is_running, start_quietly

    work.started = not is_running()
    work.spark = start_quietly()
    return f"Spark {work.spark.version} on {work.spark.sparkContext.master}"


def critical(work: Work) -> str:
    """The facts of the reports, as files."""
    frames = {name: frame for name, frame in work.signals.facts.items() if name not in UNUSED}
    with ThreadPoolExecutor(4) as pool:  # many small jobs of Spark, each mostly waiting
        facts = dict(zip(frames, pool.map(lambda frame: frame.toArrow(), frames.values()), strict=True))
    facts["velocity"] = work.velocities(facts["velocity"])
    numbers = _write(work, facts)
    rest = sum(number for name, number in numbers.items() if name not in ("velocity", "entersArea", "leavesArea"))
    areas = numbers["entersArea"] + numbers["leavesArea"]
    return f"{rest:,} critical points, {numbers['velocity']:,} velocities, {areas:,} times an area was entered or left"


def meet(work: Work) -> str:
    """Who was near whom, as a file."""
    from eventide.spark.spatial import PIECES, periods_of

    near = periods_of(work.signals.packed(PIECES), work.nearness, work.buckets)
    numbers = _write(work, {"proximity": work.meetings(near.toArrow())})
    return f"{numbers['proximity']:,} periods in which two vessels were near each other"


def recognise(work: Work) -> str:
    """The situations, on Spark."""
    from eventide.spark.batch import run as run_on_spark

    shutil.copyfile(RULES, work.out / "rules.ec")
    folder = work.out / "background"
    folder.mkdir(exist_ok=True)
    for name, relation in background(work.vessels, work.areas).items():
        pyarrow.csv.write_csv(relation, folder / f"{name}.csv")
    rules = program(work.vessels, work.areas)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few vessels make one bucket; that is no news here
        found = run_on_spark(rules, work.facts, start=work.start, end=work.end, spark=work.spark)
        work.intervals = found.toArrow()
    write_intervals(work.intervals, work.out)
    return (f"{work.intervals.num_rows:,} maximal intervals of {len(rules.fluents)} fluents from {work.number:,} "
            f"facts: {work.out / 'intervals.csv'}")


def _write(work: Work, tables: dict[str, pa.Table]) -> dict[str, int]:
    """Tables of facts as Parquet, for the run; how many rows each has."""
    folder = work.out / "facts"
    folder.mkdir(exist_ok=True)
    for name, found in tables.items():
        pyarrow.parquet.write_table(found, folder / f"{name}.parquet")
        work.facts.append(f"{name}={folder / name}.parquet")
        work.number += found.num_rows
    return {name: found.num_rows for name, found in tables.items()}
