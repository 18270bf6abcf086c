"""How fast probabilities and maximal intervals are recognised on one core, against the published programs' figures.

Point probabilities: the activity description over labels, positions, arrivals and departures, all of them uncertain;
facts in memory to rows with probabilities. The published program managed tens of facts a second.

Measured are checked probabilities in memory to intervals, with the state of all streams set up: streams of an activity
that comes and goes, four decimals, under noise. Not measured: files, several cores, compilation. Times are CPU times of
this process, the least of several runs. The published program's figures were recorded on a machine of this kind. The
cost along one long stream is compared without the system's part, which is about new memory.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import eventide as ev
from eventide.applications.activity import generator
from eventide.engine.memory import keep_freed_memory
from eventide.kernels.maximal_probability import first_improper
from eventide.probability import Recogniser
from eventide.probability.points import Points

THRESHOLD = 0.5
DURATIONS = (150, 60)
PIECES = 4  # parts of the long stream whose costs are compared

# name, arguments, million points per second that we ask for, and the published program's
KINDS: list[tuple[str, dict[str, Any], float | None, float]] = [
    ("PIEC and oPIEC", {}, 80, 0.7),
    ("oPIEC^b, memory 16", {"memory": 16}, 40, 0.074),
    ("oPIEC^b, memory 64", {"memory": 64}, 10, 0.032),
    ("oPIEC^bd, memory 16", {"memory": 16, "durations": DURATIONS}, 10, 0.074),
    ("oPIEC^bd, memory 64", {"memory": 64, "durations": DURATIONS}, 3, 0.032),
    ("published bins, memory 16", {"memory": 16, "durations": DURATIONS, "resolver": "published"}, None, 0.074),
    ("first in first out, memory 16", {"memory": 16, "resolver": "fifo"}, None, 0.074),
    ("oPIEC^b, memory 16, batches of 100", {"memory": 16, "batch": 100}, None, 0.074),
]


def activity(size: int, seed: int) -> npt.NDArray[np.float64]:
    """Probabilities of something that holds a quarter of the time, for a few hundred points at once, with noise."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(20, 400, size // 100 + 1)
    levels = np.where(generator.random(lengths.shape[0]) < 0.25, 0.8, 0.1)
    level = np.resize(np.repeat(levels, lengths), size)
    return np.clip(level + generator.normal(0, 0.12, size), 0, 1).round(4)


def as_points(probs: npt.NDArray[np.float64], streams: int) -> Points:
    """The probabilities as streams of equal lengths."""
    offsets = np.linspace(0, probs.shape[0], streams + 1).astype(np.int64)
    return Points(("stream",), [(i,) for i in range(streams)], offsets, None, probs)


def seconds(call: Callable[[], object]) -> float:
    """The CPU time of a call."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def recognition(points: Points, options: dict[str, Any]) -> None:
    """What is measured: check the probabilities, take all points."""
    assert first_improper(points.probs) < 0
    Recogniser(THRESHOLD, **options).take(points)


def speeds(size: int, streams: int, repetitions: int) -> Iterator[dict[str, Any]]:
    """One row per kind of recognition."""
    points = as_points(activity(size, 1), streams)
    for name, options, target, published in KINDS:
        recognition(as_points(points.probs[:100], 1), options)
        taken = min(seconds(lambda o=options: recognition(points, o)) for _ in range(repetitions))  # type: ignore[misc]
        value = size / taken / 1e6
        yield {"claim": f"{name}, {size:,} points, {streams:,} streams", "value": round(value, 2),
               "unit": "million points/s", "target": target,
               "rival": f"published program, {published} million points/s",
               "ratio": round(value / published, 1), "holds": None if target is None else value >= target}


def point_probabilities(scenes: int, repetitions: int) -> Iterator[dict[str, Any]]:
    """Facts per second of the activity description, with the history `marginal`."""
    random = np.random.default_rng(1)
    given = generator.generate(scenes, 1)
    stream = {name: pa.table(dict(given[name])) for name in (*generator.LABELS, "coord", "appear", "disappear")}
    for name, table_ in stream.items():
        sure = np.clip(1 - random.gamma(1.0, 0.25, len(table_)), 0.01, 1).round(3)
        stream[name] = table_.append_column("probability", pa.array(sure))
    program = ev.load(Path(generator.__file__).with_name("rules.ec"))
    facts = program.read(stream)
    taken = min(seconds(lambda: program.run(facts, tick=generator.TICK, probabilistic=True, history="marginal"))
                for _ in range(repetitions))
    value = len(facts) / taken / 1e6
    yield {"claim": f"point probabilities, activity description, {len(facts):,} facts", "value": round(value, 2),
           "unit": "million facts/s", "target": 1, "rival": "published program, 0.0001 million facts/s at most",
           "ratio": round(value / 1e-4), "holds": value >= 1}


def flatness(size: int) -> Iterator[dict[str, Any]]:
    """How the cost of a point at the end of one long stream compares with that at its beginning."""
    part = activity(max(1, size // 100), 2)
    for name, options, _, _ in KINDS[:2]:
        stream = Recogniser(THRESHOLD, **options)
        costs = []
        for _ in range(100):
            begin = os.times().user
            stream.take(Points((), [()], np.array([0, part.shape[0]]), None, part))
            costs.append(os.times().user - begin)
        quarter = len(costs) // PIECES
        first, last = sum(costs[:quarter]), sum(costs[-quarter:])
        ratio = last / max(first, 1e-9)
        yield {"claim": f"{name}, one stream of {size:,} points: last quarter against the first",
               "value": round(last / quarter / part.shape[0] * 1e9, 2), "unit": "ns per point", "target": None,
               "rival": "the first quarter", "ratio": round(ratio, 2), "holds": ratio < 1.5}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as text."""
    width = max(len(row["claim"]) for row in rows)
    lines = []
    for row in rows:
        target = "" if row["target"] is None else f"{row['target']:g}"
        verdict = {None: "", True: "holds", False: "FAILS"}[row["holds"]]
        lines.append(f"{row['claim']:{width}}  {row['value']:8.2f} {row['unit']:16}  {target:>4}  {verdict:6}"
                     f"{row['ratio']:8.2f} of {row['rival']}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--size", type=int, default=10_000_000, help="points over many streams (10 million)")
    parser.add_argument("--long", type=int, default=100_000_000, help="points of the long stream (100 million)")
    parser.add_argument("--scenes", type=int, default=300, help="scenes of about 1,900 facts (300)")
    options = parser.parse_args(argv)
    keep_freed_memory()
    streams = max(1, options.size // 5000)
    rows = [*point_probabilities(options.scenes, 5), *speeds(options.size, streams, 7), *flatness(options.long)]
    print(json.dumps(rows, indent=2) if options.json else table(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
