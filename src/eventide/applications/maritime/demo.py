"""The demonstration `maritime`: six hours of traffic, from raw reports to a report of situations, on Spark.

Nothing is prepared: the reports are written to a CSV as receivers hear them and read back, every step is that of the
library, and what is recognised is scored against what was staged. All files stay in one folder.
"""

from __future__ import annotations

import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from eventide.applications.demonstration import Say, Stage, perform, write_intervals
from eventide.applications.maritime.pipeline import RULES, UNUSED, background, program
from eventide.applications.maritime.scoring import Score, score, table
from eventide.applications.maritime.staging import HORIZON
from eventide.applications.maritime.traffic import EPOCH, PER_REGION, Traffic, traffic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from eventide.signals.areas import Areas
    from eventide.spark.positions import SparkSignals


@dataclass
class Work:
    """What the stages hand on to each other."""

    out: Path
    vessels: int = PER_REGION
    seed: int = 0
    traffic: Traffic = field(init=False)
    paths: dict[str, Path] = field(init=False)
    spark: SparkSession = field(init=False)
    started: bool = field(init=False)
    areas: Areas = field(init=False)
    signals: SparkSignals = field(init=False)
    facts: list[str] = field(default_factory=list)
    number: int = 0
    intervals: pa.Table = field(init=False)
    scores: list[Score] = field(init=False)
    took: dict[str, float] = field(default_factory=dict)


def run(out: Path, say: Say, *, vessels: int = PER_REGION, seed: int = 0) -> Work:
    """Go through all stages and leave their files in `out`; `say` tells each."""
    work = Work(out, vessels, seed)
    try:
        perform(STAGES, work, say, work.took)
    finally:
        if getattr(work, "started", False):
            work.spark.stop()
    say("what was recognised, against what was staged\n" + "\n".join(f"   {line}" for line in closing(work)))
    return work


def generate(work: Work) -> str:
    """Traffic, as files."""
    work.traffic = traffic(work.vessels, work.seed)
    work.paths = work.traffic.write(work.out)
    return (f"{work.traffic.positions.num_rows:,} reports of {work.vessels} vessels in {HORIZON // 3600} hours: "
            f"{work.paths['positions']}, with {len(work.traffic.situations):,} staged situations")


def start(work: Work) -> str:
    """A Spark session, unless there is one."""
    from eventide.spark.start import is_running
    from eventide.spark.start import start as start_spark

    work.started = not is_running()
    work.spark = start_spark()
    return f"Spark {work.spark.version} on {work.spark.sparkContext.master}"


def clean(work: Work) -> str:
    """Reports without those that cannot be true, critical points, entering and leaving of areas."""
    from eventide.signals.area_files import read_areas
    from eventide.signals.proximity import Nearness
    from eventide.spark.positions import positions_on_spark
    from eventide.spark.spatial import AreaStep, PieceStep

    work.areas = read_areas(work.paths["areas"])
    steps = (AreaStep(work.areas), PieceStep(Nearness(), _buckets(work)))
    work.signals = positions_on_spark(work.paths["positions"], preset="ais", steps=steps, spark=work.spark)
    counts = work.signals.counts
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in counts.items())
    bad = sum(counts.values())
    return f"{work.signals.read - bad:,} good reports; {bad:,} cannot be true: {reasons}"


def critical(work: Work) -> str:
    """The facts of the reports, as files."""
    frames = {name: frame for name, frame in work.signals.facts.items() if name not in UNUSED}
    with ThreadPoolExecutor(4) as pool:  # many small jobs of Spark, each mostly waiting
        facts = dict(zip(frames, pool.map(lambda frame: frame.toArrow(), frames.values()), strict=True))
    numbers = _write(work, facts)
    rest = sum(number for name, number in numbers.items() if name not in ("velocity", "entersArea", "leavesArea"))
    areas = numbers["entersArea"] + numbers["leavesArea"]
    return f"{rest:,} critical points, {numbers['velocity']:,} velocities, {areas:,} times an area was entered or left"


