"""The examples of the thesis, chapters 5 and 6; its times begin at 1, and its intervals are closed."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from eventide.kernels.support_sets import _uniform
from eventide.probability import Durations, Recogniser, intervals

TABLE_5_2 = [0, 0.5, 0.7, 0.9, 0.4, 0.1, 0, 0, 0.5, 1]
TABLE_6_2 = [0, 0.3, 0.3, 0.6, 0.9]
BATCHES = (range(4), range(4, 8), range(8, 10))


def table(probs: list[float], part: range) -> pa.Table:
    return pa.table({"time": [i + 1 for i in part], "probability": [float(probs[i]) for i in part]})


def closed(found: object) -> list[tuple[int, int]]:
    return [(start, end - 1) for start, end in found.pairs()]  # type: ignore[attr-defined]


def rounded(support: list[tuple[int, float]]) -> list[tuple[int, float]]:
    return [(time, round(score, 12)) for time, score in support]


def test_example_24_and_table_5_2() -> None:
    found = intervals(table(TABLE_5_2, range(10)), threshold=0.5)
    assert closed(found) == [(1, 5), (2, 6), (8, 10)]
    assert found.probability.tolist() == pytest.approx([0.5, 0.52, 0.5], abs=1e-12)


def test_examples_25_and_26_and_table_6_1() -> None:
    stream = Recogniser(threshold=0.5)
    supports = [
        [(1, 0.0), (2, -0.5)],
        [(1, 0.0), (2, -0.5), (8, -0.9)],
        [(1, 0.0), (2, -0.5), (8, -0.9), (9, -1.4)],
    ]
    ending = [[(1, 4)], [(1, 5), (2, 6)], [(8, 10)]]
    replaced = [[], [(1, 4)], []]
    for part, support, added, removed in zip(BATCHES, supports, ending, replaced, strict=True):
        changes = stream.advance(table(TABLE_5_2, part))
        assert rounded(stream.support()) == support
        assert closed(changes.added) == added
        assert closed(changes.removed) == removed
    assert closed(stream.intervals()) == [(1, 5), (2, 6), (8, 10)]


def test_what_follows_example_25() -> None:
    """With In[11] = 0, time-point 9, which started nothing so far, starts an interval."""
    stream = Recogniser(threshold=0.5)
    stream.advance(table(TABLE_5_2, range(10)))
    changes = stream.advance(pa.table({"time": [11], "probability": [0.0]}))
    assert closed(changes.added) == [(9, 11)]
    assert closed(changes.removed) == []


def test_example_27_and_table_6_2() -> None:
    stream = Recogniser(threshold=0.5, memory=2, batch=4)
    stream.advance(table(TABLE_6_2, range(4)))
    assert rounded(stream.support()) == [(1, 0.0), (2, -0.5)]
    assert closed(stream.advance(table(TABLE_6_2, range(4, 5))).added) == [(2, 5)]
    assert closed(intervals(table(TABLE_6_2, range(5)), threshold=0.5)) == [(2, 5)]


def test_example_28_without_durations() -> None:
    stream = Recogniser(threshold=0.5, memory=2, batch=4)
    for part in BATCHES[:2]:
        stream.advance(table(TABLE_5_2, part))
    assert rounded(stream.support()) == [(1, 0.0), (2, -0.5)]
    stream.advance(table(TABLE_5_2, BATCHES[2]))
    assert closed(stream.intervals()) == [(1, 5), (2, 6), (9, 10)]  # [8, 10] is lost, all but what its batch knows


def test_example_28_with_durations() -> None:
    """Time-point 1 goes with the probability of equation 6.4, and then [8, 10] is found."""
    share = math.erf((8 - 4.3) / (2.4 * math.sqrt(2)))
    assert share == pytest.approx(0.877, abs=0.001)
    gone = 0
    for seed in range(400):
        stream = Recogniser(threshold=0.5, memory=2, durations=(4.3, 2.4), batch=4, seed=seed)
        for part in BATCHES[:2]:
            stream.advance(table(TABLE_5_2, part))
        if _uniform(np.uint64(seed), 7, 0) < share:
            gone += 1
            assert rounded(stream.support()) == [(2, -0.5), (8, -0.9)]
            stream.advance(table(TABLE_5_2, BATCHES[2]))
            assert closed(stream.intervals()) == [(1, 5), (2, 6), (8, 10)]
    assert gone / 400 == pytest.approx(share, abs=0.05)


def test_figure_6_4() -> None:
    """An element whose intervals last one standard deviation above the mean goes with probability 0.68."""
    kept = 0
    for seed in range(1000):
        stream = Recogniser(threshold=0.5, memory=1, durations=(6, 4), batch=10, seed=seed)
        stream.advance([0.0] * 10)  # the first element has a least duration of 10, the mean and one deviation
        kept += stream.support()[0][0] == 0
    assert 1 - kept / 1000 == pytest.approx(0.68, abs=0.05)


def test_durations_of_the_example() -> None:
    known = Durations.learn(intervals(TABLE_5_2, threshold=0.5))
    assert (known.mean, known.counts) == (pytest.approx(13 / 3), ((3, 1), (5, 2)))
