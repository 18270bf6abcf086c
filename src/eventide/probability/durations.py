"""How long intervals lasted so far: learned from history, stored, and what oPIEC^bd makes of it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from eventide.errors import InputError
from eventide.kernels.arrays import Array

if TYPE_CHECKING:
    from eventide.probability.results import MaximalIntervals

QUANTILES = 60  # samples that stand for a normal distribution where the published rule needs samples
FEWEST = 3  # with fewer samples the published rule has no bins
HINT = "durations are a mean and a standard deviation in time-points, such as (411, 22), or what Durations.learn gives"


@dataclass(frozen=True)
class Durations:
    """Mean and standard deviation of durations, in time-points; `counts` says how often each was seen, if known.

    >>> Durations.of([5, 5, 3])
    Durations(mean=4.333333333333333, deviation=0.9428090415820634, counts=((3, 1), (5, 2)))
    """

    mean: float
    deviation: float
    counts: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if not (0 < self.mean < math.inf and 0 <= self.deviation < math.inf):
            what = f"mean {self.mean} and standard deviation {self.deviation}"
            raise InputError(f"there are no durations with {what}; {HINT}")

    @classmethod
    def of(cls, lengths: Iterable[int]) -> Durations:
        """The statistics of durations in time-points."""
        values, counts = np.unique(np.fromiter(lengths, np.int64), return_counts=True)
        if not values.shape[0] or values[0] < 1:
            raise InputError("durations can be learned from one or more intervals of at least one time-point")
        mean = float(np.average(values, weights=counts))
        deviation = math.sqrt(float(np.average((values - mean) ** 2, weights=counts)))
        return cls(mean, deviation, tuple(zip(values.tolist(), counts.tolist(), strict=True)))

    @classmethod
    def learn(cls, history: MaximalIntervals) -> Durations:
        """The statistics of intervals that were recognised before, as PIEC finds them in a training set (section 7.1).

        >>> from eventide.probability import intervals
        >>> Durations.learn(intervals([0, 0.5, 0.7, 0.9, 0.4, 0.1, 0, 0, 0.5, 1], threshold=0.5)).mean
        4.333333333333333
        """
        return cls.of((history.points[:, 1] - history.points[:, 0]).tolist())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Durations:
        """What `save` wrote."""
        try:
            found = json.loads(Path(path).read_text(encoding="utf-8"))
            return cls(float(found["mean"]), float(found["deviation"]),
                       tuple((int(length), int(count)) for length, count in found.get("counts", ())))
        except OSError as error:
            raise InputError(f"{path}: cannot read the durations: {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}: these are no durations; Durations.save writes such files") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the statistics as JSON."""
        found = {"mean": self.mean, "deviation": self.deviation, "counts": self.counts}
        Path(path).write_text(json.dumps(found) + "\n", encoding="utf-8")

    def samples(self) -> list[int]:
        """Durations in ascending order: those that were seen, or quantiles of the normal distribution.

        >>> Durations(30, 7.5).samples()[:4], Durations.of([5, 3, 5]).samples()
        ([12, 15, 17, 18], [3, 5, 5])
        """
        if sum(count for _, count in self.counts) >= FEWEST:
            return [length for length, count in self.counts for _ in range(count)]
        normal = NormalDist()
        shares = ((i + 0.5) / QUANTILES for i in range(QUANTILES))
        return [max(1, round(self.mean + self.deviation * normal.inv_cdf(share))) for share in shares]

    def bins(self, memory: int) -> list[tuple[int, int]]:
        """Bins of equally many samples, shortest first, as the published program cuts them; at most `memory` of them.

        >>> Durations(30, 7.5).bins(5)
        [(12, 23), (24, 28), (29, 32), (33, 36), (37, 48)]
        """
        samples = self.samples()
        if len(samples) < memory:
            return list(pairwise(samples[:-1]))
        width = -(-len(samples) // max(1, memory))
        found: list[tuple[int, int]] = []
        for first in range(0, len(samples) - 1, width):
            low = samples[first]
            if found and low <= found[-1][1]:
                low += 1
            found.append((low, samples[min(first + width, len(samples)) - 1]))
        return found

    def middles(self, memory: int) -> Array:
        """Twice the middle of `memory` bins; fewer are repeated, as the published program does."""
        bins = self.bins(memory)
        repeated = (bins * (memory // len(bins) + 1))[:memory]
        return np.array([low + high for low, high in repeated], np.int64)


def durations_of(given: object) -> Durations:
    """Durations as people give them: (mean, standard deviation), the name of a file, or what they are.

    >>> durations_of((411, 22))
    Durations(mean=411.0, deviation=22.0, counts=())
    """
    if isinstance(given, Durations):
        return given
    if isinstance(given, (str, os.PathLike)):
        return Durations.load(given)
    try:
        pair = [float(number) for number in given]  # type: ignore[attr-defined]
        mean, deviation = pair
        return Durations(mean, deviation)
    except (TypeError, ValueError):
        raise InputError(f"durations are {given!r}; {HINT}") from None
