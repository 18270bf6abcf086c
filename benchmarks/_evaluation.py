"""How well uncertain situations are recognised: streams of pairs under noise, against what is true. CAVIAR videos."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as csv

import eventide as ev
from eventide.applications.activity import generator
from eventide.applications.demonstration import shared_data
from eventide.probability import Recogniser
from eventide.probability.durations import Durations
from eventide.probability.points import Points
from eventide.probability.ragged import spans, stretches
from eventide.probability.results import MaximalIntervals
from eventide.signals.label_noise import LABELS, TRACKING, LabelNoise, noisy

Ints = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]
FLUENTS = ("meeting", "moving", "fighting")
FOLDS = 5
PAUSE = 10  # frames between two videos, whose ids are different anyway
SAME_VIDEO = ("fomdgt1", "fomdgt2", "fomdgt3")  # three annotations of one video
LATEST = 1 << 40
POSSIBLE = 1e-5  # the published program writes no smaller changes
RULES = Path(generator.__file__).with_name("rules.ec")


class Score(NamedTuple):
    """Pair-frames that were found and are true, that were found, and that are true."""

    hits: int
    found: int
    true: int

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 1 if there was nothing to find, and nothing was."""
        return 2 * self.hits / (self.found + self.true) if self.found + self.true else 1.0


