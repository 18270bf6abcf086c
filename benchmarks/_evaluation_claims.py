"""What the evaluation on the CAVIAR videos claims, and the curves of its pictures."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from _charts import Curve, Panel, chart
from _claims import Claim, claim
from _evaluation import FLUENTS, Marks, Scenes, Trial, agreement, caviar, trials
from eventide.errors import InputError
from eventide.report.svg import to_svg

KINDS = ("smooth", "strong")
MEANS = (0.5, 1.0, 2.0, 4.0)
MEAN = 1.0  # the noise of the pictures
THRESHOLDS = tuple(tenth / 10 for tenth in range(1, 10))
THRESHOLD = 0.5
MEMORIES = (0, 1, 2, 5, 10, 20, 30, 50, 75, 100, 150)
MEMORY = 50
NEAR = 0.01  # how near to PIEC a memory of 50 has to be


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the evaluation."""
    parser.add_argument("--means", type=float, nargs="+", default=MEANS, help="means of the noise (0.5 1 2 4)")
    parser.add_argument("--seeds", type=int, default=5, help="over how many seeds scores are averaged (5)")
    parser.add_argument("--labels", choices=("situation", "context"), default="situation", help="what is true")
    parser.add_argument("--frames", choices=("tracked", "video"), default="tracked",
                        help="the stream of a pair: where both are tracked, or the whole video")
    parser.add_argument("--videos", type=int, nargs="+", help="numbers of videos (all)")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="write the curves as SVG")


def evaluation(options: argparse.Namespace, *, needed: bool) -> Iterator[list[Claim]]:
    """The claims, noise by noise; nothing where the videos are absent, unless they are needed."""
    scenes = caviar(options.labels, options.frames, options.videos)
    if scenes is None:
        if needed:
            raise InputError("the CAVIAR videos are not here: there is no data/caviar in the folder of shared data")
        return
    for kind in KINDS:
        for mean in options.means:
            yield list(_claims(scenes, kind, mean, list(trials(scenes, kind, mean, options.seeds))))
    if options.plots is not None:
        options.plots.mkdir(parents=True, exist_ok=True)
        for name, text in pictures(scenes, options.seeds):
            (options.plots / name).write_text(text, encoding="utf-8")


def _claims(scenes: Scenes, kind: str, mean: float, runs: Sequence[Trial]) -> Iterator[Claim]:
    for fluent in FLUENTS:
        cell = f"{fluent}, {kind} noise, mean {mean:g}, threshold {THRESHOLD}"
        exact = _f1(scenes, runs, fluent, lambda t, f=fluent: t.piec(f, THRESHOLD))  # type: ignore[misc]
        points = _f1(scenes, runs, fluent, lambda t, f=fluent: t.point_based(f, THRESHOLD))  # type: ignore[misc]
        bounded = _f1(scenes, runs, fluent, lambda t, f=fluent: t.durations(f, THRESHOLD, MEMORY))  # type: ignore[misc]
        best, at = max((_f1(scenes, runs, fluent, lambda t, f=fluent, x=x: t.piec(f, x)), x)  # type: ignore[misc]
                       for x in THRESHOLDS)
        rival, its = max((_f1(scenes, runs, fluent, lambda t, f=fluent, x=x: t.point_based(f, x)), x)  # type: ignore[misc]
                         for x in THRESHOLDS)
        yield claim(f"{fluent}, {kind} noise, mean {mean:g}, best threshold ({at}): intervals", round(best, 3), "F1",
                    None, f"points, F1 {rival:.3f} with {its}", round(best / rival, 2) if rival else None, None)
        yield claim(f"{cell}: intervals", round(exact, 3), "F1", None, f"points, F1 {points:.3f}",
                    round(exact / points, 2) if points else None, exact >= points)
        yield claim(f"{cell}: oPIEC^bd, memory {MEMORY}", round(bounded, 3), "F1", None,
                    f"PIEC, F1 {exact:.3f}, at most {NEAR} away", round(bounded / exact, 3) if exact else None,
                    abs(bounded - exact) <= NEAR)
        same = _mean(agreement(t.durations(fluent, THRESHOLD, MEMORY), t.piec(fluent, THRESHOLD)) for t in runs)
        yield claim(f"{cell}: oPIEC^bd, memory {MEMORY}, PIEC as truth", round(same, 4), "F1", 1 - NEAR, "our limit",
                    round(same / (1 - NEAR), 3), same >= 1 - NEAR)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _f1(scenes: Scenes, runs: Sequence[Trial], fluent: str, marks: Callable[[Trial], Marks]) -> float:
    return _mean(scenes.score(marks(run), fluent).f1 for run in runs)


