"""Folds of CAVIAR for `learning`: the learners that are compared, nested choice among them, hand-written rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from _caviar import Videos, hand_written
from eventide.learning.committee import Committee, Votes
from eventide.learning.evaluation import Folds, Learns, Score, cross_validated, dealt, scores_by_stream
from eventide.learning.learner import Learner
from eventide.learning.race import race_of
from eventide.learning.settings import Settings
from eventide.learning.weighing import Weigher

COPIES = ((27, 28, 29),)
"""Three annotations of one video."""


def learners(videos: Videos, seed: int = 0) -> dict[str, Callable[[], Learns]]:
    """The learners that are compared, by name."""
    careful = Settings().careful()
    return {"default": lambda: Learner(videos.modes),
            "careful": lambda: Learner(videos.modes, settings=careful),
            "committee": lambda: Committee(videos.modes, settings=careful, votes=Votes(seed=seed)),
            "race": lambda: race_of(videos.modes, seed=seed)}


def paper(videos: Videos) -> dict[str, Callable[[], Learns]]:
    """OLED and WOLED as the papers have them."""
    return {"OLED": lambda: Learner(videos.modes, settings=Settings.oled()),
            "WOLED": lambda: Learner(videos.modes, settings=Settings.paper())}


def in_folds(make: Callable[[], Learns], videos: Videos, folds: Sequence[Sequence[int]],
             seed: int | None = None) -> Folds:
    """The videos of each fold tested by a learner of the others, in batches of 100 points."""
    return cross_validated(make, videos.examples, folds, together=COPIES, seed=seed)


def nested(videos: Videos, folds: Sequence[Sequence[int]], names: Sequence[str], inner: int = 4) -> Folds:
    """For each fold the learner that is best in `inner` folds of the other videos, then trained on all of these."""
    makers, found = learners(videos), list[Folds]()
    for fold in folds:
        others = videos.others(fold)
        together = [group for group in COPIES if set(group) <= set(others)]
        parts = dealt(others, inner, together=together)
        scores = {name: _inside(makers[name], videos, parts, fold) for name in names}
        best = max(scores, key=lambda name: scores[name].f1)
        found.append(in_folds(makers[best], videos, [fold]))
    return Folds(tuple(each.folds[0] for each in found), tuple(each.sizes[0] for each in found))


def _inside(make: Callable[[], Learns], videos: Videos, parts: Sequence[Sequence[Any]], tested: Sequence[int]) -> Score:
    """The score over parts of the videos that are left, none of them learnt from those that are tested."""
    away = tuple(sorted(set(range(1, 31)) - {video for part in parts for video in part}))
    total = Score()
    for part in parts:
        found = cross_validated(make, videos.examples, [(*part, *away)], together=COPIES)
        total = sum((score for video, score in found.folds[0].items() if video not in away), total)
    return total


def by_hand(fluent: str, videos: Videos, folds: Sequence[Sequence[int]]) -> Folds:
    """The hand-written rules, each with the weight 1: nothing is learnt."""
    rules = Weigher(hand_written(fluent), averaged=False)
    return Folds(tuple(scores_by_stream(rules, videos.examples, fold) for fold in folds), (0,) * len(folds))


def by_video(folds: Folds) -> dict[Any, Score]:
    """The score of each video that has labels or mistakes."""
    found: Mapping[Any, Score] = {video: score for fold in folds.folds for video, score in fold.items() if any(score)}
    return dict(sorted(found.items()))


def spread(values: Sequence[float]) -> str:
    """The mean and the range of values."""
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"
