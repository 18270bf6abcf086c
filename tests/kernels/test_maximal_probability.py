"""The kernel of maximal intervals: many streams at once, long and short, against each alone in the slow form."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import numpy.typing as npt
import pytest
from tests.probability import oracle

from eventide.errors import ArrayError
from eventide.kernels.arrays import Array
from eventide.kernels.maximal_probability import (
    SCALE,
    Found,
    Supports,
    advance,
    first_improper,
    fresh_streams,
    most_credible,
)
from eventide.kernels.support_sets import FIFO, RANGES, Bound
from eventide.probability import Recogniser

SIZES = [0, 1, 7, 300, 0, 4096, 4097, 2]


def recognised(
    probs: Array, sizes: list[int], batch: int = 1, bound: Bound | None = None
) -> list[list[tuple[int, int]]]:
    """The intervals of streams of these sizes, one behind the other; probabilities in hundredths."""
    count = len(sizes)
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    base = offsets[:-1].copy() if bound is None else np.arange(count) * bound.memory
    room = probs.shape[0] + 1 if bound is None else count * bound.memory + 1
    supports = Supports(base, np.zeros(count, np.int64), *(np.empty(room, np.int64) for _ in range(3)), np.empty(room))
    found = Found(np.zeros(count, np.int64), np.zeros(count, np.int64), np.empty((0, 4), np.int64))
    new = advance(probs / 100, offsets, np.arange(count), SCALE // 2, fresh_streams(count), supports, found,
                  batch=batch, bound=bound)
    pairs = [new.rows[b : b + n, :2].tolist() for b, n in zip(new.base.tolist(), new.size.tolist(), strict=True)]
    return [[(s, e) for s, e in stream] for stream in pairs]


def slow(probs: Array, sizes: list[int], batch: int, memory: int | None, resolve: oracle.Resolve | None) -> object:
    ends = np.cumsum(sizes)
    units = [(probs[end - size : end] * (SCALE // 100)).tolist() for size, end in zip(sizes, ends, strict=True)]
    return [oracle.online(stream, SCALE // 2, [batch] * -(-len(stream) // batch), memory, resolve)[0]
            for stream in units]


@pytest.mark.parametrize("shape", ["even", "low", "steps", "zero", "one"])
@pytest.mark.parametrize(("batch", "memory", "rule"), [
    (1, None, RANGES), (1, 3, RANGES), (5, 3, RANGES), (400, 8, RANGES), (1, 3, FIFO), (64, 2, FIFO), (1, 0, RANGES),
])
def test_many_streams(shape: str, batch: int, memory: int | None, rule: int) -> None:
    generator = np.random.default_rng(len(shape))
    total = sum(SIZES)
    probs = {"even": generator.integers(0, 101, total), "low": generator.integers(0, 60, total),
             "steps": np.repeat(generator.integers(0, 11, total), 10)[:total] * 10,
             "zero": np.zeros(total, np.int64), "one": np.full(total, 100)}[shape]
    bound = None if memory is None else Bound(memory, rule, False, 0.0, 0.0, np.uint64(0), np.zeros(0, np.int64))
    resolve = oracle.oldest if rule == FIFO else oracle.by_range(memory or 0)
    # without a bound the slow form may take the whole stream at once; its batches make no difference
    expected = slow(probs, SIZES, batch if memory is not None else 5000, memory, resolve)
    assert recognised(probs, SIZES, batch, bound) == expected


@pytest.mark.parametrize("levels", [
    [(0, 12_000), (100, 30_000), (0, 9_000), (100, 500)], [(100, 11_000), (0, 25_000), (70, 20_000)],
    [(0, 3), (100, 20_000), (0, 39_000), (51, 5_000)],
])
@pytest.mark.parametrize("cuts", [1, 3])
def test_sums_far_apart(levels: list[tuple[int, int]], cuts: int) -> None:
    """Sums that are more than 4,611 apart do not fit one word of a piece; each start here is found again from far."""
    probs = np.concatenate([np.full(size, level) for level, size in levels]) / 100
    stream = Recogniser(0.5)
    for part in np.array_split(probs, cuts):
        stream.advance(part)
    assert stream.intervals().pairs() == two_pointers(probs)


def two_pointers(probs: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """PIEC with two pointers, as in its paper, with sums in hundredths."""
    sums = [0, *np.cumsum(np.rint(probs * 100).astype(int) - 50).tolist()]
    best = list(accumulate(reversed(sums[1:]), max))[::-1]  # best[e]: the largest sum behind point e or later
    found, start, end, flag = [], 0, 0, False
    while start < len(probs) and end < len(probs):
        if best[end] >= sums[start]:
            end, flag = end + 1, True
        else:
            if flag and start < end:
                found.append((start, end))
            start, flag = start + 1, False
            end = max(end, start)
    return [*found, (start, end)] if flag else found


def test_probabilities_count_to_the_nearest_unit() -> None:
    probs = np.random.default_rng(5).random(5000)
    probs[:4] = 0.0, 1.0, 5e-16, 15e-16  # halves go to the even unit
    streams = fresh_streams(1)
    columns = (np.empty(5000, np.int64) for _ in range(3))
    supports = Supports(np.zeros(1, np.int64), np.zeros(1, np.int64), *columns, np.empty(5000))
    found = Found(np.zeros(1, np.int64), np.zeros(1, np.int64), np.empty((0, 4), np.int64))
    advance(probs, np.array([0, 5000]), np.zeros(1, np.int64), SCALE // 3, streams, supports, found)
    units = sum(int(unit) - SCALE // 3 for unit in np.rint(probs * 1e15))
    assert int(streams.high[0]) * 2**20 + int(streams.low[0]) == units


def test_credible_sums_are_exact() -> None:
    rows = np.array([[0, 10**6, 0, 1], [1, 10**6 + 1, 0, 0], [10**6 + 1, 10**6 + 3, 5, 0]])
    assert most_credible(np.array([0, 2, 3]), rows, SCALE // 3).tolist() == [True, False, True]
    rows[1, 3] = 1
    assert most_credible(np.array([0, 2, 3]), rows, SCALE // 3).tolist() == [False, True, True]


def test_improper() -> None:
    probs = np.linspace(0, 1, 5000)
    assert first_improper(probs) == -1
    for bad in (-1e-300, 1.0000001, np.nan, np.inf):
        probs[4321] = bad
        assert first_improper(probs) == 4321


def test_wrong_arrays() -> None:
    with pytest.raises(ArrayError, match="probs"):
        first_improper(np.zeros(3, np.float32))
