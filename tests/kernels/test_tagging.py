"""Tagged points: rows of a table, and lists of points with codes, against a dictionary of codes by point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import ArrayError
from eventide.kernels import merge_tagged, tag_rows

HIGHEST = 2**63 - 1
POINTS = st.one_of(st.integers(0, 60), st.integers(HIGHEST - 3, HIGHEST), st.integers(0, HIGHEST))
CODES = st.integers(0, 2**32 - 1)


def ints(values: object) -> np.ndarray:
    return np.array(values, np.int64)


def codes_of(values: object) -> np.ndarray:
    return np.array(values, np.uint32)


def shown(tagged: tuple[np.ndarray, np.ndarray]) -> dict[int, int]:
    points, codes = tagged
    assert (points[1:] > points[:-1]).all(), "sorted and distinct"
    return dict(zip(points.tolist(), codes.tolist(), strict=True))


@st.composite
def pieces(draw: st.DrawFn, most: int = 40) -> dict[int, int]:
    return draw(st.dictionaries(POINTS, CODES, max_size=most))


def arrays(piece: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return ints(sorted(piece)), codes_of([piece[point] for point in sorted(piece)])


@given(st.lists(pieces(), max_size=5))
def test_merging_unites_the_codes_of_equal_points(lists: list[dict[int, int]]) -> None:
    expected: dict[int, int] = {}
    for piece in lists:
        for point, code in piece.items():
            expected[point] = expected.get(point, 0) | code
    assert shown(merge_tagged([arrays(piece) for piece in lists])) == expected


@given(st.sets(POINTS, min_size=20, max_size=90), pieces(most=2))
def test_a_short_list_is_inserted_into_a_long_one(points: set[int], short: dict[int, int]) -> None:
    long = dict.fromkeys(points, 1)
    expected = long | {point: code | long.get(point, 0) for point, code in short.items()}
    assert shown(merge_tagged([arrays(long), arrays(short)])) == expected
    assert shown(merge_tagged([arrays(short), arrays(long)])) == expected


@given(st.sets(POINTS, max_size=30), st.data())
def test_rows_of_a_table_are_tagged_in_place(points: set[int], data: st.DataObject) -> None:
    table = sorted(points)
    rows = st.none() | st.lists(st.integers(0, len(table) - 1), max_size=20) if table else st.none()
    lists = data.draw(st.lists(st.tuples(rows, CODES), max_size=4))
    expected: dict[int, int] = {}
    for chosen, code in lists:
        for row in range(len(table)) if chosen is None else chosen:
            expected[table[row]] = expected.get(table[row], 0) | code
    found = tag_rows(ints(table), [None if rows is None else ints(rows) for rows, _ in lists], [c for _, c in lists])
    assert shown(found) == {point: code for point, code in expected.items() if code}


def test_nothing_to_merge() -> None:
    assert shown(merge_tagged([])) == {}
    assert shown(tag_rows(ints([3, 4]), [], [])) == {}


@pytest.mark.parametrize(
    "lists, tags, problem",
    [
        ([ints([0, 3])], [1], r"lists\[0\]: no row of 0 to 2 at index 1"),
        ([None, ints([-1])], [1, 2], r"lists\[1\]: no row of 0 to 2 at index 0"),
        ([np.array([0.5])], [1], r"lists\[0\]: expected dtype int64, got float64"),
        ([None], [1, 2], "tags: has 2 elements, lists has 1 at index 1"),
        ([None], [1 << 32], "tags: expected 32 bits"),
    ],
)
def test_wrong_rows_and_tags(lists: list[np.ndarray | None], tags: list[int], problem: str) -> None:
    with pytest.raises(ArrayError, match=problem):
        tag_rows(ints([2, 5, 9]), lists, tags)


def test_the_table_must_be_sorted_and_distinct() -> None:
    with pytest.raises(ArrayError, match="points: not sorted at index 1"):
        tag_rows(ints([5, 2]), [None], [1])
    with pytest.raises(ArrayError, match="points: repeated point at index 1"):
        tag_rows(ints([5, 5]), [None], [1])


@pytest.mark.parametrize(
    "points, codes, problem",
    [
        ([3, 3], [1, 1], r"pieces\[0\] points: repeated point at index 1"),
        ([3, 2], [1, 1], r"pieces\[0\] points: not sorted at index 1"),
        ([-1], [1], r"pieces\[0\] points: negative point at index 0"),
        ([3, 4], [1], r"pieces\[0\] codes: has 1 elements, points has 2"),
    ],
)
def test_wrong_pieces(points: list[int], codes: list[int], problem: str) -> None:
    with pytest.raises(ArrayError, match=problem):
        merge_tagged([(ints(points), codes_of(codes))])


def test_codes_are_32_bits_wide() -> None:
    with pytest.raises(ArrayError, match=r"pieces\[0\] codes: expected dtype uint32, got int64"):
        merge_tagged([(ints([3]), ints([1]))])
