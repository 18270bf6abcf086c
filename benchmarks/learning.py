"""How well and how fast rules are learnt: CAVIAR in folds of videos, time of a pass, known definitions, noise, drift.

CAVIAR has labels by people. Folds are made of whole videos. The claim is about the committee, whose figures depend
least on the order of the videos; its conditions and costs were thought of with these folds in view. `race` chooses
among the other three while it learns, `--only nested` by folds inside of the training videos.
All other labels here are what rules say of generated facts: a learner that is good there has found the rules again.
Without the CAVIAR data its claims are left out. `--only table` prints all that docs/explanation/learning-evaluation.md
has about CAVIAR: both splits, both label schemes, several orders of the videos, each video. Times are of the processor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import mean

import numpy as np

from _caviar import FLUENTS, OVERLAPPING, PROPER, SCHEMES, caviar, hand_written
from _claims import Claim, at_most, claim, show
from _learning_folds import by_hand, by_video, in_folds, learners, nested, paper, spread
from eventide import kernels
from eventide.applications.activity import labelled as activity
from eventide.applications.fleet import labelled as fleet
from eventide.applications.labelled import Labelled, modes_of
from eventide.applications.maritime import labelled as maritime
from eventide.learning.columns import layout_of
from eventide.learning.evaluation import WHOLE, Learns, Score, prequential, scores_by_stream
from eventide.learning.inference import Theory
from eventide.learning.learner import Learner
from eventide.learning.settings import Settings
from eventide.learning.subsumption import are_equivalent
from eventide.learning.weighing import Weigher

PASS, ROWS = 10.0, 5_000_000
PAPER_PASS = {"meeting": 82, "moving": 112}
BARS = {"meeting": (0.800, 0.840, 0.89), "moving": (0.644, 0.382, 0.82)}
"""What hand-written rules reach, what an exhaustive learner reached, and the mark: the paper's, on its own folds."""
SIZES = (50, 100)
CLAIMED, ORDERS = "committee", 3


def speed() -> Iterator[Claim]:
    """A pass over all videos with structure and weights, and inference alone."""
    kernels.warm()  # compiled once for each machine, and kept on disk
    for fluent in FLUENTS:
        videos = caviar(fluent)
        if videos is None:
            return
        for size in SIZES:
            curve = prequential(Learner(videos.modes), videos.examples.batches(size))
            yield at_most(f"CAVIAR, {fluent}, one pass, batches of {size}", curve.seconds, "s", PASS) | {
                "rival": f"our limit; the paper: {PAPER_PASS[fluent]} s", "ratio": round(curve.seconds / PASS, 2)}
            yield claim(f"CAVIAR, {fluent}, prequential loss, batches of {size}", round(curve.loss, 3),
                        "mistakes/batch", None, f"{curve.per_point:.4f} a time-point", None, None)
        rules = hand_written(fluent)
        layout = layout_of(rules, videos.examples)
        theory = Theory(layout.bodies, layout.initiates, np.ones(len(rules)))
        ready = [(layout.columns(batch), batch.offsets) for batch in videos.examples.batches(WHOLE)]
        rows, took = sum(int(offsets[-1]) for _, offsets in ready), float("inf")
        for _ in range(5):
            begin = time.process_time()
            for columns, offsets in ready:
                theory.infer(columns, offsets, np.zeros(offsets.shape[0] - 1, np.bool_))
            took = min(took, time.process_time() - begin)
        yield claim(f"CAVIAR, {fluent}, inference with {len(rules)} rules, {rows:,} rows", round(rows / took), "rows/s",
                    ROWS, "our limit", round(rows / took / ROWS, 1), rows / took >= ROWS)


def folds() -> Iterator[Claim]:
    """F1 in ten folds of whole videos, of each learner, against hand-written rules and an exhaustive learner."""
    for fluent in FLUENTS:
        videos = caviar(fluent)
        if videos is None:
            return
        hand, few, mark = BARS[fluent]
        ours = by_hand(fluent, videos, PROPER).total.f1
        bar = max(hand, few, ours)
        for name, make in learners(videos).items():
            title, found = f"CAVIAR, {fluent}, {name}", in_folds(make, videos, PROPER)
            f1, claimed = found.total.f1, name == CLAIMED
            yield claim(f"{title}, F1 in 10 folds by video", round(f1, 3), "F1", round(bar, 3) if claimed else None,
                        f"hand-written {hand} (here {ours:.3f}), exhaustive {few}", round(f1 / bar, 2),
                        f1 > bar if claimed else None)
            yield claim(f"{title}, mean F1 of videos", round(found.macro, 3), "F1", None,
                        f"{found.size:.0f} literals", None, None)
            if claimed:
                orders = [in_folds(make, videos, PROPER, seed).total.f1 for seed in range(1, ORDERS + 1)]
                yield claim(f"{title}, the least of {ORDERS} other orders of the videos", round(min(orders), 3), "F1",
                            round(bar, 3), f"their mean {mean(orders):.3f}", round(min(orders) / bar, 2),
                            min(orders) > bar)
                yield claim(f"{title}, against the mark", round(f1, 3), "F1", mark, "WOLED on its own folds",
                            round(f1 / mark, 2), f1 >= mark)


def weights() -> Iterator[Claim]:
    """The weights of hand-written rules, learnt in several ways."""
    for fluent in FLUENTS:
        videos = caviar(fluent)
        if videos is None:
            return
        for loss in ("paper", "logistic", "margin"):
            for averaged in (False, True):
                make = weigher(fluent, loss, averaged)
                f1 = in_folds(make, videos, PROPER).total.f1
                curve = prequential(make(), videos.examples.batches(100))
                yield claim(f"CAVIAR, {fluent}, weights by {loss}{', averaged' if averaged else ''}", round(f1, 3),
                            "F1", None, f"prequential loss {curve.loss:.3f}", None, None)


