"""Facts on dense time as columns of cells: exact rationals over one denominator. Reads no files and knows no rules.

On the grid 1/d the instant k/d is cell 2k and the gap behind it cell 2k+1 (`kernels.dense`), so `[a,b)`, `(a,b]`, … are
all ranges of cells `[start, end)`. A fact from ever on starts at `EVER`, one that never ends, ends at `NEVER`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from eventide.errors import InputError
from eventide.formats.facts import BadRow, Facts, FactTable, Ints, merged
from eventide.formats.problems import input_error
from eventide.kernels.dense import DenseInterval

Mask = npt.NDArray[np.bool_]
EVER, NEVER = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)
MOST = 1 << 60
"""Numerators stay below this: cells are twice as many, and rules add to them."""
COARSER = "use a coarser unit of time, or fewer digits"


@dataclass(frozen=True, slots=True)
class Ends:
    """The two ends of intervals: numerator, denominator (positive, in lowest terms), whether it is open or infinite.

    Where facts become known at another time than they begin, that time stands beside them.
    """

    left: Ints
    left_under: Ints
    left_open: Mask
    left_infinite: Mask
    right: Ints
    right_under: Ints
    right_open: Mask
    right_infinite: Mask
    arrival: Ints | None = None
    arrival_under: Ints | None = None

    @staticmethod
    def of(intervals: Sequence[DenseInterval]) -> Ends:
        """The ends of intervals that are given one by one; their numbers are below `MOST`."""
        return Ends(*_ends([(left, closed) for left, closed, _, _ in intervals]),
                    *_ends([(right, closed) for _, _, right, closed in intervals]))


def _ends(ends: list[tuple[Fraction | None, bool]]) -> tuple[Ints, Ints, Mask, Mask]:
    times = [Fraction(0) if time is None else time for time, _ in ends]
    return (np.array([time.numerator for time in times], np.int64), np.array([t.denominator for t in times], np.int64),
            np.array([not closed for _, closed in ends], np.bool_), np.array([t is None for t, _ in ends], np.bool_))


@dataclass(frozen=True, slots=True)
class DenseFacts:
    """Facts whose times (`time`, `end`, `arrival`) are cells of the grid 1/`denominator`."""

    facts: Facts = field(default_factory=Facts)
    denominator: int = 1

    def __len__(self) -> int:
        return len(self.facts)

    @property
    def bad(self) -> tuple[BadRow, ...]:
        """The first rows that were no facts."""
        return self.facts.bad

    @property
    def bad_count(self) -> int:
        """How many rows were no facts."""
        return self.facts.bad_count

    def on_grid(self, denominator: int) -> DenseFacts:
        """The same facts on a finer grid; its denominator is a multiple of theirs.

        >>> third = FactTable("P", "interval", np.array([3]), end=np.array([NEVER]))  # (1/3, inf)
        >>> DenseFacts(Facts({("P", 0): third}), 3).on_grid(6).facts.tables["P", 0].time
        array([5])
        """
        factor, rest = divmod(denominator, self.denominator)
        assert not rest, f"1/{denominator} is not finer than 1/{self.denominator}"
        if factor == 1:
            return self
        tables = {key: _finer(table, factor) for key, table in self.facts.tables.items()}
        return DenseFacts(replace(self.facts, tables=tables), denominator)


def _finer(table: FactTable, factor: int) -> FactTable:
    assert table.end is not None
    return replace(table, time=_finer_cells(table, table.time, factor), end=_finer_cells(table, table.end, factor),
                   arrival=None if table.arrival is None else _finer_cells(table, table.arrival, factor))


def _finer_cells(table: FactTable, cells: Ints, factor: int) -> Ints:
    """Cells of a grid in steps that are `factor` times smaller; what is infinite stays it."""
    finite = (cells != EVER) & (cells != NEVER)
    steps = np.where(finite, cells >> 1, 0)
    over = np.abs(steps) >= MOST // factor
    if over.any():
        raise _too_long(table, int(np.flatnonzero(over)[0]))
    return np.where(finite, 2 * factor * steps + (cells & 1), cells)


def _too_long(table: FactTable, row: int) -> InputError:
    source, line = table.place(row)
    message = "the time does not fit 60 bits together with the fractions of all other times"
    return input_error("time-overflow", message, source, max(line, 1), hint=COARSER)


def merged_dense(parts: Sequence[DenseFacts]) -> DenseFacts:
    """Several inputs as one, on the coarsest grid that has all their times."""
    denominator = math.lcm(*(part.denominator for part in parts))
    if denominator >= MOST:
        raise InputError(f"the fractions of the times have no common denominator below 2**60; {COARSER}")
    return DenseFacts(merged([part.on_grid(denominator).facts for part in parts], exact=True), denominator)


def dense_facts(tables: Sequence[tuple[FactTable, Ends]], bad: Sequence[BadRow] = (), bad_limit: int | None = None,
                rows_read: int = 0) -> DenseFacts:
    """Tables whose times stand beside them, on the coarsest grid that has them all; none of the intervals is empty."""
    denominator = 1
    for table, ends in tables:
        for under in (ends.left_under, ends.right_under, ends.arrival_under):
            for value in () if under is None else _distinct(under):
                denominator = math.lcm(denominator, value)
                if denominator >= MOST:
                    raise _too_long(table, int(np.flatnonzero(under == value)[0]))
    parts = []
    for table, ends in tables:
        start = _cells(table, ends.left, ends.left_under, denominator) + ends.left_open
        end = _cells(table, ends.right, ends.right_under, denominator) + ~ends.right_open
        arrival = None if ends.arrival is None or ends.arrival_under is None else _cells(
            table, ends.arrival, ends.arrival_under, denominator)
        timed = replace(table, time=np.where(ends.left_infinite, EVER, start), arrival=arrival,
                        end=np.where(ends.right_infinite, NEVER, end))
        parts.append(Facts({(table.name, len(table.args)): timed}))
    facts = replace(merged(parts, exact=True), bad=tuple(bad[:bad_limit]), bad_count=len(bad), rows_read=rows_read)
    return DenseFacts(facts, denominator)


def _distinct(numbers: Ints) -> list[int]:
    """The distinct numbers of a column; most have one only."""
    found: list[int] = numbers[:1].tolist() if (numbers == numbers[:1]).all() else np.unique(numbers).tolist()
    return found


def _cells(table: FactTable, tops: Ints, unders: Ints, denominator: int) -> Ints:
    factors: Ints | int = denominator // unders if len(_distinct(unders)) > 1 else denominator // int(unders[0])
    over = np.abs(tops) >= MOST // factors
    if over.any():
        raise _too_long(table, int(np.flatnonzero(over)[0]))
    return tops * (2 * factors)
