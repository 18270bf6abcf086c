"""Joins against nested loops and dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.oracles import array

from eventide.errors import ArrayError
from eventide.kernels import joins
from eventide.kernels.joins import contains, factorize, group_offsets, join

EDGES = np.iinfo(np.int64)
NARROW = st.integers(-4, 9)
WIDE = NARROW | st.sampled_from([EDGES.min, EDGES.min + 1, EDGES.max, EDGES.max - 1, 1 << 40, -(1 << 40)])
COLUMNS = st.lists(NARROW, max_size=12) | st.lists(WIDE, max_size=12)


@given(COLUMNS)
def test_factorize(values: list[int]) -> None:
    codes, uniques = factorize(array(values))
    assert uniques.tolist() == list(dict.fromkeys(values))
    assert [uniques[code] for code in codes] == values


@pytest.mark.parametrize("step", [1, 1 << 20, 1 << 44])
def test_factorize_grows_its_table(step: int) -> None:
    values = np.random.default_rng(7).integers(0, 500, 1000) * step
    codes, uniques = factorize(values)
    assert uniques.tolist() == list(dict.fromkeys(values.tolist()))
    assert uniques[codes].tolist() == values.tolist()


def test_a_hundred_thousand_values() -> None:
    if not hasattr(joins._rehash, "py_func"):
        pytest.skip("too slow without compilation")
    values = np.random.default_rng(7).integers(0, 80_000, 200_000) << 40
    codes, uniques = factorize(values)
    assert len(uniques) == len(np.unique(values))
    assert (uniques[codes] == values).all()


@given(COLUMNS, COLUMNS, st.booleans())
def test_join_and_contains(left: list[int], right: list[int], ordered: bool) -> None:
    if ordered:
        left.sort()
        right.sort()
    expected = [(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a == b]
    rows = join(array(left), array(right))
    assert list(zip(rows[0].tolist(), rows[1].tolist(), strict=True)) == expected
    assert contains(array(left), array(right)).tolist() == [a in right for a in left]


@given(st.lists(st.integers(0, 9), max_size=12).map(sorted))
def test_group_offsets(keys: list[int]) -> None:
    expected = [i for i, key in enumerate(keys) if i == 0 or keys[i - 1] != key]
    assert group_offsets(array(keys)).tolist() == expected


def test_refusals() -> None:
    good = array([1])
    with pytest.raises(ArrayError, match="values: expected dtype int64, got int32"):
        factorize(np.array([1], np.int32))
    with pytest.raises(ArrayError, match="left: expected one dimension"):
        join(np.zeros((1, 1), np.int64), good)
    with pytest.raises(ArrayError, match="right: expected a NumPy array"):
        join(good, [1])  # type: ignore[arg-type]
    with pytest.raises(ArrayError, match="members: expected dtype"):
        contains(good, np.array([1.0]))
    with pytest.raises(ArrayError, match="keys: not sorted at index 1"):
        group_offsets(array([2, 1]))
