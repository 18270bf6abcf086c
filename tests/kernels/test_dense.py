"""Dense time: the table of interval operations, and the definitions over exact regions with `portion`."""

from __future__ import annotations

from fractions import Fraction

import portion
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.oracles import array

from eventide.errors import ArrayError, RangeError
from eventide.kernels.arrays import Intervals
from eventide.kernels.dense import (
    DenseInterval,
    common_grid,
    dilate_cells,
    erode_cells,
    from_cells,
    operator_cells,
    to_cells,
)
from eventide.kernels.intervals import coalesce, intersect, union

SHIFT = 12
BOUNDS = {"[": True, "]": True, "(": False, ")": False}


def read(text: str) -> DenseInterval:
    """`(0,1/3]` as a tuple."""
    left, right = text[1:-1].split(",")
    return (
        None if left == "-inf" else Fraction(left),
        BOUNDS[text[0]],
        None if right == "inf" else Fraction(right),
        BOUNDS[text[-1]],
    )


def write(interval: DenseInterval) -> str:
    left, left_closed, right, right_closed = interval
    return (
        f"{'[' if left_closed else '('}{'-inf' if left is None else left},"
        f"{'inf' if right is None else right}{']' if right_closed else ')'}"
    )


def apply(verb: str, x: str, r: str, grid: Fraction = Fraction(1)) -> list[str]:
    a = Intervals(*to_cells([read(x)], grid, SHIFT))
    operator = operator_cells(*_bounded(read(r)), grid)
    result = (dilate_cells if verb == "+" else erode_cells)(a, operator, SHIFT)
    return [write(interval) for interval in from_cells(result.starts, result.ends, grid, SHIFT)]


def _bounded(operator: DenseInterval) -> tuple[Fraction, bool, Fraction | None, bool]:
    low, low_closed, high, high_closed = operator
    assert low is not None
    return low, low_closed, high, high_closed


# fact, operator, where it held sometime, where it held always
TABLE = """
[0,10]    [1,3]    [1,13]      [3,11]
[0,10]    (1,3)    (1,13)      [3,11]
(0,10)    [1,3]    (1,13)      (3,11)
(0,10)    (1,3)    (1,13)      [3,11]
[0,10)    [1,3)    [1,13)      [3,11)
(0,10]    [1,3)    (1,13)      [3,11]
[0,2]     [1,3]    [1,5]       [3,3]
(0,2)     (1,3)    (1,5)       [3,3]
[0,2)     (1,3]    (1,5)       [3,3]
(0,2)     [1,3]    (1,5)       empty
[0,1]     [1,3]    [1,4]       empty
[5,5]     [2,2]    [7,7]       [7,7]
[0,10]    [0,inf)  [0,inf)     empty
(-inf,5]  [3,inf)  (-inf,inf)  (-inf,8]
[2,inf)   (1,3]    (3,inf)     [5,inf)
"""


@pytest.mark.parametrize("row", TABLE.split("\n")[1:-1])
def test_table(row: str) -> None:
    x, r, sometime, always = row.split()
    assert apply("+", x, r) == [sometime]
    assert apply("(+)", x, r) == ([] if always == "empty" else [always])


@pytest.mark.parametrize(
    ("x", "y", "both", "either"),
    [
        ("[0,2]", "[2,4]", ["[2,2]"], ["[0,4]"]),
        ("[0,2)", "[2,4]", [], ["[0,4]"]),
        ("[0,2)", "(2,4]", [], ["[0,2)", "(2,4]"]),
        ("[0,3)", "[0,3]", ["[0,3)"], ["[0,3]"]),
        ("(0,3]", "[0,2]", ["(0,2]"], ["[0,3]"]),
    ],
)
def test_conjunction_and_coalescing_need_no_rule_of_their_own(
    x: str, y: str, both: list[str], either: list[str]
) -> None:
    a, b = (Intervals(*to_cells([read(text)], Fraction(1), SHIFT)) for text in (x, y))
    for result, expected in ((intersect(a, b), both), (union(a, b), either)):
        assert [write(i) for i in from_cells(result.starts, result.ends, Fraction(1), SHIFT)] == expected


# ---- the definitions, over portion's exact intervals


def as_portion(interval: DenseInterval) -> portion.Interval:
    left, left_closed, right, right_closed = interval
    return portion.Interval.from_atomic(
        portion.CLOSED if left_closed else portion.OPEN,
        -portion.inf if left is None else left,
        portion.inf if right is None else right,
        portion.CLOSED if right_closed else portion.OPEN,
    )


