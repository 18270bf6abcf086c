"""Demonstrations: stages one after the other, each told and timed; and the way of a stream through an application.

Nothing is prepared: the events are written to a CSV and read back, the rules are those that come with the
application, recognition runs on Spark, and every time is measured. All files stay in one folder, with which the same
can be done by hand.
"""

from __future__ import annotations

import os
import shutil
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import pyarrow as pa

from eventide.applications import Application
from eventide.applications.streams import row_count, write_background, write_csv
from eventide.formats.results import write_intervals as write_file
from eventide.results import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from eventide.program import Program

Period = tuple[int, int | None]
Work = TypeVar("Work")
WIDTH, LINES = 64, 14


class Say(Protocol):
    """How a demonstration speaks: finished steps are told, and what has just begun is shown while it lasts."""

    def __call__(self, text: str) -> None:
        """A finished step."""

    def begin(self, title: str) -> None:
        """A step that may take a while."""


@dataclass(frozen=True)
class Stage(Generic[Work]):
    """A step: its name in tables, what is shown while it lasts, and the function that does it and tells what came."""

    name: str
    title: str
    do: Callable[[Work], str]


def perform(stages: Sequence[Stage[Work]], work: Work, say: Say, took: dict[str, float]) -> None:
    """Go through the stages, tell each with its seconds, and note these in `took`."""
    for stage in stages:
        say.begin(stage.title)
        began = time.perf_counter()
        told = stage.do(work)
        took[stage.name] = time.perf_counter() - began
        say(f"{told}, {took[stage.name]:.2f} s")


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    """The Spark session; one that is started here ends here."""
    from eventide.spark.start import is_running, start_quietly

    running = is_running()
    session = start_quietly()
    try:
        yield session
    finally:
        if not running:
            session.stop()


def write_intervals(intervals: pa.Table, out: Path) -> None:
    """Intervals as `intervals.csv` and `intervals.parquet`."""
    for ending in ("csv", "parquet"):
        write_file(intervals, out / f"intervals.{ending}")


def copied_program(out: Path, rules: Path, *background: Path) -> Any:
    """The program of rules and background that are copied to a folder."""
    from eventide.program import load

    here, *more = (shutil.copyfile(path, out / path.name) for path in (rules, *background))
    program = load(here, background=more)
    program.require_sound()
    return program


def reported(out: Path, title: str, shown: pa.Table, facts: int, intervals: int, took: Mapping[str, float]) -> str:
    """Write the page of some rows as `report.html`, with the figures of a run, and tell so."""
    from eventide.report import write_report

    path = out / "report.html"
    figures: dict[str, Any] = {"facts": facts, "intervals": intervals, "seconds": [
        {"step": name, "seconds": round(value, 2)} for name, value in took.items()]}
    write_report(path, shown, title=title, statistics=figures)
    return f"report with timeline and tables: {path}"


def shared_data(path: str) -> Path | None:
    """A file of real data, if it is there: in the folder `$EVENTIDE_SHARED`, or in `shared` beside the checkout."""
    folder = Path(os.environ.get("EVENTIDE_SHARED") or Path(__file__).parents[4] / "shared")
    return folder / path if (folder / path).exists() else None


@dataclass(frozen=True)
class Source:
    """The input of a demonstration: files of events and of background relations, and what they are."""

    events: Sequence[str | Path]
    background: Mapping[str, Path]
    told: str


@dataclass
class Show:
    """One demonstration of an application, and what its stages hand on to each other."""

    application: Application
    source: Callable[[Path], Source]
    title: str
    out: Path
    noun: str
    """What the entity of the timeline is."""
    shown: Sequence[str] = ()
    """The fluents of the timeline; all, if none are named."""
    input: Source = field(init=False)
    program: Program = field(init=False)
    result: Result = field(init=False)
    took: dict[str, float] = field(default_factory=dict)


def demonstrate(show: Show, say: Say) -> None:
    """Run an application and tell each step; at the end the timeline of the entity for which most fluents hold."""
    say.begin("starting Spark")
    with spark_session():
        perform(STAGES, show, say, show.took)
    found = show.result.to_arrow().to_pylist()
    numbers = Counter(row["fluent"] for row in found)
    say("what was recognised\n" + "\n".join(summary(numbers, show.result.counts.facts, show.took)))
    entity = richest(found, show.shown)
    timelines = show.result.timeline().items()
    every = {fluent: periods for fluent, periods in timelines if _about(fluent, entity, show.shown)}
    own = dict(list(every.items())[:LINES])
    first = min(start for periods in own.values() for start, _ in periods)
    last = max(end or start for periods in own.values() for start, end in periods)
    more = [f"   and {len(every) - len(own)} more in the report"] if len(every) > len(own) else []
    say(f"{show.noun} {entity}, from {first} to {last}\n" + "\n".join([*timeline(own, first, last), *more]))
    files = " ".join(_shortly(path, show.out) for path in show.input.events)
    tables = " ".join(f"{name}={_shortly(path, show.out)}" for name, path in show.input.background.items())
    say(f"to do the same by hand, in {show.out}:\n   eventide run rules.ec --events {files} "
        f"{f'--background {tables} ' if tables else ''}--start {show.application.start} --tick {show.application.tick} "
        "-o intervals.csv")


