"""Sets of time as sorted lists of stretches, for discrete and dense time alike. Small and exact; not for data.

A cut lies just before (`0`) or just after (`1`) a time, so that open and closed ends need no cases of their own: the
stretch from one cut to another.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

Time = int | Fraction | float
"""A time; the floats are the two infinite ones."""
Cut = tuple[Time, int]
Stretch = tuple[Cut, Cut]
FOREVER = float("inf")


def united(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Maximal stretches, in order.

    >>> united([((7, 0), (9, 0)), ((4, 0), (7, 0)), ((1, 0), (2, 0))])
    [((1, 0), (2, 0)), ((4, 0), (9, 0))]
    """
    result: list[Stretch] = []
    for start, end in sorted(stretch for stretch in stretches if stretch[0] < stretch[1]):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((start, end))
    return result


def without(left: Iterable[Stretch], right: Iterable[Stretch]) -> list[Stretch]:
    """What of the left is not in the right.

    >>> without([((1, 0), (9, 0))], [((3, 0), (4, 0))])
    [((1, 0), (3, 0)), ((4, 0), (9, 0))]
    """
    taken = united(right)
    result: list[Stretch] = []
    for start, end in united(left):
        for low, high in taken:
            if high <= start or end <= low:
                continue
            if start < low:
                result.append((start, low))
            start = high
        if start < end:
            result.append((start, end))
    return result


def common(left: Iterable[Stretch], right: Iterable[Stretch]) -> list[Stretch]:
    """What is in both.

    >>> common([((1, 0), (9, 0))], [((3, 0), (4, 0))])
    [((3, 0), (4, 0))]
    """
    whole = list(left)
    return without(whole, without(whole, right))


def text_of(stretches: Iterable[Stretch]) -> str:
    """The stretches as people write them.

    >>> text_of([((4, 0), (11, 0)), ((Fraction(7, 2), 1), (FOREVER, 0))]), text_of([])
    ('[4, 11), (7/2, inf)', 'never')
    """
    return ", ".join(f"{'(' if low or start == -FOREVER else '['}{start}, {end}{']' if high else ')'}"
                     for (start, low), (end, high) in stretches) or "never"