def reach(t: Fraction, r: DenseInterval) -> portion.Interval:
    """The times s with t - s in r."""
    low, low_closed, high, high_closed = r
    assert low is not None
    return as_portion((None if high is None else t - high, high_closed and high is not None, t - low, low_closed))


@st.composite
def dense_intervals(draw: st.DrawFn, lowest: int, unbounded: bool) -> DenseInterval:
    grid = Fraction(1, 6)
    left = draw(st.integers(lowest, 24))
    right = draw(st.integers(left, 30))
    left_closed, right_closed = (True, True) if left == right else (draw(st.booleans()), draw(st.booleans()))
    first: Fraction | None = left * grid
    last: Fraction | None = right * grid
    if unbounded and draw(st.integers(0, 5)) == 0:
        first, left_closed = None, False
    if draw(st.integers(0, 5)) == 0:
        last, right_closed = None, False
    return first, left_closed, last, right_closed


@given(st.lists(dense_intervals(-12, True), max_size=4), dense_intervals(0, False))
def test_the_definitions_at_every_instant_and_in_every_gap(facts: list[DenseInterval], r: DenseInterval) -> None:
    numbers = [n for left, _, right, _ in [*facts, r] for n in (left, right) if n is not None]
    grid = common_grid(numbers)
    origin = -3 - (-3 % grid)
    starts, ends = to_cells(facts, grid, SHIFT, origin)
    rows = sorted(zip(starts.tolist(), ends.tolist(), strict=True))
    a = coalesce(array(s for s, _ in rows), array(e for _, e in rows))
    held = portion.Interval(*(as_portion(fact) for fact in facts))
    assert portion.Interval(*map(as_portion, from_cells(a.starts, a.ends, grid, SHIFT, origin))) == held
    operator = operator_cells(*_bounded(r), grid)
    answers = [
        portion.Interval(*map(as_portion, from_cells(result.starts, result.ends, grid, SHIFT, origin)))
        for result in (dilate_cells(a, operator, SHIFT), erode_cells(a, operator, SHIFT))
    ]
    # truth is constant inside a gap, so an instant and a third of the way to the next tell all
    first = Fraction(origin) + grid
    for step in range(int(Fraction(15) / grid) if grid >= Fraction(1, 2) else 90):
        for t in (first + step * grid, first + step * grid + grid / 3):
            seen = reach(t, r)
            assert (t in answers[0]) == (not (held & seen).empty)
            assert (t in answers[1]) == (seen in held)


@given(st.lists(st.fractions(max_denominator=12).filter(bool), min_size=1, max_size=5))
def test_common_grid_divides_every_time_and_is_the_largest(times: list[Fraction]) -> None:
    grid = common_grid(times)
    steps = [time / grid for time in times]
    assert all(step.denominator == 1 for step in steps)
    assert common_grid(steps) == 1


def test_grid_of_nothing() -> None:
    assert common_grid([]) == common_grid([0]) == 1


def test_refusals() -> None:
    one = Fraction(1)
    with pytest.raises(ArrayError, match="intervals: 1/2 is not a multiple of the grid 1 at index 1"):
        to_cells([read("[0,1]"), read("[1/2,1]")], one, SHIFT)
    with pytest.raises(ArrayError, match="intervals: the interval is empty at index 0"):
        to_cells([read("(1,1]")], one, SHIFT)
    with pytest.raises(RangeError, match="-1 is not above the origin -1"):
        to_cells([read("[-1,1]")], one, SHIFT)
    with pytest.raises(RangeError, match="-2 is below the origin -1"):
        to_cells([read("(-inf,-2]")], one, SHIFT)
    with pytest.raises(RangeError, match="5000 does not fit 12 bits"):
        to_cells([read("[0,5000]")], one, SHIFT)
    with pytest.raises(ArrayError, match="low: -1 is negative"):
        operator_cells(-1, True, 2, True, one)
    with pytest.raises(ArrayError, match="high: no time lies between 1 and 1"):
        operator_cells(1, True, 1, False, one)
    with pytest.raises(ArrayError, match="high: no time lies between 2 and 1"):
        operator_cells(2, True, 1, True, one)
    with pytest.raises(ArrayError, match=r"cells\.starts: start is not before end at index 0"):
        from_cells(array([3]), array([3]), one, SHIFT)
