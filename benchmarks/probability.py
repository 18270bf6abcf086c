"""How fast probabilities and maximal intervals are recognised on one core, against the published programs' figures.

Point probabilities: the activity description over labels, positions, arrivals and departures, all of them uncertain;
facts in memory to rows with probabilities. The published program managed tens of facts a second.

Measured are checked probabilities in memory to intervals, with the state of all streams set up: streams of an activity
that comes and goes, four decimals, under noise. Not measured: files, several cores, compilation. Times are CPU times of
this process, the least of several runs. The published program's figures were recorded on a machine of this kind. The
cost along one long stream is compared without the system's part, which is about new memory.

The evaluation is about answers, not about speed: F1 of points and of intervals against what people saw in the CAVIAR
videos, and against what was staged in generated traffic at sea, under smooth and strong noise; means over seeds.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import eventide as ev
from _claims import Claim, claim, show
from _evaluation_claims import add_options, at_sea, evaluation
from eventide.applications.activity import generator
from eventide.engine.memory import keep_freed_memory
from eventide.kernels.maximal_probability import first_improper
from eventide.probability import Recogniser
from eventide.probability.points import Points

GROUPS = ("points", "intervals", "evaluation", "sea")
THRESHOLD = 0.5
DURATIONS = (150, 60)
PIECES = 4  # parts of the long stream whose costs are compared
WINDOWS = 10  # into which the activity description's stream is cut for a session

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


def unrest(size: int, seed: int) -> npt.NDArray[np.float64]:
    """Noise a little below the threshold: every few points begin, or end, an interval. Nothing costs much more."""
    return np.clip(np.random.default_rng(seed).normal(0.4, 0.2, size), 0, 1).round(4)


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


def speeds(size: int, streams: int, repetitions: int) -> Iterator[Claim]:
    """One row per kind of recognition, and one for data that make it hard."""
    points = as_points(activity(size, 1), streams)
    for name, options, target, published in KINDS:
        yield _speed(name, points, options, target, published, repetitions)
    name, options, target, published = KINDS[0]
    points = as_points(unrest(size, 1), streams)
    yield _speed(f"{name}, noise below the threshold", points, options, target, published, repetitions)


def _speed(name: str, points: Points, options: dict[str, Any], target: float | None, published: float,
           repetitions: int) -> Claim:
    size, streams = points.probs.shape[0], len(points.keys)
    recognition(as_points(points.probs[:100], 1), options)
    value = size / min(seconds(lambda: recognition(points, options)) for _ in range(repetitions)) / 1e6
    return claim(f"{name}, {size:,} points, {streams:,} streams", round(value, 2), "million points/s", target,
                 f"published program, {published} million points/s", round(value / published, 1),
                 None if target is None else value >= target)


def point_probabilities(scenes: int, repetitions: int) -> Iterator[Claim]:
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
    yield claim(f"point probabilities, activity description, {len(facts):,} facts", round(value, 2), "million facts/s",
                1, "published program, 0.0001 million facts/s at most", round(value / 1e-4), value >= 1)
    times = [t for table_ in facts for t in (table_.time.min(), table_.time.max())]
    step = int(max(times) - min(times)) // WINDOWS // generator.TICK * generator.TICK + generator.TICK
    parts = min(seconds(lambda: program.run(facts, tick=generator.TICK, probabilistic=True, window=step, step=step))
                for _ in range(repetitions))
    yield claim(f"the same in a session, {WINDOWS} windows", round(len(facts) / parts / 1e6, 2), "million facts/s",
                None, "one window", round(taken / parts, 2), None)


def flatness(size: int) -> Iterator[Claim]:
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
        yield claim(f"{name}, one stream of {size:,} points: last quarter against the first",
                    round(last / quarter / part.shape[0] * 1e9, 2), "ns per point", None, "the first quarter",
                    round(ratio, 2), ratio < 1.5)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--only", choices=GROUPS, help="one kind of claims")
    parser.add_argument("--size", type=int, default=10_000_000, help="points over many streams (10 million)")
    parser.add_argument("--long", type=int, default=100_000_000, help="points of the long stream (100 million)")
    parser.add_argument("--scenes", type=int, default=300, help="scenes of about 1,900 facts (300)")
    add_options(parser)
    options = parser.parse_args(argv)
    keep_freed_memory()
    return show(_measured(options), as_json=options.json)


def _measured(options: argparse.Namespace) -> Iterator[list[Claim]]:
    wanted = GROUPS if options.only is None else (options.only,)
    if "points" in wanted:
        yield list(point_probabilities(options.scenes, 5))
    if "intervals" in wanted:
        yield [*speeds(options.size, max(1, options.size // 5000), 7), *flatness(options.long)]
    if "evaluation" in wanted:
        yield from evaluation(options, needed=options.only is not None)
    if "sea" in wanted:
        yield from at_sea(options)


if __name__ == "__main__":
    raise SystemExit(main())