def meet(work: Work) -> str:
    """Who was near whom, as a file."""
    from eventide.signals.proximity import Nearness
    from eventide.spark.spatial import PIECES, periods_of

    near = periods_of(work.signals.packed(PIECES), Nearness(), _buckets(work))
    numbers = _write(work, {"proximity": near.toArrow()})
    return f"{numbers['proximity']:,} periods in which two vessels were near each other"


def recognise(work: Work) -> str:
    """The situations, on Spark."""
    from eventide.spark.batch import run as run_on_spark

    shutil.copyfile(RULES, work.out / "rules.ec")
    folder = work.out / "background"
    folder.mkdir(exist_ok=True)
    for name, relation in background(work.traffic.vessels, work.areas).items():
        pyarrow.csv.write_csv(relation, folder / f"{name}.csv")
    rules = program(work.traffic.vessels, work.areas)
    work.intervals = run_on_spark(rules, work.facts, start=EPOCH - 2, end=EPOCH + HORIZON, spark=work.spark).toArrow()
    write_intervals(work.intervals, work.out)
    return (f"{work.intervals.num_rows:,} maximal intervals of {len(rules.fluents)} fluents from {work.number:,} "
            f"facts: {work.out / 'intervals.csv'}")


def judge(work: Work) -> str:
    """What was recognised against what was staged."""
    work.scores = score(work.intervals, work.traffic.truth(), EPOCH + HORIZON)
    staged, found = sum(one.staged for one in work.scores), sum(one.found for one in work.scores)
    return f"{found:,} of {staged:,} staged situations found"


def report(work: Work) -> str:
    """One page with timeline, map and tables."""
    from eventide.report import write_report

    path = work.out / "report.html"
    positions = work.signals.positions.select("vessel", "time", "lon", "lat").toArrow()
    counts = work.signals.counts
    write_report(path, work.intervals, positions=positions, vessels=work.traffic.vessels, areas=work.paths["areas"],
                 title=f"{work.vessels} vessels in six hours", statistics=statistics(work), warnings=[
                     f"{number:,} reports were left out: {reason}" for reason, number in counts.items()])
    return f"report with timeline and map: {path}"


STAGES: tuple[Stage[Work], ...] = (
    Stage("generate", "generating traffic", generate),
    Stage("start Spark", "starting Spark", start),
    Stage("clean", "reading and cleaning reports, finding critical points and areas", clean),
    Stage("critical points", "writing critical points", critical),
    Stage("proximity", "finding vessels near each other", meet),
    Stage("recognise", "recognising situations", recognise),
    Stage("score", "scoring", judge),
    Stage("report", "writing the report", report),
)


def statistics(work: Work) -> dict[str, Any]:
    """Figures of the run for the report."""
    return {
        "reports": work.signals.read, "facts": work.number, "intervals": work.intervals.num_rows,
        "seconds": [{"stage": name, "seconds": round(seconds, 2)} for name, seconds in work.took.items()],
        "staged situations": [
            {"situation": one.fluent, "staged": one.staged, "recall": round(one.recall, 3),
             "recognised": one.recognised, "precision": round(one.precision, 3)} for one in work.scores],
    }


def closing(work: Work) -> list[str]:
    """The closing table: scores of the staged situations, numbers of the others, and the time of each stage."""
    scored = {one.fluent for one in work.scores}
    others = Counter(name for name in work.intervals["fluent"].to_pylist() if name not in scored)
    lines = [*table(work.scores), "", "not staged: " + ", ".join(f"{name} {n:,}" for name, n in others.most_common())]
    seconds = [f"{name} {value:.1f}" for name, value in work.took.items()]
    return [*lines, "", f"seconds: {', '.join(seconds)}, all {sum(work.took.values()):.1f}"]


def _buckets(work: Work) -> int:
    return int(work.spark.conf.get("spark.sql.shuffle.partitions") or 1)


def _write(work: Work, tables: dict[str, pa.Table]) -> dict[str, int]:
    """Tables of facts as Parquet, for the run; how many rows each has."""
    folder = work.out / "facts"
    folder.mkdir(exist_ok=True)
    for name, found in tables.items():
        pyarrow.parquet.write_table(found, folder / f"{name}.parquet")
        work.facts.append(f"{name}={folder / name}.parquet")
        work.number += found.num_rows
    return {name: found.num_rows for name, found in tables.items()}
