"""The demonstration `maritime`: six hours of traffic, from raw reports to a report of situations, on Spark.

Nothing is prepared: the reports are written to a CSV as receivers hear them and read back, every step is that of the
library, and what is recognised is scored against what was staged. All files stay in one folder.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eventide.applications.demonstration import Say, Stage
from eventide.applications.maritime import stages
from eventide.applications.maritime.scoring import Score, score, table
from eventide.applications.maritime.staging import HORIZON
from eventide.applications.maritime.traffic import EPOCH, PER_REGION, Traffic, traffic


@dataclass
class Work(stages.Work):
    """Generated traffic on its way, and how well it was recognised."""

    number_of_vessels: int = PER_REGION
    seed: int = 0
    traffic: Traffic = field(init=False)
    paths: dict[str, Path] = field(init=False)
    scores: list[Score] = field(init=False)


def run(out: Path, say: Say, *, vessels: int = PER_REGION, seed: int = 0) -> Work:
    """Go through all stages and leave their files in `out`; `say` tells each."""
    work = Work(out, vessels, seed)
    stages.go(STAGES, work, say)
    say("what was recognised, against what was staged\n" + "\n".join(f"   {line}" for line in closing(work)))
    return work


def generate(work: Work) -> str:
    """Traffic, as files."""
    work.traffic = traffic(work.number_of_vessels, work.seed)
    work.paths = work.traffic.write(work.out)
    work.vessels, work.start, work.end = work.traffic.vessels, EPOCH - 2, EPOCH + HORIZON
    return (f"{work.traffic.positions.num_rows:,} reports of {work.number_of_vessels} vessels in "
            f"{HORIZON // 3600} hours: {work.paths['positions']}, with {len(work.traffic.situations):,} staged "
            "situations")


def clean(work: Work) -> str:
    """Reports without those that cannot be true, critical points, entering and leaving of areas."""
    from eventide.signals.area_files import read_areas
    from eventide.signals.proximity import Nearness
    from eventide.spark.positions import positions_on_spark
    from eventide.spark.spatial import AreaStep, PieceStep

    work.areas = read_areas(work.paths["areas"])
    work.nearness = Nearness()
    steps = (AreaStep(work.areas), PieceStep(work.nearness, work.buckets))
    work.signals = positions_on_spark(work.paths["positions"], preset="ais", steps=steps, spark=work.spark)
    counts = work.signals.counts
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in counts.items())
    bad = sum(counts.values())
    return f"{work.signals.read - bad:,} good reports; {bad:,} cannot be true: {reasons}"


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
    write_report(path, work.intervals, positions=positions, vessels=work.vessels, areas=work.paths["areas"],
                 title=f"{work.number_of_vessels} vessels in six hours", statistics=statistics(work), warnings=[
                     f"{number:,} reports were left out: {reason}" for reason, number in counts.items()])
    return f"report with timeline and map: {path}"


STAGES: tuple[Stage[Work], ...] = (
    Stage("generate", "generating traffic", generate),
    Stage("start Spark", "starting Spark", stages.start),
    Stage("clean", "reading and cleaning reports, finding critical points and areas", clean),
    Stage("critical points", "writing critical points", stages.critical),
    Stage("proximity", "finding vessels near each other", stages.meet),
    Stage("recognise", "recognising situations", stages.recognise),
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