def generated(application: Application, entities: int, nouns: str) -> Callable[[Path], Source]:
    """A generated stream, written to a CSV; `nouns` says what the entities of the generator are."""

    def source(out: Path) -> Source:
        stream = application.generate(entities)
        events = out / "events.csv"
        rows = write_csv(stream, events)
        assert rows == row_count(stream)
        tables = write_background(application.background(entities), out / "background")
        return Source([events], tables, f"{rows:,} generated rows of {len(stream)} kinds for {entities:,} {nouns}: "
                      f"{events} ({events.stat().st_size / 1e6:.1f} MB)")

    return source


def _take(show: Show) -> str:
    show.input = show.source(show.out)
    return show.input.told


def _compile(show: Show) -> str:
    from eventide.program import load

    rules = shutil.copyfile(show.application.rules, show.out / "rules.ec")
    show.program = load(rules, background=[f"{name}={path}" for name, path in show.input.background.items()])
    show.program.require_sound()
    return f"{len(show.program.model.clauses)} rules became a plan of {len(show.program.fluents)} fluents"


def _recognise(show: Show) -> str:
    from eventide.spark.batch import run
    from eventide.spark.tally import Tally

    with spark_session() as spark, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a program that runs in one bucket is no news here
        tally = Tally(spark)
        frame = run(show.program, list(show.input.events), start=show.application.start, tick=show.application.tick,
                    spark=spark, tally=tally)
        show.result = Result(frame.toArrow(), tally.counts)
    write_intervals(show.result.to_arrow(), show.out)
    return (f"{len(show.result):,} maximal intervals from {show.result.counts.facts:,} facts, on Spark: "
            f"{show.out / 'intervals.csv'}")


def _report(show: Show) -> str:
    result = show.result
    return reported(show.out, show.title, result.to_arrow(), result.counts.facts, len(result), show.took)


STAGES: tuple[Stage[Show], ...] = (
    Stage("events", "taking events", _take),
    Stage("rules", "compiling the rules", _compile),
    Stage("recognise", "recognising situations", _recognise),
    Stage("report", "writing the report", _report),
)


def summary(intervals: Counter[str], facts: int, took: dict[str, float]) -> Iterable[str]:
    """The closing table: what came of how many facts, and how long each step took.

    >>> print("\\n".join(summary(Counter({"rich": 2, "happy": 1}), 6, {"read": 0.25})))
       fluents                 intervals     steps          seconds
       rich                            2     read              0.25
       happy                           1     all               0.25
       2 from 6 facts                  3
    """
    wide = max(20, *map(len, intervals))
    left = [f"{fluent:{wide}} {number:12,}" for fluent, number in intervals.most_common()]
    left.append(f"{f'{len(intervals)} from {facts:,} facts':{wide}} {sum(intervals.values()):12,}")
    right = [f"{what:12} {seconds:9.2f}" for what, seconds in (*took.items(), ("all", sum(took.values())))]
    lines = [f"{'fluents':{wide}} {'intervals':>12}     {'steps':12} {'seconds':>9}"]
    for i in range(max(len(left), len(right))):
        lines.append(f"{left[i] if i < len(left) else '':{wide + 13}}     {right[i] if i < len(right) else ''}")
    return (f"   {line}".rstrip() for line in lines)


def richest(rows: Iterable[dict[str, object]], shown: Sequence[str]) -> str:
    """The entity for which the most different fluents of `shown` hold; the first of equals in order of their names."""
    fluents: dict[str, set[str]] = {}
    for row in rows:
        if not shown or row["fluent"] in shown:
            for entity in str(row["args"]).split("|"):
                fluents.setdefault(entity, set()).add(str(row["fluent"]))
    return min(fluents, key=lambda entity: (-len(fluents[entity]), entity))


def timeline(fluents: dict[str, list[Period]], low: int, high: int, width: int = WIDTH) -> Iterable[str]:
    """One line per fluent: a block where it holds during most of a cell, a thin bar where it holds during some of it.

    >>> print("\\n".join(timeline({"rich(ann)=true": [(2, 6)], "happy(ann)=true": [(1, None)]}, 0, 8, 8)))
       rich(ann)=true   ··████··
       happy(ann)=true  ·███████
    """
    margin = max(map(len, fluents), default=0)
    for fluent, periods in fluents.items():
        held = [0.0] * width
        for start, end in periods:
            first, last = ((min(max(time, low), high) - low) * width / max(high - low, 1)
                           for time in (start, high if end is None else end))
            for cell in range(int(first), min(int(last) + 1, width)):
                held[cell] += max(0.0, min(last, cell + 1) - max(first, cell))
        yield f"   {fluent:{margin}}  {''.join('█' if part >= 0.5 else '▏' if part else '·' for part in held)}"


def _about(fluent: str, entity: str, shown: Sequence[str]) -> bool:
    name, _, rest = fluent.partition("(")
    return (not shown or name in shown) and entity in rest.rpartition(")")[0].split(",")


def _shortly(path: str | Path, folder: Path) -> str:
    """A path as it is written from a folder, if it is inside."""
    text = str(path)
    return text.removeprefix(f"{folder}/")
