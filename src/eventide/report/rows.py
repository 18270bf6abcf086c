"""The rows of a timeline for paper and terminals: grouped by fluent, and no more than fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eventide.report.payload import rows_of
from eventide.report.situations import Codes, Situations


@dataclass(frozen=True)
class Group:
    """A fluent, the intervals of each row that is shown, and how many rows are not."""

    fluent: int
    name: str
    rows: tuple[Codes, ...]
    left_out: int


def grouped_rows(found: Situations, most: int, *, by_value: bool = False) -> list[Group]:
    """At most so many rows, shared out evenly: fluents with few rows keep them all. With `by_value`, one per value."""
    row = rows_of(found)[0]
    if by_value:
        _, row = np.unique(row * max(1, len(found.value.names)) + found.value.codes, return_inverse=True)
    order = np.lexsort((found.start, row))
    members = np.split(order, np.flatnonzero(np.diff(row[order])) + 1) if len(found) else []
    groups: dict[int, list[Codes]] = {}
    for each in members:
        groups.setdefault(int(found.fluent.codes[each[0]]), []).append(each)
    shares = _shared([len(rows) for rows in groups.values()], most)
    return [Group(fluent, found.fluent.names[fluent], tuple(rows[:share]), len(rows) - share)
            for (fluent, rows), share in zip(groups.items(), shares, strict=True)]


def _shared(sizes: list[int], most: int) -> list[int]:
    """How much each gets of `most`, at least one, nobody more than its size.

    >>> _shared([1, 50, 3], 10)
    [1, 6, 3]
    """
    shares = [0] * len(sizes)
    left = max(most, len(sizes))
    for rest, at in zip(range(len(sizes), 0, -1), sorted(range(len(sizes)), key=lambda at: sizes[at]), strict=True):
        shares[at] = min(sizes[at], max(1, left // rest))
        left -= shares[at]
    return shares


def label_of(found: Situations, interval: int) -> str:
    """The arguments of an interval as a row is labelled."""
    return str(found.args.names[found.args.codes[interval]]).replace("|", ", ")
