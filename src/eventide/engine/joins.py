"""Natural joins of rows, points and temporal relations: which pairs match, and when."""

from __future__ import annotations

import numpy as np

from eventide.algebra.nodes import UNUSED, Fields, joined
from eventide.engine.budget import allow
from eventide.engine.relation import Relation, Rows, Space, distinct, move, pack_rows, unpack
from eventide.kernels.arrays import Array, Intervals, Mask
from eventide.kernels.intervals import difference, difference_at, expand, intersect, intersect_at
from eventide.kernels.joins import contains, join
from eventide.kernels.sorting import is_sorted, sort_with_order
from eventide.kernels.stab import stab, stab_any

_DENSE = 1 << 22
_MANY = 1 << 14


def split(left: Fields, right: Fields) -> tuple[Fields, Fields]:
    """The fields of the right that the left has too, and those that are new."""
    known = {field.name for field in left}
    read = [field for field in right if field.type != UNUSED]
    return tuple(f for f in read if f.name in known), tuple(f for f in read if f.name not in known)


def _index_of(keys: Array, size: int) -> Array:
    """For every key below `size`, the position of its only row, or -1."""
    index = np.full(size, -1, np.int64)
    index[keys] = np.arange(keys.shape[0])
    return index


def _keys(space: Space, rows: Rows, common: Fields) -> Array:
    """The codes of the common columns as one small number per row."""
    if len(common) == 1:
        return rows.column(common[0].name)
    return pack_rows(space, rows, common) >> space.timeline.shift


def _matches(space: Space, left: Rows, right: Rows, common: Fields, *, timed: bool) -> tuple[Array | None, Array]:
    """Positions of all pairs of rows that agree on the common columns (and on time); None for every left row once."""
    if not common and not timed:
        allow(left.length * right.length)
        return np.repeat(np.arange(left.length), right.length), np.tile(np.arange(right.length), left.length)
    if not timed and 1 << space.key_bits(common) <= _DENSE:
        keys = _keys(space, right, common)
        index = _index_of(keys, 1 << space.key_bits(common))
        if np.array_equal(index[keys], np.arange(keys.shape[0])):  # every key once: a lookup
            found = index.take(_keys(space, left, common), mode="clip")
            hit = found >= 0
            return (None, found) if hit.all() else (np.flatnonzero(hit), found[hit])
    return join(pack_rows(space, left, common, timed=timed), pack_rows(space, right, common, timed=timed), allow)


def join_rows(space: Space, left: Rows, right: Rows) -> Rows:
    """Rows with rows, points with rows, or points with points of the same time."""
    common, new = split(left.fields, right.fields)
    if right.timed and not left.timed:
        swapped = join_rows(space, right, left)
        return swapped.keep(joined(left.fields, right.fields))
    timed = left.timed and right.timed
    if not new:
        return left.where(rows_with_match(space, left, right))
    if not common and not timed and right.length == 1:
        columns = [(f, np.broadcast_to(right.column(f.name), (left.length,))) for f in new]
        return left.extend(columns)
    at, matched = _matches(space, left, right, common, timed=timed)
    kept = left if at is None else left.take(at)
    return kept.extend([(f, right.column(f.name).take(matched, mode="clip")) for f in new])


def rows_with_match(space: Space, left: Rows, right: Rows) -> Mask:
    """Which rows of the left agree with some row of the right on the common columns (and on time)."""
    common, _ = split(left.fields, right.fields)
    timed = left.timed and right.timed
    if right.length == 0:
        return np.zeros(left.length, np.bool_)
    if not common and not timed:
        return np.ones(left.length, np.bool_)
    if not timed and 1 << space.key_bits(common) <= _DENSE:
        present = np.zeros(1 << space.key_bits(common), np.bool_)
        present[_keys(space, right, common)] = True
        if present.all():
            return np.ones(left.length, np.bool_)
        return present.take(_keys(space, left, common), mode="clip")
    return contains(pack_rows(space, left, common, timed=timed), pack_rows(space, right, common, timed=timed))


def during(space: Space, points: Rows, relation: Relation) -> Rows:
    """Points inside the intervals of matching rows; new columns of the relation are bound."""
    bound, free = split(points.fields, relation.fields)
    if not free:
        return points.where(inside(space, points, relation))
    fields = bound + free
    keys = relation.project(fields).keys()
    at, matched = join(
        pack_rows(space, points, bound) if bound else np.zeros(points.length, np.int64),
        move(space, fields, bound, keys), allow)
    candidates = keys[matched] | points.time[at]
    hit = stab_unsorted(candidates, relation.project(fields).intervals)
    at, matched = at[hit], matched[hit]
    columns = unpack(space, fields, keys[matched])
    return points.take(at).extend([(f, columns[f.name]) for f in free])


