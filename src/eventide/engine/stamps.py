"""Operators on stamped rows: what was so at a time-point, and when it is known; windows over them. One per node.

Laser (Bazoobandi, Beck and Urbani, ISWC 2017) annotates formulas with the intervals in which they hold, to avoid asking
again; here such intervals are the data, for all time-points at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eventide.algebra import nodes as n
from eventide.algebra.nodes import TIME
from eventide.engine.expressions import numbers
from eventide.engine.joins import split
from eventide.engine.operators import Result, operator
from eventide.engine.relation import (
    Relation,
    Rows,
    append_field,
    distinct,
    from_unsorted,
    move,
    pack_rows,
    pack_with,
    unpack,
)
from eventide.kernels.arrays import Array, Intervals, Mask
from eventide.kernels.coverage import covered, covered_from, seen_at
from eventide.kernels.metric import erode
from eventide.kernels.ranks import closed_at, left_at, opened_at
from eventide.kernels.sorting import order, sort_points
from eventide.kernels.stab import from_points

if TYPE_CHECKING:
    from eventide.engine.executor import Executor


@operator(n.Spread)
def _spread(run: Executor, node: n.Spread) -> Result:
    rows, space = run.rows_of(node.child), run.space
    mask, shift = space.timeline.mask, space.timeline.shift
    kept = tuple(field for field in node.fields if field.name != node.stamp)
    if node.until is not None:
        return _until(run, rows, node, kept, rows.column(node.until))
    points = distinct(pack_rows(space, rows, kept, timed=True))
    if node.stamp is None:
        size = mask if node.size is None else min(node.size, mask - 1)
        return Relation(space, node.fields, from_points(points, size, size + 1, shift, trusted=True))
    starts = append_field(space, node.fields, points, points & mask)
    time = starts & mask
    ends = starts | mask if node.size is None else starts - time + np.minimum(time + node.size + 1, mask)
    return from_unsorted(space, node.fields, starts, ends, injective=True)


def _until(run: Executor, rows: Rows, node: n.Spread, kept: n.Fields, until: Array) -> Relation:
    """The points that count for some time, each until a time of its own."""
    seen = until > rows.time
    if not seen.all():
        rows, until = rows.where(seen), until[seen]
    if node.stamp is not None:
        rows = rows.extend([(node.fields[-1], rows.time)])
    starts, ends = (pack_with(run.space, rows, node.fields, time) for time in (rows.time, until))
    return from_unsorted(run.space, node.fields, starts, ends)


@operator(n.Steady)
def _steady(run: Executor, node: n.Steady) -> Result:
    rows, space = run.rows_of(node.child), run.space
    points = distinct(pack_rows(space, rows, node.fields, timed=True))
    runs = from_points(points, 1, 1, space.timeline.shift, trusted=True)
    # what holds since the first time-point of the run is taken to have held before
    return Relation(space, node.fields, erode(runs, 0, node.size, space.timeline.shift, pinned=True, trusted=True))


@operator(n.Instants)
def _instants(run: Executor, node: n.Instants) -> Result:
    child, timeline = run.relation_of(node.child), run.space.timeline
    begin = child.intervals.starts & timeline.mask
    end = np.minimum(child.intervals.ends & timeline.mask, timeline.inside(timeline.until) + 1)
    lengths = np.maximum(end - begin, 0)
    first = np.cumsum(lengths) - lengths
    points = np.repeat(child.intervals.starts - first, lengths) + np.arange(int(lengths.sum()))
    columns = unpack(run.space, child.fields, points)
    columns[TIME] = points & timeline.mask
    return Rows(child.fields, columns, int(points.shape[0]), timed=True)


@operator(n.Aged)
def _aged(run: Executor, node: n.Aged) -> Result:
    child, mask = run.relation_of(node.child), run.space.timeline.mask
    last = np.minimum(child.codes(node.stamp) + node.size + 1, mask)
    return _cut(child, last)


@operator(n.Stamped)
def _stamped(run: Executor, node: n.Stamped) -> Result:
    child, space = run.relation_of(node.child), run.space
    timeline, rows = space.timeline, child.rows()
    values = np.broadcast_to(np.asarray(numbers(node.expression, rows, space)), (rows.length,))
    high = timeline.inside(timeline.until)
    with np.errstate(invalid="ignore"):
        stamps = values - timeline.origin
        known = (stamps >= 0) & (stamps <= high) & (stamps == np.floor(stamps))
    stamps = np.where(known, stamps, 0).astype(np.int64)
    starts = np.maximum(child.intervals.starts & timeline.mask, stamps)
    ends = child.intervals.ends & timeline.mask
    keep = known & (starts < ends)
    rows = rows.extend([(node.fields[-1], stamps)])
    if not keep.all():
        rows, starts, ends = rows.where(keep), starts[keep], ends[keep]
    return from_unsorted(space, node.fields, *(pack_with(space, rows, node.fields, time) for time in (starts, ends)),
                         injective=True)


@operator(n.Departures)
def _departures(run: Executor, node: n.Departures) -> Result:
    facts, space = run.rows_of(node.child), run.space
    shift = space.timeline.shift
    ranks = facts.column(node.rank)
    if node.by is None:
        return facts.extend([(node.field, left_at(ranks, run.rows_of(node.arrivals).time, node.size, shift))])
    by = tuple(field for field in node.child.fields if field.name in node.by)
    points = pack_rows(space, facts, by, timed=True)
    permutation = np.argsort(ranks, kind="stable")
    permutation = permutation[order(points[permutation])]
    leaving = np.empty(facts.length, np.int64)
    leaving[permutation] = left_at(np.arange(facts.length), points[permutation], node.size, shift, trusted=True)
    return facts.extend([(node.field, leaving)])


@operator(n.Recent)
def _recent(run: Executor, node: n.Recent) -> Result:
    child, space = run.relation_of(node.child), run.space
    arrivals, groups = _arrivals(run, node.arrivals, child)
    stamps = groups | child.codes(node.stamp)
    return _cut(child, closed_at(stamps, arrivals, node.size, space.timeline.shift, trusted=True))


@operator(n.Covered)
def _covered(run: Executor, node: n.Covered) -> Result:
    child, space = run.relation_of(node.child), run.space
    shift = space.timeline.shift
    begins, stops = (sort_points(move(space, child.fields, node.fields, p))
                     for p in (child.intervals.starts, child.intervals.ends))
    if node.arrivals is None:
        return Relation(space, node.fields, covered(begins, stops, node.size, shift, trusted=True))
    assert node.size is not None
    points, _ = seen_at(begins, stops, trusted=True)
    arrivals, groups = _arrivals(run, node.arrivals, Relation(space, node.fields, Intervals(points, points)))
    low = opened_at(groups | (points & space.timeline.mask), arrivals, node.size, shift, trusted=True)
    return Relation(space, node.fields, covered_from(begins, stops, low, shift, trusted=True))


def _arrivals(run: Executor, node: n.Node, child: Relation) -> tuple[Array, Array]:
    """The sorted points at which facts came, and for every interval of the child its group among them, at time 0."""
    facts, space = run.rows_of(node), run.space
    common, _ = split(child.fields, facts.fields)
    arrivals = sort_points(pack_rows(space, facts, common, timed=True))
    return arrivals, move(space, child.fields, common, child.intervals.starts & ~np.int64(space.timeline.mask))


def _cut(relation: Relation, until: Array) -> Relation:
    """The intervals up to the given times, one for each."""
    mask = np.int64(relation.space.timeline.mask)
    starts = relation.intervals.starts
    ends = np.minimum(relation.intervals.ends, (starts & ~mask) | until)
    keep: Mask = starts < ends
    return Relation(relation.space, relation.fields, Intervals(starts[keep], ends[keep]))
