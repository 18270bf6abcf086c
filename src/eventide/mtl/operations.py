"""Facts that come and go, and what of two sets of rows differs: operations on rows with intervals, as columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eventide.engine.loading import side_by_side
from eventide.kernels.arrays import Array
from eventide.mtl.cells import NEVER
from eventide.mtl.stepping import Piece, joined


def by_start(piece: Piece, *, then_by_key: bool = False) -> Piece:
    """The rows in order of their start; with `then_by_key`, those that start together are sorted as they are packed."""
    if then_by_key:
        return piece.take(np.lexsort((*reversed(piece.columns), piece.starts)))
    return piece.take(np.argsort(piece.starts, kind="stable"))


def given(piece: Piece, since: int | None, upto: int) -> Piece:
    """What of facts, in order of their start, lies in a step."""
    begun = piece.take(slice(0, int(np.searchsorted(piece.starts, upto)))).until(upto)
    return begun if since is None else begun.since(since)


def opened(piece: Piece, upto: int | None) -> Piece:
    """What still holds at the end of what is known has no end yet."""
    return replace(piece, ends=np.where(piece.ends == upto, NEVER, piece.ends))


def differing(old: Piece | None, new: Piece) -> tuple[Piece, Piece]:
    """The rows that are new, and those that are no more."""
    if old is None:
        return new, new.take(slice(0, 0))
    both = joined([old, new])
    permutation, repeated = side_by_side([*both.columns, both.starts, both.ends], np.arange(len(both)))
    alone = ~repeated
    alone[:-1] &= ~repeated[1:]
    rows = permutation[alone]
    return both.take(np.sort(rows[rows >= len(old)])), both.take(np.sort(rows[rows < len(old)]))


def applied(known: Piece | None, piece: Piece, signs: Array) -> tuple[Piece, Array, int]:
    """Facts after operations, in order of their start: of equal facts the last operation counts.

    Also the starts of facts that came or went, and how many retractions found nothing.
    """
    known = piece.take(slice(0, 0)) if known is None else known
    both = joined([known, piece])
    sign = np.r_[np.ones(len(known), np.int64), signs]
    permutation, repeated = side_by_side([*both.columns, both.starts, both.ends], np.arange(len(both)))
    first, last = permutation[~repeated], permutation[np.r_[~repeated[1:], True]] if len(both) else permutation
    before, after = first < len(known), sign[last] > 0
    stay = last[after]
    return by_start(both.take(stay)), both.starts[last[before != after]], int((sign[first] < 0).sum())
