"""The demonstration `network`: flags of signals spread through a network on dense time, in DatalogMTL on Spark."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from eventide.applications.demonstration import (
    Say,
    Stage,
    copied_program,
    perform,
    reported,
    spark_session,
    summary,
    timeline,
    write_intervals,
)
from eventide.applications.network import RULES
from eventide.applications.network.generator import generate, write_facts

if TYPE_CHECKING:
    from eventide.program import Program

NODES, SIGNALS, UNITS = 40, 40, 600
SHOWN = ("monitors", "flags")
_LINES = 12


@dataclass
class Show:
    """What the stages hand on to each other."""

    out: Path
    nodes: int
    signals: int
    units: int
    facts: int = 0
    program: Program | Any = None
    intervals: pa.Table | Any = None
    took: dict[str, float] = field(default_factory=dict)


def run(out: Path, say: Say, *, nodes: int = NODES, signals: int = SIGNALS, units: int = UNITS) -> None:
    """Leave the facts, the rules, the derived intervals and a report in `out`; `say` tells each step."""
    show = Show(out, nodes, signals, units)
    say.begin("starting Spark")
    with spark_session():
        perform(STAGES, show, say, show.took)
    rows = show.intervals.to_pylist()
    numbers = Counter(str(row["fluent"]) for row in rows)
    say("what was derived\n" + "\n".join(summary(numbers, show.facts, show.took)))
    busy = Counter(row["args"].partition("|")[0] for row in rows if row["fluent"] == "flags")
    for node, _ in busy.most_common(1):
        say(f"node {node}, from 0 to {units}\n" + "\n".join(_pictured(rows, node, units)))
    say(f"to do the same by hand, in {out}:\n   eventide run network.mtl --events network.facts -o intervals.csv")


def _take(show: Show) -> str:
    path = show.out / "network.facts"
    show.facts = write_facts(generate(show.nodes, show.signals, show.units), path)
    return (f"{show.facts:,} generated facts about {show.nodes} nodes and {show.signals} signals in {show.units} time "
            f"units: {path}")


def _compile(show: Show) -> str:
    show.program = copied_program(show.out, RULES)
    return f"the rules derive {', '.join(show.program.fluents)}"


def _derive(show: Show) -> str:
    from eventide.spark import run as on_spark

    with spark_session() as spark, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what runs in one bucket is no news here
        show.intervals = on_spark(show.program, [show.out / "network.facts"], spark=spark).toArrow()
    write_intervals(show.intervals, show.out)
    return f"{show.intervals.num_rows:,} maximal intervals on Spark: {show.out / 'intervals.csv'}"


def _report(show: Show) -> str:
    return reported(show.out, "A network of monitors", show.intervals, show.facts, show.intervals.num_rows, show.took)


STAGES: tuple[Stage[Show], ...] = (
    Stage("facts", "making facts", _take),
    Stage("rules", "compiling the rules", _compile),
    Stage("derive", "deriving", _derive),
    Stage("report", "writing the report", _report),
)


def _pictured(rows: list[dict[str, Any]], node: str, units: int) -> list[str]:
    """The lines of what a node monitors and flags."""
    periods: dict[str, list[tuple[Any, Any]]] = {}
    for row in rows:
        if row["fluent"] in SHOWN and row["args"].partition("|")[0] == node:
            end = units if row["end"] is None else Fraction(row["end"])
            atom = f"{row['fluent']}({row['args'].replace('|', ',')})"
            periods.setdefault(atom, []).append((float(Fraction(row["start"])), float(end)))
    shown = dict(sorted(periods.items(), key=lambda item: item[0].partition(",")[2])[:_LINES])
    more = [f"   and {len(periods) - len(shown)} more in the report"] if len(periods) > len(shown) else []
    return [*timeline(shown, 0, units), *more]
