"""Sorting against Python's own stable sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.oracles import MASK, SHIFT, array, point_arrays

from eventide.errors import ArrayError
from eventide.kernels import sorting
from eventide.kernels.sorting import is_sorted, order, sort_points, sort_with_order, unique

ANY_POINTS = st.lists(st.integers(0, np.iinfo(np.int64).max), max_size=60).map(array)


def check_sorted(points: np.ndarray, shift: int | None = None, time_ordered: bool = False) -> None:
    expected = sorted(range(len(points)), key=lambda i: points[i])
    result, permutation = sort_with_order(points, shift, time_ordered)
    assert permutation.tolist() == order(points, shift, time_ordered).tolist() == expected
    assert result.tolist() == sort_points(points, shift, time_ordered).tolist() == sorted(points.tolist())


@given(point_arrays() | ANY_POINTS)
def test_any_order(points: np.ndarray) -> None:
    check_sorted(points)
    check_sorted(points, SHIFT)
    assert is_sorted(points) == (points.tolist() == sorted(points.tolist()))


@given(point_arrays())
def test_in_order_of_time(points: np.ndarray) -> None:
    stream = array(sorted(points.tolist(), key=lambda p: p & MASK))
    check_sorted(stream, SHIFT, True)


@given(st.data(), st.integers(25, 120), st.integers(1, 63))
def test_with_pieces_of_every_size(data: st.DataObject, size: int, bits: int) -> None:
    """Small pieces and narrow digits take the same paths as ten million points."""
    seed = data.draw(st.integers(0, 1 << 30))
    points = np.random.default_rng(seed).integers(0, 1 << (bits - 1), size, endpoint=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "_PIECE", data.draw(st.sampled_from([8, 64, 1000])))
        patch.setattr(sorting, "_DIGIT_BITS", data.draw(st.sampled_from([2, 4, 8])))
        check_sorted(points)


@pytest.mark.parametrize("keys", [1, 3, 500])
def test_many_points(keys: int) -> None:
    if not hasattr(sorting._split, "py_func"):
        pytest.skip("too slow without compilation")
    generator = np.random.default_rng(keys)
    times = np.sort(generator.integers(0, 1 << 20, 100_000))
    points = (generator.integers(0, keys, 100_000) << 30) + times
    assert order(points, 30, True).tolist() == np.argsort(points, kind="stable").tolist()
    shuffled = generator.permutation(points)
    assert order(shuffled).tolist() == np.argsort(shuffled, kind="stable").tolist()


def test_sorted_input_is_returned_as_it_is() -> None:
    points = array([1, 1, 5])
    assert sort_points(points) is points
    assert order(points).tolist() == [0, 1, 2]


def test_keys_that_share_their_high_bits() -> None:
    check_sorted(array(((1 << 56) | key) << SHIFT | time for time in range(9) for key in (5, 4, 7)), SHIFT, True)


def test_refusals() -> None:
    with pytest.raises(ArrayError, match="points: negative point at index 1"):
        order(array([3, -1]))
    with pytest.raises(ArrayError, match="shift: needed with time_ordered"):
        order(array([3, 1]), time_ordered=True)
    with pytest.raises(ArrayError, match="points: times are not in ascending order at index 2"):
        order(array([1, 2, 1]), SHIFT, True)
    with pytest.raises(ArrayError, match="points: expected dtype int64"):
        sort_points(np.array([1.0]))
    with pytest.raises(ArrayError, match="points: expected a NumPy array"):
        is_sorted([1])  # type: ignore[arg-type]
    with pytest.raises(ArrayError, match="points: not sorted at index 1"):
        unique(array([3, 1]))


@given(point_arrays() | ANY_POINTS)
def test_unique(points: np.ndarray) -> None:
    assert unique(array(sorted(points.tolist()))).tolist() == sorted(set(points.tolist()))
