"""Intervals over stretches are those over all their points, and no sum overflows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eventide.kernels.maximal_probability import SCALE
from eventide.kernels.probability_runs import maximal_runs
from eventide.probability import intervals

STRETCHES = st.lists(st.tuples(st.integers(1, 12), st.sampled_from([0.0, 0.1, 0.3, 0.45, 0.5, 0.55, 0.7, 0.9, 1.0])),
                     min_size=1, max_size=12)


@given(st.lists(STRETCHES, min_size=1, max_size=4), st.sampled_from(["0.3", "0.5", "0.7", "1", "0"]))
def test_stretches_are_their_points(streams: list[list[tuple[int, float]]], threshold: str) -> None:
    offsets = np.cumsum([0, *map(len, streams)])
    lengths = np.array([length for stream in streams for length, _ in stream])
    probs = np.array([p for stream in streams for _, p in stream])
    sizes, rows = maximal_runs(offsets, lengths, probs, int(float(threshold) * SCALE))
    ours = np.split(rows, sizes.cumsum()[:-1])
    for stream, found in zip(streams, ours, strict=True):
        points = [p for length, p in stream for _ in range(length)]
        expected = intervals(points, threshold)
        assert found[:, :2].tolist() == [list(pair) for pair in expected.pairs()]
        mean = float(threshold) + (found[:, 2] * 2.0**20 + found[:, 3]) / SCALE / (found[:, 1] - found[:, 0])
        assert np.allclose(mean, expected.probability, rtol=0, atol=1e-12)


def test_long_stretches_are_exact() -> None:
    billion = 10**9
    lengths = np.array([billion, billion, billion])
    _, rows = maximal_runs(np.array([0, 3]), lengths, np.array([0.7, 0.5, 0.0]), SCALE // 2)
    # 0.2 more for a thousand million points pays for 0.5 less over 400 million
    assert rows[:, :2].tolist() == [[0, 2 * billion + 400_000_000]]
    assert rows[0, 2:].tolist() == [0, 0]
