"""Lists side by side: whatever their number and lengths, each has what was appended to it."""

from __future__ import annotations

import numpy as np
import pytest

from eventide.probability.ragged import Ragged, stretches


@pytest.mark.parametrize("longest", [3, 100])
@pytest.mark.parametrize("count", [2, 60])
def test_lists(count: int, longest: int) -> None:
    generator = np.random.default_rng(longest)
    expected: list[list[int]] = [[] for _ in range(count)]
    lists = Ragged({"value": np.empty(0, np.int64), "pair": np.empty((0, 2), np.int64)})
    lists.add(count)
    for _ in range(20):
        chosen = generator.permutation(count)[: generator.integers(1, count + 1)]
        sizes = generator.integers(0, longest, chosen.shape[0])
        values = generator.integers(0, 1000, int(sizes.sum()))
        lists.append(chosen, sizes, {"value": values, "pair": np.stack((values, -values), 1)})
        for number, part in zip(chosen.tolist(), np.split(values, np.cumsum(sizes)[:-1]), strict=True):
            expected[number] += part.tolist()
        dropped = np.array([min(2, len(each)) for each in expected])
        lists.drop_first(np.arange(count), dropped)
        expected = [each[2:] for each in expected]
    found = lists.of(np.arange(count))
    flat = [value for each in expected for value in each]
    assert found["value"].tolist() == flat
    assert found["pair"].tolist() == [[value, -value] for value in flat]


@pytest.mark.parametrize("length", [1, 50])
def test_stretches(length: int) -> None:
    starts, lengths = np.arange(40)[::-1] * 7, np.full(40, length)
    column = np.arange(400)
    assert stretches(column, starts, lengths).tolist() == [at + i for at in starts.tolist() for i in range(length)]