def pictures(scenes: Scenes, seeds: int) -> Iterator[tuple[str, str]]:
    """Names and texts of the pictures: over thresholds, over memories, and over memories with PIEC as the truth."""
    runs = {kind: list(trials(scenes, kind, MEAN, seeds)) for kind in KINDS}
    cells = [(kind, fluent) for kind in KINDS for fluent in FLUENTS]
    about = f"noise with mean {MEAN:g}, CAVIAR"
    for name, make, along, title in (
        ("evaluation-thresholds.svg", _over_thresholds, "threshold", "F1 against the labels over thresholds"),
        ("evaluation-memory.svg", _over_memories, "support set", f"F1 against the labels, threshold {THRESHOLD}"),
        ("evaluation-agreement.svg", _agreements, "support set", f"F1 against PIEC, threshold {THRESHOLD}"),
    ):
        panels = [Panel(f"{fluent}, {kind} noise", make(scenes, runs[kind], fluent)) for kind, fluent in cells]
        yield name, to_svg(chart(panels, f"{title}; {about}", along, columns=len(FLUENTS)))


def _curve(name: str, along: Sequence[float], value: Callable[[Any], float]) -> Curve:
    return Curve(name, tuple((float(x), value(x)) for x in along))


def _over_thresholds(scenes: Scenes, runs: Sequence[Trial], fluent: str) -> list[Curve]:
    def scored(marks: Callable[[Trial, float], Marks]) -> Callable[[float], float]:
        return lambda threshold: _f1(scenes, runs, fluent, lambda trial: marks(trial, threshold))

    return [_curve("points", THRESHOLDS, scored(lambda t, x: t.point_based(fluent, x))),
            _curve("PIEC", THRESHOLDS, scored(lambda t, x: t.piec(fluent, x))),
            _curve(f"oPIEC^b, {MEMORY}", THRESHOLDS, scored(lambda t, x: t.ranges(fluent, x, MEMORY))),
            _curve(f"oPIEC^bd, {MEMORY}", THRESHOLDS, scored(lambda t, x: t.durations(fluent, x, MEMORY)))]


def _over_memories(scenes: Scenes, runs: Sequence[Trial], fluent: str) -> list[Curve]:
    points = _f1(scenes, runs, fluent, lambda t: t.point_based(fluent, THRESHOLD))
    exact = _f1(scenes, runs, fluent, lambda t: t.piec(fluent, THRESHOLD))
    return [_curve("points", MEMORIES, lambda _: points), _curve("PIEC", MEMORIES, lambda _: exact),
            _curve("oPIEC^b", MEMORIES,
                   lambda m: _f1(scenes, runs, fluent, lambda t: t.ranges(fluent, THRESHOLD, m))),
            _curve("oPIEC^bd", MEMORIES,
                   lambda m: _f1(scenes, runs, fluent, lambda t: t.durations(fluent, THRESHOLD, m)))]


def _agreements(scenes: Scenes, runs: Sequence[Trial], fluent: str) -> list[Curve]:
    exact = [(trial, trial.piec(fluent, THRESHOLD)) for trial in runs]
    return [_curve("oPIEC^b", MEMORIES,
                   lambda m: _mean(agreement(t.ranges(fluent, THRESHOLD, m), e) for t, e in exact)),
            _curve("oPIEC^bd", MEMORIES,
                   lambda m: _mean(agreement(t.durations(fluent, THRESHOLD, m), e) for t, e in exact))]
