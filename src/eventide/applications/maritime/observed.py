"""Situations at sea in real positions: the stages of the demonstration on files of any provider, without scores.

What the positions do not come with is taken from themselves, and told in the report: the gap limit from how often they
report, the period from when they do, areas near the coast from the outline that comes along.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eventide.applications.demonstration import Say, Stage, summary
from eventide.applications.maritime import stages
from eventide.errors import InputError
from eventide.signals.areas import Areas, dissolved, misplaced, near_coast
from eventide.signals.coast import Box
from eventide.signals.critical import Thresholds
from eventide.signals.habits import Habits, habits, habits_table
from eventide.signals.resting import rests, without_rests

COASTS = {"nearCoast": 2000.0, "nearCoast5k": 5000.0}
SHORE = ("nearCoast", "nearPorts")
KINDS = ("anchorage", "fishing", "natura", "nearCoast", "nearCoast5k", "nearPorts")
STILL = 0.01  # knots; reports round: 0.0 means slower than can be said, while to the rules 0 is no speed at all
KNOWN = 600  # seconds between reports over which a vessel counts as going straight
MARGIN = 0.1  # degrees around the positions


@dataclass
class Work(stages.Work):
    """Real positions on their way: where they are from, and what was found out about them."""

    positions: Sequence[str]
    preset: str | None = None
    mapping: Path | None = None
    area_files: Sequence[str] = ()
    gap: int | None = None
    bad_rows: str = "fail"
    read: int = field(init=False, default=0)
    rejected: dict[str, int] = field(init=False, default_factory=dict)
    habits: Habits = field(init=False)
    notes: list[str] = field(init=False, default_factory=list)

    def meetings(self, proximity: pa.Table) -> pa.Table:
        """Proximity without the time in which both vessels rest by the shore."""
        shore = Areas(tuple(area for area in self.areas if area.kind in SHORE))
        positions = self.signals.positions.toArrow().sort_by([("vessel", "ascending"), ("time", "ascending")])
        resting = rests(positions, shore)
        return without_rests(proximity, resting)

    def velocities(self, velocity: pa.Table) -> pa.Table:
        """A reported speed of 0.0 as a very low one."""
        at = velocity.schema.get_field_index("speed")
        speed = pc.max_element_wise(velocity["speed"], STILL)
        return velocity.set_column(at, velocity.schema.field(at), speed)


class HabitStep:
    """How some vessels report, as a step of `positions_on_spark`."""

    name = "habits"

    @property
    def schemas(self) -> Mapping[str, pa.Schema]:
        """None: habits are no facts."""
        return {}

    def __call__(self, positions: pa.Table) -> Mapping[str, pa.Table]:
        """The table of `habits_table`."""
        return {self.name: habits_table(positions)}


def run(out: Path, say: Say, positions: Sequence[str], *, preset: str | None = None, mapping: Path | None = None,
        areas: Sequence[str] = (), gap: int | None = None, bad_rows: str = "fail") -> Work:
    """Go through all stages and leave their files in `out`; `say` tells each."""
    work = Work(out, positions, preset, mapping, areas, gap, bad_rows)
    stages.go(STAGES, work, say)
    say("what was recognised\n" + "\n".join(closing(work)))
    return work


def clean(work: Work) -> str:
    """Reports without those that cannot be true; how the others report."""
    from eventide.spark.positions import positions_on_spark, unpacked_table

    if work.area_files:
        from eventide.signals.area_files import read_areas

        work.areas = dissolved(sum((read_areas(path) for path in work.area_files), Areas.of([])))
    step = HabitStep()
    work.signals = positions_on_spark(list(work.positions), preset=work.preset, mapping=work.mapping, steps=(step,),
                                      bad_rows=work.bad_rows, spark=work.spark)
    work.habits = habits(unpacked_table(row.part) for row in work.signals.packed(step.name).collect())
    work.read, work.rejected = work.signals.read, work.signals.counts
    work.vessels = work.signals.vessels.toArrow()
    bad = sum(work.rejected.values())
    if work.habits.box is None:
        raise InputError(f"none of {work.read:,} reports can be used: {_counts(work.rejected)}")
    return f"{work.read - bad:,} good reports; {bad:,} cannot be true{_after(_counts(work.rejected))}"


def reduce(work: Work) -> str:
    """Critical points, entering and leaving of areas, by limits that suit the data."""
    from eventide.signals.cleaning import Cleaning
    from eventide.signals.proximity import Nearness
    from eventide.spark.positions import positions_on_spark
    from eventide.spark.spatial import AreaStep, PieceStep

    usual = work.habits.usual()
    gap = work.gap or work.habits.gap()
    first, last = work.habits.period(gap) or (0, 0)
    _place(work)
    work.nearness = Nearness(gap=min(gap, KNOWN), bridge=max(7200, gap))
    steps = (AreaStep(work.areas, gap), PieceStep(work.nearness, work.buckets))
    raw = work.signals
    work.signals = positions_on_spark(raw.positions, cleaning=Cleaning(earliest=first, latest=last, any_vessel=True),
                                      thresholds=Thresholds(gap=gap), steps=steps, spark=work.spark)
    raw.release()
    apart = sum(work.signals.counts.values())
    if apart:
        work.rejected = work.rejected | {"apart": apart}
    work.start, work.end = first - 2, last + 1
    limit = "as asked for" if work.gap else f"nine in ten reports follow within {_length(usual or 0)}"
    work.notes[:0] = [f"Silence of more than {_length(gap)} is a gap: {limit}.",
                      *([f"{apart:,} reports lie apart from the period {_date(first)} to {_date(last)} and were left "
                         "out."] if apart else [])]
    return (f"{work.signals.read - apart:,} reports from {_date(first)} to {_date(last)}; silence of more than "
            f"{_length(gap)} is a gap")


def report(work: Work) -> str:
    """One page with timeline, map and tables."""
    from eventide.report import write_report

    path = work.out / "report.html"
    positions = work.signals.positions.select("vessel", "time", "lon", "lat").toArrow()
    areas = [((area.name, area.kind), area.shape) for area in work.areas] if work.area_files else None
    left_out = [f"{number:,} reports were left out: {reason}" for reason, number in work.rejected.items()]
    write_report(path, work.intervals, positions=positions, vessels=work.vessels, areas=areas,
                 title=", ".join(Path(name).name for name in work.positions), statistics=statistics(work),
                 warnings=[*work.notes, *left_out])
    return f"report with timeline and map: {path}"


STAGES: tuple[Stage[Work], ...] = (
    Stage("start Spark", "starting Spark", stages.start),
    Stage("clean", "reading and cleaning reports", clean),
    Stage("critical points", "finding critical points and areas", reduce),
    Stage("facts", "writing critical points", stages.critical),
    Stage("proximity", "finding vessels near each other", stages.meet),
    Stage("recognise", "recognising situations", stages.recognise),
    Stage("report", "writing the report", report),
)


def statistics(work: Work) -> dict[str, Any]:
    """Figures of the run for the report."""
    return {
        "reports": work.read, "facts": work.number, "intervals": work.intervals.num_rows,
        "seconds": [{"stage": name, "seconds": round(seconds, 2)} for name, seconds in work.took.items()],
    }


def closing(work: Work) -> list[str]:
    """The closing table: intervals by fluent, the time of each stage, reports that were left out; and what to know."""
    lines = summary(Counter(work.intervals["fluent"].to_pylist()), work.number, work.took)
    left_out = f"left out of {work.read:,} reports{_after(_counts(work.rejected)) or ': none'}"
    return [*lines, "", *(f"   {line}" for line in (left_out, *work.notes))]


def _place(work: Work) -> None:
    """The areas: those of files, or the coast around the positions; what they do not say becomes a note."""
    box = work.habits.box
    assert box is not None
    if work.area_files:
        wrong = misplaced(work.areas, box)
        if wrong:
            raise InputError(wrong)
    else:
        around = _around(box)
        work.areas = Areas.of(near_coast(around, metres, kind) for kind, metres in COASTS.items())
        work.notes.append("Near the coast means within 2 km (nearCoast) and 5 km (nearCoast5k) of the outline that "
                          "comes along, which is right to about a kilometre.")
    if any(kind in SHORE for kind in work.areas.kinds):
        work.notes.append("Two vessels that both rest near the coast or a port do not count as near each other.")
    absent = [kind for kind in KINDS if kind not in work.areas.kinds]
    if absent:
        work.notes.append(f"There are no areas of the kinds {', '.join(absent)}: rules about them find nothing, and "
                          "every stop counts as far from ports." if "nearPorts" in absent else
                          f"There are no areas of the kinds {', '.join(absent)}: rules about them find nothing.")


def _around(box: Box) -> Box:
    west, south = np.subtract(box[:2], MARGIN).tolist()
    east, north = np.add(box[2:], MARGIN).tolist()
    return max(west, -180.0), max(south, -90.0), min(east, 180.0), min(north, 90.0)


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in numbers.items())


def _after(text: str) -> str:
    return f": {text}" if text else ""


def _length(seconds: int) -> str:
    return f"{seconds} s" if seconds < 60 else f"{seconds / 60:.0f} min"


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
