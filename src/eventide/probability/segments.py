"""The temporal relation with formulas: stretches of time of a row, each with the literal that says whether it holds.

The operations are those of `engine.joins`, on the same flat timeline. A stretch has two literals: `literal` for each of
its time-points, and `entry` for its first one, in terms of the time-point before: what holds there, begins and ends.
They are the same except for simple fluents, whose next value follows from the last; without `entry`, a fluent that goes
on with another probability would look as if it started anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eventide.algebra.nodes import NUMBER, TIME, Field, Fields, joined
from eventide.engine.joins import join_rows, rows_with_match, split
from eventide.engine.relation import Relation, Rows, Space, append_field, move, pack_rows, pack_with, unpack
from eventide.kernels.arrays import Array, Intervals, Mask
from eventide.kernels.joins import join
from eventide.kernels.sorting import is_sorted, order, sort_points, unique
from eventide.kernels.stab import locate
from eventide.probability.formulas import FALSE, TRUE, Formulas, certain
from eventide.probability.ragged import spans

LITERAL = "~"
"""The hidden column of rows with formulas; like the time it is no field, so that every operation carries it on."""


def literals(rows: Rows) -> Array:
    """The literals of rows."""
    return rows.column(LITERAL)


def with_literals(rows: Rows, found: Array) -> Rows:
    """The rows with other literals, without those that are false for sure."""
    result = Rows(rows.fields, {LITERAL: found}, rows.length, timed=rows.timed, parent=rows)
    return result.where(found != FALSE)


def any_by_key(formulas: Formulas, keys: Array, found: Array) -> tuple[Array, Array]:
    """The distinct keys, ascending, and for each the disjunction of its literals."""
    if not is_sorted(keys):
        permutation = order(keys)
        keys, found = keys[permutation], found[permutation]
    first = np.ones(keys.shape[0], np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    if first.all():
        return keys, found
    offsets = np.append(np.flatnonzero(first), keys.shape[0])
    return keys[first], formulas.any_of(offsets, found)


class Segments(Relation):
    """Stretches that do not overlap, by key and time, on the flat timeline; neighbours may touch."""

    __slots__ = ("entry", "formulas", "literal")

    def __init__(self, space: Space, fields: Fields, formulas: Formulas, starts: Array, ends: Array, literal: Array,
                 entry: Array | None = None) -> None:
        super().__init__(space, fields, Intervals(starts, ends))
        self.formulas = formulas
        self.literal = literal
        self.entry = literal if entry is None else entry

    @property
    def starts(self) -> Array:
        """Where each stretch begins, with its key."""
        return self.intervals.starts

    @property
    def ends(self) -> Array:
        """Where each stretch ends, with its key."""
        return self.intervals.ends

    def like(self, starts: Array, ends: Array, literal: Array, entry: Array | None) -> Segments:
        """Stretches with the same columns; without those that hold nowhere for sure."""
        possible = literal != FALSE
        if not possible.all():
            starts, ends, literal = starts[possible], ends[possible], literal[possible]
            entry = None if entry is None else entry[possible]
        return Segments(self.space, self.fields, self.formulas, starts, ends, literal, entry)

    @property
    def own_entry(self) -> Array | None:
        """The entries, or None where they are the literals."""
        return None if self.entry is self.literal else self.entry

    def rename(self, fields: Fields) -> Segments:
        """The same under other names, position by position."""
        if fields == self.fields:
            return self
        return Segments(self.space, fields, self.formulas, self.starts, self.ends, self.literal, self.own_entry)

    def where(self, mask: Mask) -> Segments:
        """The stretches where the mask is set."""
        return self if mask.all() else self.take(np.flatnonzero(mask))

    def take(self, index: Array) -> Segments:
        """The stretches at these positions, which ascend."""
        entry = None if self.own_entry is None else self.entry[index]
        return Segments(self.space, self.fields, self.formulas, self.starts[index], self.ends[index],
                        self.literal[index], entry)

    def project(self, fields: Fields) -> Segments:
        """Some columns, in any order; where rows that become equal overlap, either of them may hold."""
        if fields == self.fields:
            return self
        starts, ends = (move(self.space, self.fields, fields, p) for p in (self.starts, self.ends))
        return disjoint(self.space, fields, self.formulas, starts, ends, self.literal, self.own_entry)

    def at(self, points: Array) -> Array:
        """Which stretch each point lies in; -1 if in none."""
        return locate(points, self.intervals, trusted=True)


def nothing(space: Space, fields: Fields, formulas: Formulas) -> Segments:
    """No stretch at all."""
    none = np.empty(0, np.int64)
    return Segments(space, fields, formulas, none, none, none)


def disjoint(space: Space, fields: Fields, formulas: Formulas, starts: Array, ends: Array, literal: Array,
             entry: Array | None = None) -> Segments:
    """Stretches in any order; where some of one row overlap, any of them may hold."""
    if not is_sorted(starts):
        permutation = order(starts)
        starts, ends, literal = starts[permutation], ends[permutation], literal[permutation]
        entry = None if entry is None else entry[permutation]
    if not (ends[:-1] > starts[1:]).any():
        return Segments(space, fields, formulas, starts, ends, literal, entry)
    bounds = unique(sort_points(np.concatenate((starts, ends))), trusted=True)
    low, high = np.searchsorted(bounds, starts), np.searchsorted(bounds, ends)
    owner = np.repeat(np.arange(starts.shape[0]), high - low)
    cell = spans(low, high - low)
    cells, found = any_by_key(formulas, cell, literal[owner])
    entered = None
    if entry is not None:
        entered = any_by_key(formulas, cell, np.where(cell == low[owner], entry[owner], literal[owner]))[1]
    return Segments(space, fields, formulas, bounds[cells], bounds[cells + 1], found, entered)


def from_rows(space: Space, formulas: Formulas, rows: Rows) -> Segments:
    """Points to stretches: each lasts until the next one of its row, at most a tick (as `engine.relation.runs_of`)."""
    timeline = space.timeline
    tick, mask = timeline.tick, np.int64(timeline.mask)
    points, found = any_by_key(formulas, pack_rows(space, rows, rows.fields, timed=True), literals(rows))
    time = points & mask
    ends = points - time + time // tick * tick + tick
    following = np.append(points[1:], np.int64(-1))
    ends = np.where((following > points) & (following - points <= tick) & (following | mask == points | mask),
                    following, ends)
    ends = np.where(time == timeline.inside(timeline.until), points | mask, ends)
    return Segments(space, rows.fields, formulas, points, ends, found)


def always(space: Space, formulas: Formulas, relation: Relation) -> Segments:
    """The intervals of a relation, for certain."""
    intervals = relation.intervals
    return Segments(space, relation.fields, formulas, intervals.starts, intervals.ends, certain(len(relation)))


def widened(segments: Segments, rows: Rows) -> Segments:
    """Join with rows that have no time: every stretch for all rows that match."""
    space = segments.space
    _, new = split(segments.fields, rows.fields)
    own = segments.rows()
    if not new:
        return segments.where(rows_with_match(space, own, rows))
    numbered = own.extend([(Field("#", NUMBER), np.arange(len(segments)))])
    pairs = join_rows(space, numbered, rows)
    fields = joined(segments.fields, rows.fields)
    index, mask = pairs.column("#"), space.timeline.mask
    starts = pack_with(space, pairs, fields, segments.starts[index] & mask)
    ends = pack_with(space, pairs, fields, segments.ends[index] & mask)
    entry = None if segments.own_entry is None else segments.entry[index]
    return disjoint(space, fields, segments.formulas, starts, ends, segments.literal[index], entry)


def attached(segments: Segments, fields: Fields, code: int) -> Segments:
    """The stretches with one more column, which has the same value everywhere."""
    starts, ends = (append_field(segments.space, fields, p, code) for p in (segments.starts, segments.ends))
    return disjoint(segments.space, fields, segments.formulas, starts, ends, segments.literal, segments.own_entry)


def copied(segments: Segments, field: Field, column: str) -> Segments:
    """The stretches with a column twice."""
    rows = segments.rows().extend([(field, segments.codes(column))])
    mask = segments.space.timeline.mask
    starts, ends = (pack_with(segments.space, rows, rows.fields, p & mask) for p in (segments.starts, segments.ends))
    return disjoint(segments.space, rows.fields, segments.formulas, starts, ends, segments.literal, segments.own_entry)


class _Cut:
    """The stretches of the left, cut where those of the right (whose columns the left has) begin or end."""

    def __init__(self, left: Segments, right: Segments) -> None:
        space, mask = left.space, np.int64(left.space.timeline.mask)
        self.left, self.right = left, right
        begin, end = left.starts, left.ends
        if left.fields != right.fields:
            base = move(space, left.fields, right.fields, begin & ~mask)
            begin, end = base | begin & mask, base | end & mask
        bounds = unique(sort_points(np.concatenate((right.starts, right.ends))), trusted=True)
        low, high = np.searchsorted(bounds, begin, "right"), np.searchsorted(bounds, end, "left")
        pieces = high - low + 1
        if (pieces == 1).all():
            self.index, self.starts, self.ends, there = np.arange(len(left)), left.starts, left.ends, begin
        else:
            self.index = np.repeat(np.arange(len(left)), pieces)
            last = pieces.cumsum() - 1
            first = last - pieces + 1
            inner = bounds[np.minimum(spans(low, pieces), bounds.shape[0] - 1)]  # where each piece ends
            there, until = np.empty_like(inner), inner.copy()
            there[1:] = inner[:-1]
            there[first], until[last] = begin, end
            keys = left.starts[self.index] & ~mask
            self.starts, self.ends = keys | there & mask, keys | until & mask
        self.found = right.at(there)
        self.there = there

    def left_literals(self) -> tuple[Array, Array | None]:
        """The literals and entries of the pieces on the left."""
        left = self.left
        literal = left.literal[self.index]
        if left.own_entry is None:
            return literal, None
        return literal, np.where(self.starts == left.starts[self.index], left.entry[self.index], literal)

    def right_literals(self, otherwise: int) -> tuple[Array, Array | None]:
        """Those on the right; `otherwise` where nothing of it is."""
        right = self.right
        if not len(right):
            return np.full(self.index.shape[0], otherwise, np.int64), None
        at = np.maximum(self.found, 0)
        literal = np.where(self.found < 0, otherwise, right.literal[at])
        if right.own_entry is None:
            return literal, None
        entered = (self.found >= 0) & (self.there == right.starts[at])
        return literal, np.where(entered, right.entry[at], literal)

    def result(self, sign: int) -> Segments:
        """Left and right (sign 1), or left and not right (sign -1)."""
        formulas = self.left.formulas
        literal, entry = self.left_literals()
        other, other_entry = self.right_literals(FALSE)
        found = formulas.both(literal, sign * other)
        entered = None
        if entry is not None or other_entry is not None:
            entered = formulas.both(literal if entry is None else entry,
                                    sign * (other if other_entry is None else other_entry))
        return self.left.like(self.starts, self.ends, found, entered)


def intersection(left: Segments, right: Segments) -> Segments:
    """The natural join: common columns agree, both hold."""
    space = left.space
    common, new = split(left.fields, right.fields)
    if new and len(common) == len(left.fields):
        return intersection(right, left).project(joined(left.fields, right.fields))
    if new:
        keys = right.keys()
        rows = Rows(right.fields, unpack(space, right.fields, keys), keys.shape[0], timed=False)
        left = widened(left, rows)
    return _Cut(left, right).result(1)


def difference(left: Segments, right: Segments) -> Segments:
    """The left where no matching row of the right holds."""
    common, _ = split(left.fields, right.fields)
    return _Cut(left, right.project(common)).result(-1)


def union(segments: Sequence[Segments], fields: Fields) -> Segments:
    """Any of several holds; all have the same columns."""
    aligned = [each.project(fields) for each in segments]
    entries = any(each.own_entry is not None for each in aligned)
    return disjoint(
        aligned[0].space, fields, aligned[0].formulas, np.concatenate([each.starts for each in aligned]),
        np.concatenate([each.ends for each in aligned]), np.concatenate([each.literal for each in aligned]),
        np.concatenate([each.entry for each in aligned]) if entries else None)


def during(points: Rows, segments: Segments) -> Rows:
    """Points while the stretches of matching rows hold; new columns are bound."""
    space, formulas = segments.space, segments.formulas
    bound, free = split(points.fields, segments.fields)
    there = segments.project(bound + free)
    if not free:
        found = there.at(pack_rows(space, points, bound, timed=True))
        inside = np.flatnonzero(found >= 0)
        kept = points.take(inside)
        return with_literals(kept, formulas.both(literals(kept), there.literal[found[inside]]))
    keys = there.keys()
    at, matched = join(pack_rows(space, points, bound) if bound else np.zeros(points.length, np.int64),
                       move(space, there.fields, bound, keys))
    found = there.at(keys[matched] | points.time[at])
    hit = found >= 0
    at, matched, found = at[hit], matched[hit], found[hit]
    columns = unpack(space, there.fields, keys[matched])
    kept = points.take(at).extend([(field, columns[field.name]) for field in free])
    return with_literals(kept, formulas.both(literals(kept), there.literal[found]))


def outside(points: Rows, segments: Segments) -> Rows:
    """Points while no stretch of a matching row holds."""
    bound, _ = split(points.fields, segments.fields)
    there = segments.project(bound)
    found = there.at(pack_rows(segments.space, points, bound, timed=True))
    if not len(there):
        return points
    negated = np.where(found < 0, TRUE, -there.literal[np.maximum(found, 0)])
    return with_literals(points, segments.formulas.both(literals(points), negated))


def boundaries(segments: Segments, kind: str) -> Rows:
    """The points at which stretches may start or end: it holds now and not before, or the other way round."""
    space, formulas = segments.space, segments.formulas
    timeline, mask = space.timeline, np.int64(space.timeline.mask)
    touches = segments.ends[:-1] == segments.starts[1:]
    inside: Mask
    if kind == "end":
        after = np.full(len(segments), FALSE, np.int64)
        after[:-1][touches] = segments.entry[1:][touches]
        found, points = formulas.both(segments.literal, -after), segments.ends - timeline.tick
        inside = segments.ends & mask != mask
    else:
        before = np.full(len(segments), FALSE, np.int64)
        before[1:][touches] = segments.literal[:-1][touches]
        found, points = formulas.both(segments.entry, -before), segments.starts
        inside = np.ones(len(segments), np.bool_)
        if kind == "start":
            inside, points = segments.starts & mask >= timeline.tick, points - timeline.tick
    time = points & mask
    inside &= (found != FALSE) & (time >= timeline.inside(timeline.start)) & (time <= timeline.inside(timeline.until))
    points, found = points[inside], found[inside]
    columns = unpack(space, segments.fields, points) | {TIME: points & mask, LITERAL: found}
    return Rows(segments.fields, columns, int(points.shape[0]), timed=True)
