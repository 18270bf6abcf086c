"""What every kernel refuses, and how it says so: the argument and the first offending index."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.oracles import array, interval_lists

from eventide.errors import ArrayError
from eventide.kernels.arrays import (
    EMPTY,
    Intervals,
    check_array,
    check_intervals,
    check_points,
    check_same_length,
    check_spans,
    empty,
    time_mask,
    trim,
)


def test_equality_is_by_content() -> None:
    a = Intervals(array([1]), array([4]))
    assert a == Intervals(array([1]), array([4]))
    assert a != Intervals(array([1]), array([5]))
    assert a != "intervals"
    assert empty() == EMPTY
    with pytest.raises(TypeError):
        hash(a)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ([1, 2], "expected a NumPy array, got list"),
        (np.zeros(2), "expected dtype int64, got float64"),
        (np.zeros(2, np.int32), "expected dtype int64, got int32"),
        (np.zeros((2, 2), np.int64), "expected one dimension, got 2"),
        (np.zeros(8, np.int64)[::2], "expected a contiguous array"),
    ],
)
def test_arrays_of_the_wrong_kind(wrong: object, problem: str) -> None:
    with pytest.raises(ArrayError, match=f"times: {problem}") as caught:
        check_array("times", wrong)
    assert caught.value.argument == "times"


def test_lengths_must_agree() -> None:
    with pytest.raises(ArrayError, match="ends: has 2 elements, starts has 3") as caught:
        check_same_length("ends", array([1, 2]), "starts", 3)
    assert caught.value.index == 2


@given(st.lists(st.integers(-2, 5), max_size=8), st.booleans())
def test_points_name_the_first_descent(numbers: list[int], distinct: bool) -> None:
    bad = [i for i in range(1, len(numbers)) if numbers[i] < numbers[i - 1] + distinct]
    if bad or (numbers and numbers[0] < 0):
        with pytest.raises(ArrayError) as caught:
            check_points("points", array(numbers), distinct=distinct)
        assert caught.value.index == (bad[0] if bad else 0)
    else:
        check_points("points", array(numbers), distinct=distinct)
    check_points("points", array(numbers), trusted=True)


def test_faults_beyond_the_first_block() -> None:
    points = np.arange(5000, dtype=np.int64)
    points[4321] = 4320
    check_points("points", points)
    with pytest.raises(ArrayError, match="repeated point at index 4321"):
        check_points("points", points, distinct=True)
    starts = np.arange(0, 50_000, 10, dtype=np.int64)
    check_intervals("a", Intervals(starts, starts + 9))
    ends = starts + 9
    ends[4000] = starts[4001]
    with pytest.raises(ArrayError, match=r"a\.starts: .*touches the one before at index 4001"):
        check_intervals("a", Intervals(starts, ends))
    ends[4000] = starts[4000]
    with pytest.raises(ArrayError, match=r"a\.starts: start is not before end at index 4000"):
        check_intervals("a", Intervals(starts, ends))
    with pytest.raises(ArrayError, match=r"a\.starts: start is not before end at index 4000"):
        check_spans("a", starts, ends)


@pytest.mark.parametrize(
    ("starts", "ends", "index"),
    [([3], [3], 0), ([-1], [3], 0), ([0, 4], [4, 5], 1), ([5, 0], [6, 1], 1), ([0, 7], [4, 6], 1)],
)
def test_intervals_out_of_normal_form(starts: list[int], ends: list[int], index: int) -> None:
    wrong = Intervals(array(starts), array(ends))
    with pytest.raises(ArrayError, match=r"a\.starts") as caught:
        check_intervals("a", wrong)
    assert caught.value.index == index
    check_intervals("a", wrong, trusted=True)


def test_intervals_of_the_wrong_shape() -> None:
    with pytest.raises(ArrayError, match="a: expected Intervals"):
        check_intervals("a", (array([1]), array([2])))
    with pytest.raises(ArrayError, match=r"a\.ends: has 0 elements, a\.starts has 1"):
        check_intervals("a", Intervals(array([1]), array([])), trusted=True)


@given(interval_lists())
def test_normal_form_is_accepted(a: Intervals) -> None:
    check_intervals("a", a)


@pytest.mark.parametrize("shift", [0, 64, -1])
def test_shift_out_of_range(shift: int) -> None:
    with pytest.raises(ArrayError, match="shift"):
        time_mask(shift)


def test_mask_of_all_bits() -> None:
    assert time_mask(63) == np.iinfo(np.int64).max


@pytest.mark.parametrize("used", [0, 1, 4, 5, 9, 10])
def test_trim_keeps_the_front(used: int) -> None:
    assert trim(np.arange(10), used).tolist() == list(range(used))
    assert trim(np.arange(11)[1:], used).tolist() == list(range(1, used + 1))