def weigher(fluent: str, loss: str, averaged: bool) -> Callable[[], Learns]:
    """A maker of learners of weights."""
    return lambda: Weigher(hand_written(fluent), loss=loss, averaged=averaged)  # type: ignore[arg-type]


def definitions(points: int = 1000) -> Iterator[Claim]:
    """Generated people with known meetings: are the rules found, also if some labels are wrong, or rules change?"""
    data = activity.generate(points=points)
    learner = Learner(modes_of(data.modes))
    prequential(learner, data.examples().batches(100))
    same = len(learner.rules) == len(data.definition) and all(
        any(are_equivalent(rule.clause, other) for other in data.definition) for rule in learner.rules)
    yield claim("synthetic, no noise: the definition is found", int(same), "yes = 1", 1, "theta-equivalent", None, same)
    for share in (0.0, 0.01, 0.05, 0.1):
        f1 = halves(activity.generate(points=points, noise=share), share)
        target = 0.95 if share == 0.05 else None
        yield claim(f"synthetic, {share:.0%} of the labels wrong", round(f1, 3), "F1, clean labels", target,
                    "our limit", None, None if target is None else f1 >= target)
    drifting = activity.generate(persons=3, points=300, later=activity.CHANGED)
    curve = prequential(Learner(modes_of(drifting.modes), settings=Settings(drift=True)),
                        drifting.examples().batches(50))
    last = curve.mistakes[-len(curve.mistakes) // 4:]
    yield claim("synthetic, another definition from half on, noticed", round(curve.loss, 2), "mistakes/batch", None,
                f"{np.mean(last):.2f} in the last quarter", None, None)


def applications() -> Iterator[Claim]:
    """Situations of other applications, with the labels of our own rules."""
    for name, make in (("maritime rendez-vous", maritime.generate), ("dangerous driving", fleet.generate)):
        for share in (0.0, 0.05):
            f1 = halves(make(noise=share), share)
            yield claim(f"{name}, labels by rules, {share:.0%} wrong", round(f1, 3), "F1, clean labels", None,
                        "paper: 0.98" if name.startswith("maritime") else "paper: 0.99", None, None)


def halves(data: Labelled, noise: float) -> float:
    """F1 on the clean labels of half of the streams, learnt from the other half; noise calls for dearer literals."""
    examples, clean = data.examples(), data.examples(clean=True)
    first, second = examples.streams[::2], examples.streams[1::2]
    learner = Learner(modes_of(data.modes), settings=Settings().with_(literal_cost=20 if noise else 1))
    for batch in examples.batches(100, first):
        learner.partial_fit(batch)
    return sum(scores_by_stream(learner, clean, second).values(), Score()).f1


def table(seeds: int) -> None:
    """All figures of CAVIAR as Markdown."""
    for scheme in SCHEMES:
        print(f"\n**{scheme}**\n\n| | learner | proper folds | macro | literals | overlapping lists | orders |")
        print("|---|---|---|---|---|---|---|")
        for fluent in FLUENTS:
            videos = caviar(fluent, scheme)
            if videos is None:
                return
            hand = [by_hand(fluent, videos, split) for split in (PROPER, OVERLAPPING)]
            print(f"| {fluent} | hand-written | {hand[0].total.f1:.3f} | {hand[0].macro:.3f} | | "
                  f"{hand[1].total.f1:.3f} | |")
            for name, make in (learners(videos) | paper(videos)).items():
                found, other = in_folds(make, videos, PROPER), in_folds(make, videos, OVERLAPPING)
                orders = [in_folds(make, videos, PROPER, seed).total.f1 for seed in range(1, seeds + 1)]
                print(f"| {fluent} | {name} | {found.total.f1:.3f} | {found.macro:.3f} | {found.size:.0f} | "
                      f"{other.total.f1:.3f} | {spread(orders) if orders else ''} |", flush=True)
                if name == CLAIMED and scheme == SCHEMES[0]:
                    print("".join(f"<!-- {fluent} {video}: {' '.join(map(str, score))} -->\n"
                                  for video, score in by_video(found).items()), flush=True)


def chosen() -> Iterator[Claim]:
    """The learner chosen inside of the training videos for each fold."""
    for fluent in FLUENTS:
        videos = caviar(fluent)
        if videos is None:
            return
        f1 = nested(videos, PROPER, [name for name in learners(videos) if name != "race"]).total.f1
        yield claim(f"CAVIAR, {fluent}, learner chosen by folds inside", round(f1, 3), "F1", None, "", None, None)


GROUPS = {"speed": speed, "folds": folds, "weights": weights, "definitions": definitions, "applications": applications}
SLOW = {"nested": chosen}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--only", choices=(*GROUPS, *SLOW, "table"), help="one group of claims")
    parser.add_argument("--points", type=int, default=1000, help="time-points of generated people (1000)")
    parser.add_argument("--seeds", type=int, default=2, help="orders of the videos for --only table")
    options = parser.parse_args(argv)
    if options.only == "table":
        table(options.seeds)
        return 0
    measures = GROUPS | SLOW | {"definitions": partial(definitions, options.points)}
    return show(([each] for name, measure in measures.items()
                 if options.only == name or (options.only is None and name in GROUPS) for each in measure()),
                as_json=options.json)


if __name__ == "__main__":
    raise SystemExit(main())