@dataclass(frozen=True)
class Scenes:
    """Streams of pairs, one behind the other, and what is true of the pairs. A stream has the time-points, here called
    frames, at which intervals of one pair are recognised."""

    facts: dict[str, pa.Table]
    pairs: list[str]
    offsets: Ints
    places: Ints  # stream * LATEST + time, ascending
    truth: dict[str, Marks]
    missed: dict[str, int]  # true pair-frames outside of all streams
    folds: dict[str, Ints]  # of each stream

    def rows(self, noise: Any) -> pa.Table:
        """What is recognised at every time-point under a noise, or without."""
        raise NotImplementedError

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The stream of each pair."""
        return {pair: number for number, pair in enumerate(self.pairs)}

    def points(self, rows: pa.Table, fluent: str) -> Points:
        """The probabilities of a fluent at the frames of all pairs, from recognised stretches."""
        mine = rows.filter(pa.compute.equal(pa.compute.cast(rows["fluent"], pa.string()), fluent))
        known = [self.number_of.get(args, -1) for args in pa.compute.cast(mine["args"], pa.string()).to_pylist()]
        stream = np.array(known, np.int64)
        starts, ends = mine["start"].to_numpy(), mine["end"].fill_null(LATEST - 1).to_numpy()
        low, high = (np.searchsorted(self.places, stream * LATEST + time) for time in (starts, ends))
        kept = (stream >= 0) & (low < high)
        probs = np.zeros(self.places.shape[0])
        low, sizes = low[kept], (high - low)[kept]
        probs[spans(low, sizes)] = np.repeat(mine["probability"].to_numpy()[kept], sizes)
        return Points(("pair",), [(pair,) for pair in self.pairs], self.offsets, None, probs)

    def covered(self, found: MaximalIntervals, first: Ints | None = None) -> Marks:
        """The frames of all streams that lie in intervals; these count from the place `first` of each stream."""
        streams = np.array([self.number_of[key[0]] for key in found.keys], np.int64)[found.stream]
        begin = (self.offsets if first is None else first)[streams]
        marks = np.zeros(self.places.shape[0], np.bool_)
        marks[spans(begin + found.points[:, 0], found.points[:, 1] - found.points[:, 0])] = True
        return marks

    def score(self, marks: Marks, fluent: str) -> Score:
        """How marks compare with the labels of a fluent."""
        truth = self.truth[fluent]
        return Score(int((marks & truth).sum()), int(marks.sum()), int(truth.sum()) + self.missed[fluent])


@dataclass(frozen=True)
class Videos(Scenes):
    """The CAVIAR videos one after the other, frame by frame.

    The ids of each video are its own, so that nothing holds on into the next one.
    """

    videos: Ints  # of each stream

    def rows(self, noise: LabelNoise | None) -> pa.Table:
        """The probabilities by the rules of the application."""
        facts: dict[str, Any] = self.facts if noise is None else noisy(self.facts, noise)
        return ev.load(RULES).run(facts, probabilistic=True, history="marginal", fluents=list(FLUENTS)).to_arrow()


def caviar(scheme: str = "situation", frames: str = "possible", videos: Sequence[int] | None = None) -> Videos | None:
    """The CAVIAR videos (all, or those with the numbers), where they are at hand.

    `frames` says which frames the stream of a pair has: those in which both are `tracked` (also for `possible`, see
    Trial), or the whole `video`.
    """
    folder = shared_data("data/caviar")
    if folder is None:
        return None
    objects, labels, films = (csv.read_csv(folder / name) for name in (
        "sde_objframes.csv.gz", "labels_pairframes.csv.gz", "videos.csv"))
    names = films["video"].to_pylist()
    number = {name: at for at, name in enumerate(names)}
    first = np.concatenate(([0], np.cumsum(films["frames_total"].to_numpy() + PAUSE)))

    def placed(table: pa.Table) -> tuple[pa.Table, Ints, Ints]:
        video = np.array([number[name] for name in table["video"].to_pylist()], np.int64)
        rows = np.flatnonzero(np.isin(video + 1, videos)) if videos is not None else np.arange(video.shape[0])
        table = table.take(pa.array(rows))
        return table, video[rows], first[video[rows]] + table["frame"].to_numpy()

    objects, video, time = placed(objects)
    who = _people(video, objects["id"])
    ends = first[:-1] + films["last_frame"].to_numpy() + 1
    starts = first[:-1] + films["first_frame"].to_numpy()
    pairs, places, owners = _streams(video, time, who, starts, ends, frames)
    sizes = [len(each) for each in places]
    flat = np.repeat(np.arange(len(pairs)) * LATEST, sizes) + np.concatenate([np.zeros(0, np.int64), *places])
    labels, label_video, label_time = placed(labels)
    kind = np.array(labels[f"label_{scheme}"].fill_null("").to_pylist())
    both = ["|".join(sorted(pair)) for pair in zip(_people(label_video, labels["id1"]),
                                                   _people(label_video, labels["id2"]), strict=True)]
    number_of = {pair: at for at, pair in enumerate(pairs)}
    stream = np.array([number_of.get(pair, len(pairs)) for pair in both], np.int64)
    truth, missed, folds = {}, {}, {}
    for fluent in FLUENTS:
        wanted = np.unique((stream * LATEST + label_time)[kind == fluent])
        truth[fluent] = np.isin(flat, wanted)
        missed[fluent] = int(wanted.shape[0] - truth[fluent].sum())
        group = np.array([names.index(SAME_VIDEO[0]) if name in SAME_VIDEO else at for at, name in enumerate(names)])
        folds[fluent] = dealt_out(truth[fluent], flat, group[owners])
    return Videos(_facts(objects, time, who), pairs, np.concatenate(([0], np.cumsum(sizes))).astype(np.int64), flat,
                  truth, missed, folds, owners)


def _people(video: Ints, ids: pa.ChunkedArray) -> list[str]:
    """Names that no other video has."""
    return [f"v{number + 1:02}_{name}" for number, name in zip(video.tolist(), ids.to_pylist(), strict=True)]


def _streams(video: Ints, time: Ints, who: list[str], starts: Ints, ends: Ints, frames: str,
             ) -> tuple[list[str], list[Ints], Ints]:
    """The pairs that were seen together, the times of each, and its video."""
    people, person = np.unique(who, return_inverse=True)
    times = [np.unique(time[person == at]) for at in range(people.shape[0])]
    home = np.zeros(people.shape[0], np.int64)
    home[person] = video
    pairs, places, owners = [], [], []
    for one in range(people.shape[0]):
        for other in np.flatnonzero(home == home[one]):
            together = np.intersect1d(times[one], times[other]) if other > one else times[one][:0]
            if together.shape[0]:
                pairs.append(f"{people[one]}|{people[other]}")
                places.append(together if frames != "video" else np.arange(starts[home[one]], ends[home[one]]))
                owners.append(home[one])
    return pairs, places, np.array(owners, np.int64)


def _facts(objects: pa.Table, time: Ints, who: list[str]) -> dict[str, pa.Table]:
    label, seen = (np.array(objects[name].fill_null("").to_pylist()) for name in ("sde_rtec", "appearance"))
    people = pa.array(who)
    whole = pa.table({"time": time, "value": pa.repeat("true", len(who)), "id": people})
    facts = {name: whole.filter(pa.array(label == name)) for name in LABELS}
    facts["coord"] = whole.append_column("x", objects["x"]).append_column("y", objects["y"])
    return facts | {name: whole.drop_columns("value").filter(pa.array(seen == name)) for name in TRACKING}


def dealt_out(truth: Marks, places: Ints, group: Ints) -> Ints:
    """The fold of each stream, that of its group: equally many true intervals in each, as far as that goes."""
    begins = truth & ~np.concatenate(([False], truth[:-1] & (np.diff(places) == 1)))
    weights = np.bincount(group[places[begins] // LATEST], minlength=int(group.max()) + 1)
    fold, loads = np.zeros(weights.shape[0], np.int64), np.zeros((FOLDS, 2))
    for at in np.argsort(-weights, kind="stable"):
        lightest = np.lexsort((loads[:, 1], loads[:, 0]))[0]
        fold[at] = lightest
        loads[lightest] += weights[at], np.isin(at, group)
    return fold[group]


class Trial:
    """One noise over the scenes: point-based and interval-based recognition of each fluent.

    With `trimmed`, intervals are looked for from the first to the last frame in which a stream's fluent is possible;
    the files of the published program have no more.
    """

    def __init__(self, scenes: Scenes, noise: Any, *, trimmed: bool = False) -> None:
        self.scenes, self.seed = scenes, 1 if noise is None else noise.seed
        rows = scenes.rows(noise)
        self.points = {fluent: scenes.points(rows, fluent) for fluent in scenes.truth}
        self.spans = {fluent: self._spans(points.probs, trimmed) for fluent, points in self.points.items()}

    def _spans(self, probs: npt.NDArray[np.float64], trimmed: bool) -> tuple[Ints, Ints]:
        """The places in which intervals of each stream are looked for: none if it has no probability at all."""
        offsets = self.scenes.offsets
        low, high = offsets[:-1].copy(), offsets[1:].copy()
        for stream, (begin, end) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            possible = np.flatnonzero(probs[begin:end] > (POSSIBLE if trimmed else 0.0))
            if not possible.shape[0]:
                high[stream] = begin
            elif trimmed:
                low[stream], high[stream] = begin + possible[0], begin + possible[-1] + 1
        return low, high

    def point_based(self, fluent: str, threshold: float) -> Marks:
        """The frames with at least the threshold."""
        return self.points[fluent].probs >= threshold

    def exact(self, fluent: str, threshold: float) -> MaximalIntervals:
        """PIEC: the most credible maximal intervals."""
        return self._taken(Recogniser(threshold), fluent)

    def piec(self, fluent: str, threshold: float) -> Marks:
        """The frames in intervals of PIEC."""
        return self.scenes.covered(self.exact(fluent, threshold), self.spans[fluent][0])

    def ranges(self, fluent: str, threshold: float, memory: int) -> Marks:
        """The frames in intervals of oPIEC^b, point by point."""
        found = self._taken(Recogniser(threshold, memory, seed=self.seed), fluent)
        return self.scenes.covered(found, self.spans[fluent][0])

    def durations(self, fluent: str, threshold: float, memory: int) -> Marks:
        """The frames in intervals of oPIEC^bd, with durations that PIEC found in the other folds."""
        exact, fold = self.exact(fluent, threshold), self.scenes.folds[fluent]
        number = np.array([self.scenes.number_of[key[0]] for key in exact.keys], np.int64)
        lengths = exact.points[:, 1] - exact.points[:, 0]
        marks = np.zeros(self.scenes.places.shape[0], np.bool_)
        for test in range(FOLDS):
            known = lengths[fold[number[exact.stream]] != test]
            learned = Durations.of(known.tolist()) if known.shape[0] else None
            found = self._taken(Recogniser(threshold, memory, learned, seed=self.seed), fluent, fold == test)
            marks |= self.scenes.covered(found, self.spans[fluent][0])
        return marks

    def _taken(self, recogniser: Recogniser, fluent: str, chosen: Marks | None = None) -> MaximalIntervals:
        """The most credible intervals of all streams, or of those that are chosen."""
        low, high = self.spans[fluent]
        streams = np.flatnonzero((low < high) if chosen is None else (low < high) & chosen)
        sizes = (high - low)[streams]
        offsets = np.concatenate((np.zeros(1, np.int64), sizes.cumsum()))
        probs = stretches(self.points[fluent].probs, low[streams], sizes)
        keys = [(self.scenes.pairs[stream],) for stream in streams.tolist()]
        recogniser.take(Points(("pair",), keys, offsets, None, probs))
        return recogniser.intervals(credible=True)


def trials(scenes: Videos, kind: Any, mean: float, seeds: int, frames: str = "possible") -> Iterator[Trial]:
    """One trial for each seed."""
    for seed in range(1, seeds + 1):
        yield Trial(scenes, LabelNoise(kind=kind, mean=mean, seed=seed), trimmed=frames == "possible")


def agreement(marks: Marks, with_: Marks) -> float:
    """F1 of marks if others were the truth."""
    return Score(int((marks & with_).sum()), int(marks.sum()), int(with_.sum())).f1
