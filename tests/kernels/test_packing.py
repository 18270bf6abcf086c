"""Packing against the arithmetic it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.oracles import array

from eventide.errors import ArrayError, RangeError
from eventide.kernels.packing import field, pack, repack


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int], int]:
    """(columns, widths, times, shift) that together use up to 63 bits."""
    shift = draw(st.integers(1, 62))
    widths: list[int] = []
    for _ in range(draw(st.integers(0, 3))):
        widths.append(draw(st.integers(0, 63 - shift - sum(widths))))
    rows = draw(st.integers(0, 5))
    columns = [[draw(st.integers(0, (1 << width) - 1)) for _ in range(rows)] for width in widths]
    times = [draw(st.integers(0, (1 << shift) - 2)) for _ in range(rows)]
    return columns, widths, times, shift


@given(tables())
def test_pack_and_take_apart(table: tuple[list[list[int]], list[int], list[int], int]) -> None:
    columns, widths, times, shift = table
    points = pack([array(column) for column in columns], widths, array(times), shift)
    expected = []
    for row, time in enumerate(times):
        number = 0
        for column, width in zip(columns, widths, strict=True):
            number = number << width | column[row]
        expected.append(number << shift | time)
    assert points.tolist() == expected
    assert field(points, 0, shift).tolist() == times
    at = shift
    for column, width in zip(reversed(columns), reversed(widths), strict=True):
        assert field(points, at, width).tolist() == column
        at += width


@given(tables(), st.data())
def test_repack_moves_whole_fields(
    table: tuple[list[list[int]], list[int], list[int], int], data: st.DataObject
) -> None:
    columns, widths, times, shift = table
    points = pack([array(column) for column in columns], widths, array(times), shift)
    fields = [(shift + sum(widths[i + 1 :]), width) for i, width in enumerate(widths)]
    order = data.draw(st.permutations(range(len(columns))))
    expected = pack([array(columns[i]) for i in order], [widths[i] for i in order], array(times), shift)
    assert repack(points, [*fields, (0, shift)], [*order, len(columns)]).tolist() == expected.tolist()
    if columns:
        assert repack(points, fields, [0]).tolist() == columns[0]


def test_values_that_do_not_fit() -> None:
    good = array([0, 1])
    with pytest.raises(ArrayError, match=r"columns\[1\]: 4 is outside 0\.\.3 at index 1"):
        pack([good, array([3, 4])], [2, 2], good, 4)
    with pytest.raises(ArrayError, match=r"columns\[0\]: 1 is outside 0\.\.0 at index 1"):
        pack([good], [0], good, 63)
    with pytest.raises(ArrayError, match=r"times: -1 is outside 0\.\.14 at index 0"):
        pack([good], [2], array([-1, 0]), 4)
    with pytest.raises(ArrayError, match=r"times: 15 is outside"):
        pack([good], [2], array([0, 15]), 4)


def test_shapes_that_do_not_fit() -> None:
    good = array([0, 1])
    with pytest.raises(RangeError, match="63 bits"):
        pack([good], [60], good, 4)
    with pytest.raises(RangeError, match="63 bits"):
        pack([good], [-1], good, 4)
    with pytest.raises(ArrayError, match="widths: has 0 elements, columns has 1"):
        pack([good], [], good, 4)
    with pytest.raises(ArrayError, match=r"columns\[0\]: has 1 elements, times has 2"):
        pack([array([1])], [4], good, 4)
    with pytest.raises(ArrayError, match="times: expected dtype int64"):
        pack([good], [4], np.zeros(2), 4)
    with pytest.raises(RangeError, match="field: 60 bits at bit 4"):
        field(good, 4, 60)
    with pytest.raises(RangeError, match=r"old\[0\]"):
        repack(good, [(60, 4)], [0])
    with pytest.raises(ArrayError, match="order: expected indices of the 1 fields"):
        repack(good, [(0, 4)], [1])
    with pytest.raises(RangeError, match="do not fit 63 bits"):
        repack(good, [(0, 40)], [0, 0])
