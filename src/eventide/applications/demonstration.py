"""A demonstration of one application: a generated stream through the whole way, from a file of events to intervals.

Nothing is prepared: the events are written to a CSV and read back, the rules are those that come with the
application, and every time is measured. All files stay in one folder, with which the same can be done by hand.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from eventide.applications import APPLICATIONS, Application
from eventide.applications.streams import row_count, write_background, write_csv

Say = Callable[[str], None]
Period = tuple[int, int | None]
WIDTH = 64
TRIAL = 12


def demonstrate(name: str, out: Path, say: Say, *, entities: int, noun: str, shown: Sequence[str] = ()) -> None:
    """Run an application and tell each step; at the end the timeline of the entity for which most fluents hold.

    `shown` are the fluents of the timeline (all, if none are named), `noun` says what an entity is.
    """
    application = APPLICATIONS[name]
    took: dict[str, float] = {}
    began = time.perf_counter()

    def step(what: str) -> float:
        nonlocal began
        now = time.perf_counter()
        took[what], began = now - began, now
        return took[what]

    stream = application.generate(entities)
    events = out / "events.csv"
    rows = write_csv(stream, events)
    assert rows == row_count(stream)
    tables = write_background(application.background(entities), out / "background")
    rules = Path(shutil.copyfile(application.rules, out / "rules.ec"))
    size = events.stat().st_size / 1e6
    say(f"generated {rows:,} rows of {len(stream)} kinds for {entities:,} {noun}s: {events} ({size:.1f} MB), "
        f"{step('generate'):.2f} s")

    from eventide.program import load

    _trial(application)
    say(f"tried a stream of {TRIAL} {noun}s, so that the kernels are ready (compiled once, then read from a cache), "
        f"{step('trial'):.2f} s")
    background = [f"{table}={path}" for table, path in tables.items()]
    program = load(rules, background=background)
    program.require_sound()
    say(f"compiled {len(program.model.clauses)} rules to a plan of {len(program.fluents)} fluents, "
        f"{step('rules'):.2f} s")
    facts = program.read(events)
    say(f"read {len(facts):,} facts from {events}, {step('read'):.2f} s")
    result = program.run(facts, start=application.start, tick=application.tick)
    seconds = step("recognise")
    say(f"recognised {len(result):,} maximal intervals, {seconds:.2f} s ({rate(len(facts), seconds)})")
    for ending in ("csv", "parquet"):
        result.write(out / f"intervals.{ending}")
    say(f"wrote {out / 'intervals.csv'} and {out / 'intervals.parquet'}, {step('write'):.2f} s")
    found = result.to_arrow().to_pylist()
    say("what was recognised\n" + "\n".join(summary(Counter(row["fluent"] for row in found), len(facts), took)))
    entity = richest(found, shown)
    own = {fluent: periods for fluent, periods in result.timeline().items() if _about(fluent, entity, shown)}
    last = max(end or start for periods in own.values() for start, end in periods)
    say(f"{noun} {entity}, from {application.start} to {last}\n"
        + "\n".join(timeline(own, application.start, last)))
    relations = " ".join(f"{table}=background/{table}.csv" for table in tables)
    say(f"to do the same by hand, in {out}:\n"
        f"   eventide run rules.ec --events events.csv {f'--background {relations} ' if relations else ''}"
        f"--start {application.start} -o intervals.csv")


def _trial(application: Application) -> None:
    """The whole way with a few entities: whatever must be compiled is compiled here, not where time is measured."""
    from eventide.program import load

    with tempfile.TemporaryDirectory() as folder:
        write_csv(application.generate(TRIAL), f"{folder}/events.csv")
        tables = write_background(application.background(TRIAL), folder)
        program = load(application.rules, background=[f"{table}={path}" for table, path in tables.items()])
        program.run(f"{folder}/events.csv", start=application.start, tick=application.tick).write(f"{folder}/out.csv")


def rate(number: int, seconds: float) -> str:
    """Facts a second, in a readable unit.

    >>> rate(100_000, 0.05)
    '2.0 million facts a second'
    """
    return f"{number / max(seconds, 1e-9) / 1e6:.1f} million facts a second"


def summary(intervals: Counter[str], facts: int, took: dict[str, float]) -> Iterable[str]:
    """The closing table: what came of how many facts, and how long each step took.

    >>> print("\\n".join(summary(Counter({"rich": 2, "happy": 1}), 6, {"read": 0.25})))
       fluents                 intervals     steps          seconds
       rich                            2     read              0.25
       happy                           1     all               0.25
       2 from 6 facts                  3
    """
    left = [f"{fluent:20} {number:12,}" for fluent, number in intervals.most_common()]
    left.append(f"{f'{len(intervals)} from {facts:,} facts':20} {sum(intervals.values()):12,}")
    right = [f"{what:12} {seconds:9.2f}" for what, seconds in (*took.items(), ("all", sum(took.values())))]
    lines = [f"{'fluents':20} {'intervals':>12}     {'steps':12} {'seconds':>9}"]
    for i in range(max(len(left), len(right))):
        lines.append(f"{left[i] if i < len(left) else '':33}     {right[i] if i < len(right) else ''}")
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
