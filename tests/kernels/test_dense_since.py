"""`since` on cells against its definition: every pair of cells, with the times strictly between them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eventide.kernels import Intervals, OperatorCells, since_cells

SHIFT, KEYS, LAST = 6, 2, 40
Cells = frozenset[int]


@st.composite
def cells(draw: st.DrawFn) -> list[Cells]:
    """For each key, the cells in which something holds; cell 0 is minus infinity."""
    found = []
    for _ in range(KEYS):
        ends = sorted(draw(st.sets(st.sampled_from([0, *range(2, LAST // 2)]), max_size=6)))
        found.append(frozenset(c for low, high in list(pairwise(ends))[::2] for c in range(low, high)))
    return found


def as_intervals(keys: list[Cells]) -> Intervals:
    starts = [key << SHIFT | c for key, held in enumerate(keys) for c in sorted(held) if c - 1 not in held]
    ends = [key << SHIFT | c + 1 for key, held in enumerate(keys) for c in sorted(held) if c + 1 not in held]
    return Intervals(np.array(starts, np.int64), np.array(ends, np.int64))


@st.composite
def operators(draw: st.DrawFn) -> OperatorCells:
    low = draw(st.integers(0, 4))
    high = draw(st.none() | st.integers(low, 6))
    opens = (False, False) if low == high else (draw(st.booleans()), draw(st.booleans()) and high is not None)
    return OperatorCells(2 * low, None if high is None else 2 * high, *opens)


def cell_of(eighth: int) -> int:
    """The cell of a time that is given in eighths of the grid."""
    return 2 * (eighth // 8) + (eighth % 8 > 0)


def by_definition(a: Cells, b: Cells, operator: OperatorCells) -> Cells:
    """Cells now for which b held a distance of the operator's range ago, and a strictly between.

    Times now are instants and the middles of gaps; ends of what is asked for are then multiples of 1/2, so a fitting
    time then is found among multiples of 1/4, and a time between them among those of 1/8.
    """
    low, high = 4 * operator.low, float("inf") if operator.high is None else 4 * operator.high
    found = set()
    for now in range(8, 4 * LAST, 4):
        for then in range(now, 7, -2):
            if then < now - 1 and cell_of(then + 1) not in a:
                break  # nor for any earlier time
            fits = (low < now - then or (low == now - then and not operator.low_open)) and (
                now - then < high or (now - then == high and not operator.high_open))
            if fits and cell_of(then) in b:
                found.add(cell_of(now))
            if then < now and cell_of(then) not in a:
                break
    return frozenset(found)


@given(st.tuples(cells(), cells()), operators())
def test_by_definition(ab: tuple[list[Cells], list[Cells]], operator: OperatorCells) -> None:
    # without minus infinity: the definition looks at finite times
    a, b = ([frozenset(c for c in held if c > 1) for held in keys] for keys in ab)
    found = since_cells(as_intervals(a), as_intervals(b), operator, SHIFT)
    mask = (1 << SHIFT) - 1
    held: list[set[int]] = [set() for _ in range(KEYS)]
    for start, end in zip(found.starts.tolist(), found.ends.tolist(), strict=True):
        held[start >> SHIFT].update(range(start & mask, LAST if end & mask == mask else end & mask))
    assert [h & set(range(LAST)) for h in held] == [by_definition(x, y, operator) for x, y in zip(a, b, strict=True)]


def test_from_minus_infinity() -> None:
    always = Intervals(np.array([0]), np.array([63]))
    assert since_cells(always, Intervals(np.array([0]), np.array([5])), OperatorCells(2, 4, False, False), SHIFT) == \
        Intervals(np.array([0]), np.array([9]))
    assert since_cells(always, Intervals(np.array([4]), np.array([5])), OperatorCells(2, None, True, False), SHIFT) == \
        Intervals(np.array([7]), np.array([63]))
