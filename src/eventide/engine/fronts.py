"""Fronts: from when on results are computed anew, from one time for all or from a time for each value of a column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eventide.algebra.nodes import Field, names
from eventide.engine.relation import Relation, Rows, Space
from eventide.kernels.arrays import Array, Mask
from eventide.kernels.intervals import clip, union
from eventide.kernels.merging import cut_at

NEVER = np.int64(1 << 62)


@dataclass(frozen=True)
class Front:
    """Times on the timeline: one, or with a column one for each of its codes (`NEVER` for those that stay)."""

    times: int | Array
    column: Field | None = None

    def _of(self, codes: Callable[[str], Array]) -> int | Array:
        if isinstance(self.times, int):
            return self.times
        assert self.column is not None
        return self.times[codes(self.column.name)]

    def since(self, rows: Rows) -> Mask:
        """Which points are computed anew."""
        new: Mask = rows.time >= self._of(rows.column)
        return new

    def over(self, relation: Relation) -> Mask:
        """Which intervals end by the front."""
        over: Mask = (relation.intervals.ends & relation.space.timeline.mask) <= self._of(relation.codes)
        return over

    def crossed_by(self, relation: Relation) -> Mask:
        """Which intervals hold at the front."""
        begun: Mask = (relation.intervals.starts & relation.space.timeline.mask) <= self._of(relation.codes)
        return begun & ~self.over(relation)

    def spliced(self, space: Space, old: Relation | None, new: Relation,
                ) -> tuple[Relation, tuple[Relation, Relation] | None]:
        """Before the front what was known, from there on what was found; an interval across it stays one.

        Also what was known and what was found from the front on.
        """
        if old is None:
            return new, None
        timeline = space.timeline
        if isinstance(self.times, int):
            kept, gone = (clip(old.intervals, *ends, timeline.shift, trusted=True)
                          for ends in ((0, self.times), (self.times, timeline.mask)))
            come = clip(new.intervals, self.times, timeline.mask, timeline.shift, trusted=True)
        else:
            assert self.column is not None
            place, width, times = space.by_key(old.fields, names(old.fields).index(self.column.name), self.times)
            kept, gone, come = (cut_at(a, timeline.shift, place, width, times, before=before, trusted=True)
                                for a, before in ((old.intervals, True), (old.intervals, False),
                                                  (new.intervals, False)))
        return (Relation(space, old.fields, union(kept, come, trusted=True)),
                (Relation(space, old.fields, gone), Relation(space, old.fields, come)))
