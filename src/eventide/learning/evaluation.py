"""How well rules are learnt: prequential loss, folds of whole streams, F1 over states. Nothing is learnt here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from eventide.errors import EventideError
from eventide.kernels.arrays import Mask
from eventide.learning.clauses import Clause
from eventide.learning.examples import Batch, Examples

Stream = str | int
WHOLE = 1 << 40
"""More points than any stream has, so that a stream is one batch and all its instances have rows everywhere."""


class Score(NamedTuple):
    """States that were inferred rightly, wrongly, and not at all. A pair in both orders counts twice.

    >>> both = Score(8, 2, 2) + Score(0, 0, 0)
    >>> both.f1, both.precision, Score(0, 0, 0).f1
    (0.8, 0.8, 1.0)
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0

    @classmethod
    def of(cls, holds: Mask, batch: Batch) -> Score:
        """How inferred states compare with the labels of a batch."""
        tp = int(np.count_nonzero(holds & batch.labels))
        return cls(tp, int(np.count_nonzero(holds)) - tp, int(np.count_nonzero(batch.labels)) - tp + batch.outside)

    @property
    def precision(self) -> float:
        """The share of what was inferred that is right; 1 if nothing was."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 1.0

    @property
    def recall(self) -> float:
        """The share of what is true that was inferred; 1 if nothing is."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both; 1 if there was nothing to infer and nothing was."""
        wrong = self.fp + self.fn
        return 2 * self.tp / (2 * self.tp + wrong) if self.tp + wrong else 1.0

    def __add__(self, other: object) -> Score:
        if not isinstance(other, Score):
            return NotImplemented
        return Score(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)


class _Rule(Protocol):
    @property
    def clause(self) -> Clause: ...


class _Report(Protocol):
    @property
    def points(self) -> int: ...
    @property
    def tp(self) -> int: ...
    @property
    def fp(self) -> int: ...
    @property
    def fn(self) -> int: ...


class Learns(Protocol):
    """What is evaluated: see `learner.Learner` and `committee.Committee`."""

    def partial_fit(self, batch: Batch) -> _Report:
        """Infer a batch, then learn from it."""

    def predict(self, batch: Batch) -> Mask:
        """The state at each row."""

    @property
    def rules(self) -> Sequence[_Rule]:
        """The rules as they are now."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Mistakes of each batch, made before it was learnt from, and what the whole pass took.

    >>> curve = Curve((4, 0, 2), (10, 10, 5), Score(9, 3, 3), 0.1, 7)
    >>> curve.losses.round(2).tolist(), curve.loss, curve.per_point
    ([4.0, 2.0, 2.0], 2.0, 0.24)
    """

    mistakes: tuple[int, ...]
    points: tuple[int, ...]
    score: Score
    seconds: float
    """Of the processor."""
    size: int
    """Literals of the theory at the end, heads included."""

    @property
    def losses(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The loss after each batch: all mistakes so far by the number of batches."""
        return np.cumsum(self.mistakes) / np.arange(1, len(self.mistakes) + 1)

    @property
    def loss(self) -> float:
        """The loss after the last batch; 0 without batches."""
        return sum(self.mistakes) / len(self.mistakes) if self.mistakes else 0.0

    @property
    def per_point(self) -> float:
        """Mistakes by time-points, which can be compared over sizes of batches."""
        return sum(self.mistakes) / sum(self.points) if self.mistakes else 0.0


def prequential(learner: Learns, batches: Iterable[Batch]) -> Curve:
    """One pass, each batch tested before it is used; the time includes the making of the batches."""
    mistakes, points, score = list[int](), list[int](), Score()
    started = time.process_time()
    for batch in batches:
        report = learner.partial_fit(batch)
        mistakes.append(report.fp + report.fn)
        points.append(report.points)
        score += Score(report.tp, report.fp, report.fn)
    return Curve(tuple(mistakes), tuple(points), score, time.process_time() - started, size_of(learner.rules))


def size_of(rules: Iterable[_Rule]) -> int:
    """The literals of a theory, heads included."""
    return sum(1 + len(rule.clause.body) for rule in rules)


def scores_by_stream(learner: Learns, examples: Examples, streams: Sequence[Stream]) -> dict[Stream, Score]:
    """The score of each stream, as one batch."""
    return {batch.stream: Score.of(learner.predict(batch), batch) for batch in examples.batches(WHOLE, streams)}


@dataclass(frozen=True, slots=True)
class Folds:
    """Scores of the streams of each fold, by rules that were learnt from the others."""

    folds: tuple[Mapping[Stream, Score], ...]
    sizes: tuple[int, ...]
    """The literals of each fold's theory."""
    seconds: float = 0.0
    learners: tuple[Learns, ...] = field(default=(), repr=False)

    @property
    def total(self) -> Score:
        """All states together: its F1 is the micro-average."""
        return sum((score for fold in self.folds for score in fold.values()), Score())

    @property
    def macro(self) -> float:
        """The mean F1 of the streams in which something is labelled."""
        found = [score.f1 for fold in self.folds for score in fold.values() if score.tp + score.fn]
        return float(np.mean(found)) if found else 1.0

    @property
    def size(self) -> float:
        """The mean size of the theories."""
        return float(np.mean(self.sizes)) if self.sizes else 0.0


def cross_validated(make: Callable[[], Learns], examples: Examples, folds: Sequence[Sequence[Stream]], *,
                    size: int = 100, together: Sequence[Sequence[Stream]] = (), seed: int | None = None,
                    passes: int = 1) -> Folds:
    """The streams of each fold tested with a new learner that learnt from all others, batch by batch.

    Streams that are `together` are about the same: if one of them is tested, none is learnt from. With a `seed` the
    others are learnt from in a random order.
    """
    started, scores, sizes, learners = time.process_time(), [], [], []
    for number, fold in enumerate(folds):
        out = set(fold).union(*(group for group in together if set(group) & set(fold)))
        others = [stream for stream in examples.streams if stream not in out]
        if not others:
            raise EventideError("a fold has all streams: there is none left to learn from")
        if seed is not None:
            np.random.default_rng([seed, number]).shuffle(others)
        learner, known = make(), examples.only(others)  # limits of comparisons may come from what is compared
        for _ in range(passes):
            for batch in known.batches(size, others):
                learner.partial_fit(batch)
        scores.append(scores_by_stream(learner, examples, fold))
        sizes.append(size_of(learner.rules))
        learners.append(learner)
    return Folds(tuple(scores), tuple(sizes), time.process_time() - started, tuple(learners))


def dealt(streams: Sequence[Stream], number: int, seed: int = 0,
          together: Sequence[Sequence[Stream]] = ()) -> tuple[tuple[Stream, ...], ...]:
    """The streams in `number` folds of about equal size, each in one; those that are `together` in the same.

    >>> dealt([1, 2, 3, 4, 5], 2, together=[(1, 2)])
    ((1, 2, 5), (3, 4))
    """
    if not 2 <= number <= len(streams):
        raise EventideError(f"{len(streams)} streams can be dealt to 2 .. {len(streams)} folds, not to {number}")
    groups = [tuple(group) for group in together]
    known = {stream for group in groups for stream in group}
    groups += [(stream,) for stream in streams if stream not in known]
    order = np.random.default_rng(seed).permutation(len(groups))
    folds: list[list[Stream]] = [[] for _ in range(number)]
    for group in sorted((groups[at] for at in order.tolist()), key=len, reverse=True):
        min(folds, key=len).extend(group)
    place = {stream: at for at, stream in enumerate(streams)}
    return tuple(sorted(tuple(sorted(fold, key=place.__getitem__)) for fold in folds))