def inside(space: Space, points: Rows, relation: Relation) -> Mask:
    """Which points lie in an interval of a row that agrees on the common columns."""
    bound, free = split(points.fields, relation.fields)
    if free:
        relation = relation.project(bound)
    packed = pack_rows(space, points, relation.fields, timed=True)
    if is_sorted(packed):
        return stab(packed, relation.intervals, trusted=True)
    cells = space.key_bits(relation.fields) + space.timeline.shift
    if 1 << cells <= min(_DENSE, 16 * packed.shape[0]):
        return covered(relation.intervals, 1 << cells)[packed]
    return stab_unsorted(packed, relation.intervals)


def stab_unsorted(points: Array, intervals: Intervals) -> Mask:
    """Which points, in any order, lie in an interval: many are sorted first, few are looked up one by one."""
    if points.shape[0] < _MANY or len(intervals) < _MANY:
        return stab_any(points, intervals)
    ordered, at = sort_with_order(points)
    mask = np.empty(points.shape[0], np.bool_)
    mask[at] = stab(ordered, intervals, trusted=True)
    return mask


def covered(intervals: Intervals, cells: int) -> Mask:
    """For every cell of a short timeline, whether an interval covers it: a table to look up points in any order."""
    steps = np.zeros(cells + 1, np.int8)
    steps[intervals.starts] = 1
    steps[intervals.ends] -= 1
    return np.cumsum(steps[:-1], dtype=np.int8).view(np.bool_)


def _bases(space: Space, outer: Relation, inner: Fields) -> Array:
    """For every interval of `outer`, the key of its row in the space of the `inner` fields (time 0)."""
    starts = outer.intervals.starts & ~np.int64(space.timeline.mask)
    return move(space, outer.fields, inner, starts)


def intersect_relations(left: Relation, right: Relation) -> Relation:
    """The natural join of two temporal relations: common columns agree, intervals intersect."""
    space = left.space
    common, new = split(left.fields, right.fields)
    if not new:
        if len(common) == len(left.fields):
            other = right.project(left.fields)
            return Relation(space, left.fields, intersect(left.intervals, other.intervals, trusted=True))
        _, starts, ends = intersect_at(left.intervals, _bases(space, left, right.fields), right.intervals,
                                           space.timeline.shift, trusted=True)
        return Relation(space, left.fields, Intervals(starts, ends))
    if len(common) == len(left.fields):
        fields = joined(left.fields, right.fields)
        return intersect_relations(right, left).project(fields)
    wide = widen(left, Rows(right.fields, unpack(space, right.fields, right.keys()), right.keys().shape[0],
                            timed=False))
    return intersect_relations(wide, right)


def widen(relation: Relation, rows: Rows) -> Relation:
    """Join with rows: every row of the relation gets the new columns of all matching rows, with the same intervals."""
    space = relation.space
    _, new = split(relation.fields, rows.fields)
    if not new:
        return relation.where(rows_with_match(space, relation.rows(), rows))
    keys = relation.keys()
    key_rows = Rows(relation.fields, unpack(space, relation.fields, keys), keys.shape[0], timed=False)
    pairs = join_rows(space, key_rows, rows)
    fields = joined(relation.fields, rows.fields)
    return expand_to(relation, pairs, fields)


def expand_to(relation: Relation, rows: Rows, fields: Fields) -> Relation:
    """The relation's intervals copied to every row of `rows`, whose columns are `fields` and include the relation's."""
    space = relation.space
    targets = distinct(pack_rows(space, rows, fields))
    sources = move(space, fields, relation.fields, targets)
    return Relation(space, fields, expand(targets, sources, relation.intervals, space.timeline.shift, trusted=True,
                                          allow=allow))


def difference_relations(left: Relation, right: Relation) -> Relation:
    """The intervals of the left outside those of matching rows of the right."""
    space = left.space
    common, new = split(left.fields, right.fields)
    if new:
        right = right.project(common)
    if len(common) == len(left.fields):
        other = right.project(left.fields)
        return Relation(space, left.fields, difference(left.intervals, other.intervals, trusted=True))
    result = difference_at(left.intervals, _bases(space, left, right.fields), right.intervals,
                           space.timeline.shift, trusted=True)
    return Relation(space, left.fields, result)


def relation_of_rows(space: Space, rows: Rows, fields: Fields, start: int) -> Relation:
    """For every row, the interval from `start` (an offset on the timeline) without end."""
    keys = distinct(pack_rows(space, rows, fields))
    return Relation(space, fields, Intervals(keys | np.int64(start), keys | np.int64(space.timeline.mask)))
