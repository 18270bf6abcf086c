"""The pictures of the evaluations, after Figures 7.1 to 7.6 of the thesis."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

import eventide as ev
from _charts import Curve, Panel, Runs, chart, compared
from _evaluation import FLUENTS, RULES, Marks, Scenes, Trial, Videos, agreement, trials
from _evaluation_claims import CONFIDENCE, KINDS, MEMORY, THRESHOLD, THRESHOLDS, f1, mean_of
from _evaluation_sea import Sea
from _evaluation_sea import trials as trials_at_sea
from eventide.probability import intervals
from eventide.report.svg import to_svg
from eventide.signals.label_noise import LabelNoise, noisy

MEAN = 1.0  # the noise of the pictures
MEMORIES = (0, 1, 2, 5, 10, 20, 30, 50, 75, 100, 150)
SMALL = 5  # the support set of the snapshot, as in Figure 7.2
MEETING = 0.7  # the threshold of Figure 7.6
EVENTS = tuple(2**power for power in range(4, 17))
PUBLISHED = 41  # facts a second of the published Prob-EC, at best, recorded on a machine of this kind
SECONDS = tuple((float(power), name) for power, name in enumerate(
    ("1 ms", "10 ms", "0.1 s", "1 s", "10 s", "100 s", "1000 s", "10000 s"), -3))


def of_videos(scenes: Videos, seeds: int, frames: str) -> Iterator[tuple[str, str]]:
    """Names and texts of the pictures about CAVIAR."""
    runs = {kind: list(trials(scenes, kind, MEAN, seeds, frames)) for kind in KINDS}
    about = f"noise with mean {MEAN:g}, CAVIAR"
    for name, make, along, title in (
        ("evaluation-thresholds.svg", _over_thresholds, "threshold", "F1 against the labels over thresholds"),
        ("evaluation-memory.svg", _over_memories, "support set", f"F1 against the labels, threshold {THRESHOLD}"),
        ("evaluation-agreement.svg", _agreements, "support set", f"F1 against PIEC, threshold {THRESHOLD}"),
    ):
        panels = [Panel(f"{fluent}, {kind} noise", make(scenes, runs[kind], fluent))
                  for kind in KINDS for fluent in FLUENTS]
        yield name, to_svg(chart(panels, f"{title}; {about}", along, columns=len(FLUENTS)))
    panels = [Panel(f"meeting, {kind} noise", _over_memories(scenes, runs[kind], "meeting", MEETING)) for kind in KINDS]
    title = f"F1 against the labels, threshold {MEETING}; {about}"
    yield "evaluation-meeting.svg", to_svg(chart(panels, title, "support set", columns=len(KINDS)))
    yield "evaluation-snapshot.svg", _snapshot(scenes, runs["strong"][0])
    yield "evaluation-times.svg", _times(scenes)


def of_sea(scenes: Sea, per: float, seeds: int) -> Iterator[tuple[str, str]]:
    """Names and texts of the pictures about traffic at sea."""
    panels = []
    for kind in KINDS:
        runs = list(trials_at_sea(scenes, CONFIDENCE[kind], per, seeds))
        panels += [Panel(f"{fluent}, {kind} noise", _agreements(scenes, runs, fluent)) for fluent in scenes.truth]
    title = f"F1 against PIEC, threshold {THRESHOLD}; generated traffic, a station for {per:g} km2"
    yield "evaluation-sea.svg", to_svg(chart(panels, title, "support set", columns=2))


def _curve(name: str, along: Sequence[float], value: Callable[[Any], float]) -> Curve:
    return Curve(name, tuple((float(x), value(x)) for x in along))


def _over_thresholds(scenes: Scenes, runs: Sequence[Trial], fluent: str) -> list[Curve]:
    def scored(marks: Callable[[Trial, float], Marks]) -> Callable[[float], float]:
        return lambda threshold: f1(scenes, runs, fluent, lambda trial: marks(trial, threshold))

    return [_curve("points", THRESHOLDS, scored(lambda t, x: t.point_based(fluent, x))),
            _curve("PIEC", THRESHOLDS, scored(lambda t, x: t.piec(fluent, x))),
            _curve(f"oPIEC^b, {MEMORY}", THRESHOLDS, scored(lambda t, x: t.ranges(fluent, x, MEMORY))),
            _curve(f"oPIEC^bd, {MEMORY}", THRESHOLDS, scored(lambda t, x: t.durations(fluent, x, MEMORY)))]


def _over_memories(scenes: Scenes, runs: Sequence[Trial], fluent: str, threshold: float = THRESHOLD) -> list[Curve]:
    points = f1(scenes, runs, fluent, lambda t: t.point_based(fluent, threshold))
    exact = f1(scenes, runs, fluent, lambda t: t.piec(fluent, threshold))
    return [_curve("points", MEMORIES, lambda _: points), _curve("PIEC", MEMORIES, lambda _: exact),
            _curve("oPIEC^b", MEMORIES, lambda m: f1(scenes, runs, fluent, lambda t: t.ranges(fluent, threshold, m))),
            _curve("oPIEC^bd", MEMORIES,
                   lambda m: f1(scenes, runs, fluent, lambda t: t.durations(fluent, threshold, m)))]


def _agreements(scenes: Scenes, runs: Sequence[Trial], fluent: str) -> list[Curve]:
    exact = [(trial, trial.piec(fluent, THRESHOLD)) for trial in runs]
    return [_curve("oPIEC^b", MEMORIES,
                   lambda m: mean_of(agreement(t.ranges(fluent, THRESHOLD, m), e) for t, e in exact)),
            _curve("oPIEC^bd", MEMORIES,
                   lambda m: mean_of(agreement(t.durations(fluent, THRESHOLD, m), e) for t, e in exact))]


def _snapshot(scenes: Videos, trial: Trial, fluent: str = "meeting") -> str:
    """The stream in which oPIEC^b is farthest from PIEC, with small support sets."""
    exact = trial.piec(fluent, THRESHOLD)
    ways = {"oPIEC^bd": trial.durations(fluent, THRESHOLD, SMALL), "oPIEC^b": trial.ranges(fluent, THRESHOLD, SMALL)}
    apart = np.add.reduceat((ways["oPIEC^b"] != exact).astype(np.int64), scenes.offsets[:-1])
    stream = int(apart.argmax())
    begin, end = scenes.offsets[stream : stream + 2].tolist()
    mine = exact[begin:end]
    rows = [("PIEC", (_runs(mine), [], []))]
    rows += [(name, (_runs(mine & marks[begin:end]), _runs(~mine & marks[begin:end]), _runs(mine & ~marks[begin:end])))
             for name, marks in ways.items()]
    title = f"Intervals of one pair: {fluent}, strong noise, threshold {THRESHOLD}, support sets of {SMALL}"
    return to_svg(compared(rows, 0, end - begin, title))


def _runs(marks: Marks) -> Runs:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], marks, [False])).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _times(scenes: Videos) -> str:
    """CPU seconds from facts in memory to the probabilities and intervals of `moving`."""
    program = ev.load(RULES)
    facts = noisy(scenes.facts, LabelNoise(kind="smooth", mean=MEAN))
    times = np.sort(np.concatenate([table["time"].to_numpy() for table in facts.values()]))
    taken = []
    for count in (count for count in EVENTS if count <= times.shape[0]):
        until = int(times[count - 1])
        read = program.read({name: table.filter(pc.less_equal(table["time"], until)) for name, table in facts.items()})
        seconds = min(_recognition(program, read, int(times[0]), until) for _ in range(3))
        taken.append((math.log2(count), seconds))
    panel = Panel("moving, smooth noise", [
        Curve("Eventide", tuple((x, math.log10(max(t, 1e-3))) for x, t in taken)),
        Curve("Prob-EC, published", tuple((x, math.log10(2**x / PUBLISHED)) for x, _ in taken))])
    return to_svg(chart([panel], "CPU time over events", "events, as a power of 2", columns=1, steps=SECONDS))


def _recognition(program: ev.Program, facts: Any, first: int, until: int) -> float:
    """How long it takes to recognise `moving` in facts."""
    begin = time.process_time()
    rows = program.run(facts, probabilistic=True, history="marginal", fluents=["moving"]).to_arrow()
    probs: dict[str, Any] = {}
    for row in rows.to_pylist():
        mine = probs.setdefault(row["args"], np.zeros(until - first + 1))
        mine[row["start"] - first : None if row["end"] is None else row["end"] - first] = row["probability"]
    intervals(probs, THRESHOLD, MEMORY, (150, 60))
    return time.process_time() - begin
