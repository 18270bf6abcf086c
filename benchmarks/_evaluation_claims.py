"""What the evaluations claim: on the CAVIAR videos, and on generated traffic at sea."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from _claims import Claim, claim
from _evaluation import Marks, Scenes, Trial, agreement, caviar, trials
from _evaluation_sea import sea
from _evaluation_sea import trials as trials_at_sea
from eventide.errors import InputError
from eventide.signals.noise import SMOOTH, STRONG

KINDS = ("smooth", "strong")
MEANS = (0.5, 1.0, 2.0, 4.0)
CONFIDENCE = {"smooth": SMOOTH, "strong": STRONG}
PER_STATION = (9.0, 16.0, 25.0)
THRESHOLDS = tuple(tenth / 10 for tenth in range(1, 10))
THRESHOLD = 0.5
MEMORY = 50
NEAR = 0.01  # how near to PIEC a memory of 50 has to be


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the evaluation."""
    parser.add_argument("--means", type=float, nargs="+", default=MEANS, help="means of the noise (0.5 1 2 4)")
    parser.add_argument("--seeds", type=int, default=5, help="over how many seeds scores are averaged (5)")
    parser.add_argument("--labels", choices=("situation", "context"), default="situation", help="what is true")
    parser.add_argument("--frames", choices=("possible", "tracked", "video"), default="possible",
                        help="the stream of a pair: where it is possible, where both are tracked, or the whole video")
    parser.add_argument("--videos", type=int, nargs="+", help="numbers of videos (all)")
    parser.add_argument("--vessels", type=int, default=300, help="vessels of the generated traffic (300)")
    parser.add_argument("--stations", type=float, nargs="+", default=PER_STATION, metavar="KM2",
                        help="square kilometres of sea for each base station (9 16 25)")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="write the curves as SVG")


def evaluation(options: argparse.Namespace, *, needed: bool) -> Iterator[list[Claim]]:
    """The claims on CAVIAR, noise by noise; nothing where the videos are absent, unless they are needed."""
    scenes = caviar(options.labels, options.frames, options.videos)
    if scenes is None:
        if needed:
            raise InputError("the CAVIAR videos are not here: there is no data/caviar in the folder of shared data")
        return
    for kind in KINDS:
        for mean in options.means:
            runs = list(trials(scenes, kind, mean, options.seeds, options.frames))
            yield list(_claims(scenes, f"{kind} noise, mean {mean:g}", runs, claimed=True))
    if options.plots is not None:
        from _evaluation_pictures import of_videos

        _write(options.plots, of_videos(scenes, options.seeds, options.frames))


def at_sea(options: argparse.Namespace) -> Iterator[list[Claim]]:
    """The claims on generated traffic, noise by noise."""
    scenes = sea(options.vessels)
    for kind in KINDS:
        for per in options.stations:
            runs = list(trials_at_sea(scenes, CONFIDENCE[kind], per, options.seeds))
            yield list(_claims(scenes, f"{kind} noise, a station for {per:g} km2", runs, claimed=False))
    if options.plots is not None:
        from _evaluation_pictures import of_sea

        _write(options.plots, of_sea(scenes, options.stations[-1], options.seeds))


def _write(folder: Path, pictures: Iterable[tuple[str, str]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pictures:
        (folder / name).write_text(text, encoding="utf-8")


def _claims(scenes: Scenes, noise: str, runs: Sequence[Trial], *, claimed: bool) -> Iterator[Claim]:
    """The claims for one noise; the thesis claims that intervals are better than points for CAVIAR alone."""
    for fluent in scenes.truth:
        cell = f"{fluent}, {noise}, threshold {THRESHOLD}"
        exact = f1(scenes, runs, fluent, lambda t, f=fluent: t.piec(f, THRESHOLD))  # type: ignore[misc]
        points = f1(scenes, runs, fluent, lambda t, f=fluent: t.point_based(f, THRESHOLD))  # type: ignore[misc]
        bounded = f1(scenes, runs, fluent, lambda t, f=fluent: t.durations(f, THRESHOLD, MEMORY))  # type: ignore[misc]
        best, at = max((f1(scenes, runs, fluent, lambda t, f=fluent, x=x: t.piec(f, x)), x)  # type: ignore[misc]
                       for x in THRESHOLDS)
        rival, its = max((f1(scenes, runs, fluent, lambda t, f=fluent, x=x: t.point_based(f, x)), x)  # type: ignore[misc]
                         for x in THRESHOLDS)
        yield claim(f"{fluent}, {noise}, best threshold ({at}): intervals", round(best, 3), "F1", None,
                    f"points, F1 {rival:.3f} with {its}", round(best / rival, 2) if rival else None, None)
        yield claim(f"{cell}: intervals", round(exact, 3), "F1", None, f"points, F1 {points:.3f}",
                    round(exact / points, 2) if points else None, exact >= points if claimed else None)
        yield claim(f"{cell}: oPIEC^bd, memory {MEMORY}", round(bounded, 3), "F1", None,
                    f"PIEC, F1 {exact:.3f}, at most {NEAR} away", round(bounded / exact, 3) if exact else None,
                    abs(bounded - exact) <= NEAR)
        same = mean_of(agreement(t.durations(fluent, THRESHOLD, MEMORY), t.piec(fluent, THRESHOLD)) for t in runs)
        yield claim(f"{cell}: oPIEC^bd, memory {MEMORY}, PIEC as truth", round(same, 4), "F1", 1 - NEAR, "our limit",
                    round(same / (1 - NEAR), 3), same >= 1 - NEAR)


def mean_of(values: Iterable[float]) -> float:
    """The mean."""
    return float(np.mean(list(values)))


def f1(scenes: Scenes, runs: Sequence[Trial], fluent: str, marks: Callable[[Trial], Marks]) -> float:
    """The mean F1 of what trials mark."""
    return mean_of(scenes.score(marks(run), fluent).f1 for run in runs)
